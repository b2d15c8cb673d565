package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// eachEra runs the test once a way of speaking.
func eachEra(t *testing.T, eras []era, test func(*testing.T, era)) {
	for _, e := range eras {
		t.Run(e.version, func(t *testing.T) { t.Parallel(); test(t, e) })
	}
}

// Field case 1 (Go MCP SDK issue 1061): replies were lost when stdin closed
// while calls were running.
func TestThreeRequestsPipedInGiveThreeRepliesEveryTime(t *testing.T) {
	t.Parallel()
	times := 100
	if testing.Short() {
		times = 10
	}
	eachEra(t, every, func(t *testing.T, e era) {
		db := newDB(t)
		in := e.hello() + e.call("1", "add_task", `{"title":"one"}`) + "\n" +
			e.call("2", "list_tasks", `{}`) + "\n" + e.call("3", "add_task", `{"title":"two"}`) + "\n"
		for n := range times {
			list, status := pipe(t, command(t, db), in)
			got := map[string]bool{}
			for _, m := range list {
				if m.reply() && string(m.ID) != `"hello"` {
					if got[string(m.ID)] {
						t.Errorf("run %d: two replies to %s", n, m.ID)
					}
					got[string(m.ID)] = true
					if !m.envelope(t).OK {
						t.Errorf("run %d: %s", n, m.Result)
					}
				}
			}
			if len(got) != 3 || status != 0 {
				t.Fatalf("run %d of %d: %d replies of 3, exit status %d", n, times, len(got), status)
			}
		}
	})
}

func TestTheLastRequestNeedsNoNewline(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		list, status := pipe(t, command(t, newDB(t)), e.hello()+e.call("1", "list_tasks", `{}`))
		if len(list) == 0 || string(list[len(list)-1].ID) != "1" || status != 0 {
			t.Errorf("%d messages, exit status %d: %+v", len(list), status, list)
		}
	})
}

func TestNothingOnStdinEndsWithStatusZero(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "\n", " \n\r\n"} {
		if list, status := pipe(t, command(t, newDB(t)), in); len(list) != 0 || status != 0 {
			t.Errorf("%q: %+v, exit status %d", in, list, status)
		}
	}
}

// Field case 2: a host that sees no tools capability never lists again.
func TestTheToolsCapabilityIsDeclared(t *testing.T) {
	t.Parallel()
	eachEra(t, every, func(t *testing.T, e era) {
		w := dial(t, command(t, newDB(t)))
		if e.modern() {
			w.send(e.request(`"hello"`, "server/discover", ""))
		} else {
			w.raw(e.hello())
		}
		var res struct {
			ProtocolVersion   string
			SupportedVersions []string
			Capabilities      struct{ Tools *struct{} }
			ServerInfo        struct{ Name, Version string }
		}
		m := w.reply(`"hello"`)
		if err := json.Unmarshal(m.Result, &res); err != nil {
			t.Fatalf("%v: %+v", err, m)
		}
		if res.Capabilities.Tools == nil {
			t.Errorf("no tools capability: %s", m.Result)
		}
		if !e.modern() && (res.ProtocolVersion != e.version || res.ServerInfo.Name == "") {
			t.Errorf("asked for %s: %s", e.version, m.Result)
		}
		if e.modern() && !strings.Contains(strings.Join(res.SupportedVersions, " "), e.version) {
			t.Errorf("asked for %s: %s", e.version, m.Result)
		}
	})
}

func TestAnUnknownVersionIsAnsweredWithTheVersionsThereAre(t *testing.T) {
	t.Parallel()
	w := modern.open(t)
	w.send(era{"2099-01-01"}.call("1", "list_tasks", `{}`))
	m := w.reply("1")
	if m.Error == nil || m.Error.Code != -32022 || !strings.Contains(string(m.Error.Data), modern.version) {
		t.Errorf("%+v %s", m.Error, m.Result)
	}
	modern.alive(w)

	old := dial(t, command(t, newDB(t)))
	old.raw(era{"1999-01-01"}.hello())
	var res struct{ ProtocolVersion string }
	if err := json.Unmarshal(old.reply(`"hello"`).Result, &res); err != nil || res.ProtocolVersion < "2024-11-05" {
		t.Errorf("initialize with an unknown version: %+v, %v", res, err)
	}
}

func TestMethodsOfNoFeatureAreUnknown(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		for i, method := range []string{"no/such", "", "tools", "tools/call/x"} {
			id := fmt.Sprint(i + 1)
			w.send(e.request(id, method, ""))
			if m := w.reply(id); m.Error == nil || m.Error.Code != -32601 && m.Error.Code != -32600 {
				t.Errorf("%q: %+v %s", method, m.Error, m.Result)
			}
		}
		e.alive(w)
	})
}

func TestAnUnknownToolIsAProtocolErrorAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		for i, params := range []string{`"name":"no_such_tool","arguments":{}`, `"name":"","arguments":{}`, `"arguments":{}`, `"name":7`, `"name":null`, `"name":"ADD_TASK","arguments":{"title":"x"}`} {
			id := fmt.Sprint(i + 1)
			w.send(e.request(id, "tools/call", params))
			if m := w.reply(id); m.Error == nil || m.Error.Code != -32602 && m.Error.Code != -32600 {
				t.Errorf("%s: %+v %s", params, m.Error, m.Result)
			}
		}
		e.alive(w)
	})
}

// Field case 4, and arguments that are no object.
func TestArgumentsMayBeAbsentOrNullAndNothingElseThanAnObject(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		db := newDB(t)
		w := e.openOn(t, db)
		for _, params := range []string{`"name":"list_tasks"`, `"name":"list_tasks","arguments":null`, `"name":"list_tasks","arguments":{"filter":null}`,
			`"name":"list_tasks","arguments":{"filter":{"status":null,"tag":null},"limit":null,"cursor":null}`} {
			w.send(e.request("1", "tools/call", params))
			if got := w.reply("1").envelope(t); !got.OK {
				t.Errorf("%s: %+v", params, got)
			}
		}
		for _, args := range []string{`[]`, `"x"`, `7`, `true`, `[{"title":"x"}]`} {
			w.send(e.call("1", "list_tasks", args))
			if got := w.reply("1").envelope(t); got.OK || got.Err.Code != "invalid_input" {
				t.Errorf("arguments %s: %+v", args, got)
			}
		}
		w.end()
		if got := audited(t, db, "list_tasks", "rejected"); len(got) != 5 {
			t.Errorf("%d of 5 refusals are recorded: %+v", len(got), got)
		}
	})
}

// Field case 5.
func TestAMisspeltKeyIsNamedBesideTheKeysThereAreAndRecorded(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		db := newDB(t)
		w := e.openOn(t, db)
		args := `{"filter":{"dueAftr":"2026-01-01"}}`
		got := e.do(w, "list_tasks", args)
		if got.Err.Code != "invalid_input" {
			t.Errorf("%+v", got)
		}
		for _, word := range []string{"dueAftr", "dueAfter", "dueBefore", "status", "tag"} {
			if !strings.Contains(got.Err.Message, word) {
				t.Errorf("the message does not say %s: %s", word, got.Err.Message)
			}
		}
		w.end()
		rows := audited(t, db, "list_tasks", "rejected")
		if len(rows) != 1 || !strings.Contains(rows[0], "dueAftr") {
			t.Errorf("recorded: %v", rows)
		}
	})
}

// audited is the audit entries of one tool and outcome, as lines of JSON.
func audited(t testing.TB, db, tool, outcome string) []string {
	t.Helper()
	out, status := run(t, db, "audit", "list", "--db", db, "--json", "--limit", "0", "--tool", tool, "--outcome", outcome)
	if status != 0 {
		t.Fatalf("audit list: status %d: %s", status, out)
	}
	var lines []string
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			if !json.Valid([]byte(line)) {
				t.Fatalf("audit list --json printed %q", line)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func verified(t testing.TB, db string) {
	t.Helper()
	if out, status := run(t, db, "audit", "verify", "--db", db); status != 0 {
		t.Errorf("audit verify: status %d: %s", status, out)
	}
}

// In the SDK a second listen silenced the first, and closing one closed both.
// This server announces nothing, so each is acknowledged with its own id, for
// nothing, and ends by itself.
func TestTwoListensAtOnceAreBothAcknowledgedAndBothEnd(t *testing.T) {
	t.Parallel()
	w := modern.open(t)
	listen := `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["tasks://board"]}`
	w.send(modern.request(`"a"`, "subscriptions/listen", listen), modern.request("2", "subscriptions/listen", listen))
	acked, ended := map[string]bool{}, map[string]bool{}
	for len(ended) < 2 {
		m, ok := w.next()
		if !ok {
			t.Fatalf("the server ended\nstderr: %s", w.stderr)
		}
		if m.reply() {
			if m.Error != nil || !acked[string(m.ID)] || !strings.Contains(string(m.Result), "subscriptionId") {
				t.Errorf("%s ended with %+v %s, acknowledged: %v", m.ID, m.Error, m.Result, acked)
			}
			ended[string(m.ID)] = true
			continue
		}
		var p struct {
			Meta struct {
				ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil || m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("%s %s: %v", m.Method, m.Params, err)
		}
		acked[string(p.Meta.ID)] = true
	}
	if !ended[`"a"`] || !ended["2"] {
		t.Errorf("ended: %v", ended)
	}
	modern.alive(w)
	if _, status := w.end(); status != 0 {
		t.Errorf("exit status %d\nstderr: %s", status, w.stderr)
	}
}

func TestSixteenCallsInOneWriteAreAllAnswered(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		var lines []string
		for i := range 64 {
			lines = append(lines, e.call(fmt.Sprint(i), "add_task", fmt.Sprintf(`{"title":"task %d"}`, i)))
		}
		w.send(lines...)
		got := map[string]bool{}
		for range lines {
			got[string(w.reply("*").ID)] = true
		}
		if len(got) != len(lines) {
			t.Errorf("%d of %d ids answered", len(got), len(lines))
		}
		if n := e.count(w); n != len(lines) {
			t.Errorf("%d tasks", n)
		}
	})
}
