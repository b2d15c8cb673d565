package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// Ids passed through float64 in the SDK, so that two requests could get one
// id, and a text id its escapes undone.
func TestEveryIDComesBackAsItWasSent(t *testing.T) {
	t.Parallel()
	ids := []string{"0", "-1", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
		"123456789012345678901234567890", "1.5", "1e30", "0.1e-7", `""`, `"1"`, `"ü 笔 😀"`, `"a b\"c"`, `"` + strings.Repeat("x", 4096) + `"`}
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		for _, id := range ids {
			w.send(e.call(id, "list_tasks", `{}`))
			m := w.reply("*")
			if string(m.ID) != id && !sameText(string(m.ID), id) {
				t.Errorf("id %.60s came back as %.60s", id, m.ID)
			}
			if m.Error == nil {
				m.envelope(t)
			} else if m.Error.Code != -32600 {
				t.Errorf("id %.60s: %+v", id, m.Error)
			}
		}
		e.alive(w)
	})
}

// sameText compares two JSON texts by what they say; numbers must be written
// the same.
func sameText(a, b string) bool {
	return strings.HasPrefix(a, `"`) && strings.HasPrefix(b, `"`) && sameJSON(a, b)
}

func TestIDsThatFloatsWouldMergeStayApart(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		ids := []string{"9007199254740992", "9007199254740993", "1", `"1"`, "2", `"2"`}
		var lines []string
		for i, id := range ids {
			lines = append(lines, e.call(id, "add_task", fmt.Sprintf(`{"title":"for %d"}`, i)))
		}
		w.send(lines...)
		got := map[string]string{}
		for range ids {
			m := w.reply("*")
			got[string(m.ID)] += string(m.Result)
		}
		for i, id := range ids {
			if !strings.Contains(got[id], fmt.Sprintf("for %d", i)) {
				t.Errorf("id %s got %s", id, got[id])
			}
		}
	})
}

func TestAnIDThatIsInFlightCannotBeUsedAgainAndBothAreAnswered(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		w.send(e.call("7", "add_task", `{"title":"first"}`), e.call("7", "add_task", `{"title":"second"}`))
		first, second := w.reply("7"), w.reply("7")
		if first.Error != nil && second.Error != nil {
			t.Errorf("both failed: %+v %+v", first.Error, second.Error)
		}
		e.alive(w)
		made := 0
		for _, m := range []message{first, second} {
			if m.Error == nil {
				made++
			}
		}
		if n := e.count(w); n != made {
			t.Errorf("%d tasks, %d calls that were said to succeed", n, made)
		}
	})
}

func TestAnAnsweredIDMayBeUsedAgain(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		for range 3 {
			w.send(e.call("1", "list_tasks", `{}`))
			if !w.reply("1").envelope(t).OK {
				t.Error("refused")
			}
		}
	})
}

func TestABatchIsAnsweredAsABatchWhereTheVersionHasBatches(t *testing.T) {
	t.Parallel()
	note := `{"jsonrpc":"2.0","method":"notifications/unknown"}`
	eachEra(t, []era{{"2024-11-05"}, {"2025-03-26"}}, func(t *testing.T, e era) {
		rows := []struct {
			name, line string
			ids        []string
		}{
			{"two calls", "[" + e.call("1", "add_task", `{"title":"a"}`) + "," + e.call("2", "list_tasks", `{}`) + "]", []string{"1", "2"}},
			{"a call and a notification", "[" + note + "," + e.call("1", "list_tasks", `{}`) + "]", []string{"1"}},
			{"two notifications", "[" + note + "," + note + "]", nil},
			{"one call", "[" + e.call("1", "list_tasks", `{}`) + "]", []string{"1"}},
			{"none at all", "[]", []string{"null"}},
			{"rubbish beside a call", "[7," + e.call("1", "list_tasks", `{}`) + "]", []string{"null", "1"}},
			{"only rubbish", `[1,"x",null]`, []string{"null", "null", "null"}},
			{"a batch inside", "[[" + e.call("1", "list_tasks", `{}`) + "]]", []string{"null"}},
		}
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				w := e.open(t)
				w.send(row.line)
				want := map[string]int{}
				for _, id := range row.ids {
					want[id]++
				}
				for range row.ids {
					m := w.reply("*")
					if want[string(m.ID)]--; want[string(m.ID)] < 0 {
						t.Errorf("an answer too many, to %s: %+v", m.ID, m)
					}
					if !m.inBatch && row.name != "none at all" {
						t.Errorf("the answer to %s is not in a batch", m.ID)
					}
					if string(m.ID) != "null" && m.Error != nil {
						t.Errorf("%s: %+v", m.ID, m.Error)
					}
				}
				e.alive(w)
				if rest, status := w.end(); len(rest) != 0 || status != 0 {
					t.Errorf("left over: %+v, exit status %d", rest, status)
				}
			})
		}
	})
}

func TestABatchIsAnErrorWhereTheVersionHasNone(t *testing.T) {
	t.Parallel()
	eachEra(t, []era{modern, latest, {"2025-06-18"}}, func(t *testing.T, e era) {
		w := e.open(t)
		w.send("[" + e.call("1", "add_task", `{"title":"a"}`) + "," + e.call("2", "add_task", `{"title":"b"}`) + "]")
		if m := w.reply("*"); m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("id %s: %+v %s", m.ID, m.Error, m.Result)
		}
		if n := e.count(w); n != 0 {
			t.Errorf("%d tasks were made", n)
		}
	})
}
