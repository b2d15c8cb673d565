package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// The session goes on after anything: each row is sent between two good
// requests. want is the id that an error reply must carry, written as on the
// wire. "null" also allows silence, since such bytes have no one to answer, and
// the id 1 where the bytes hold it; "none" asks for silence.
func TestBytesThatAreNotJSONRPCAreAnsweredWhereAnIDIsKnownAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_000)
	rows := []struct{ name, line, want string }{
		{"plain text", "hello there", "null"},
		{"half an object", `{"jsonrpc":"2.0","id":1,`, "null"},
		{"two objects on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, "null"},
		{"rubbish behind an object", `{"jsonrpc":"2.0","id":1,"method":"ping"} and more`, "null"},
		{"a text", `"tools/list"`, "null"},
		{"a number", `42`, "null"},
		{"null", `null`, "null"},
		{"true", `true`, "null"},
		{"an empty object", `{}`, "null"},
		{"NUL bytes", "\x00\x00\x00", "null"},
		{"a byte order mark alone", "\xef\xbb\xbf", "null"},
		{"binary", "\x80\xfe\xff\x01\x02", "null"},
		{"a bracket", "]", "null"},
		{"nested 10,000 deep, never closed", deep, "null"},
		{"nested 10,000 deep", deep + strings.Repeat("]", 10_000), "null"},
		{"no jsonrpc", `{"id":"q","method":"tools/list","params":{}}`, `"q"`},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":"q","method":"tools/list","params":{}}`, `"q"`},
		{"jsonrpc a number", `{"jsonrpc":2.0,"id":"q","method":"tools/list","params":{}}`, `"q"`},
		{"method a number", `{"jsonrpc":"2.0","id":"q","method":7,"params":{}}`, `"q"`},
		{"no method", `{"jsonrpc":"2.0","id":"q","params":{}}`, `"q"`},
		{"params a text", `{"jsonrpc":"2.0","id":"q","method":"tools/call","params":"x"}`, `"q"`},
		{"params an array", `{"jsonrpc":"2.0","id":"q","method":"tools/call","params":[1,2]}`, `"q"`},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"tools/list","params":{}}`, "null"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"tools/list","params":{}}`, "null"},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"tools/list","params":{}}`, "null"},
		{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"tools/list","params":{}}`, "null"},
		{"a reply to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, "none"},
		{"an error for nothing", `{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}`, "none"},
		{"an error without an id", `{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`, "null"},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/unknown"}`, "none"},
		{"a notification of a request's name", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add_task","arguments":{"title":"unasked"}}}`, "none"},
		{"cancelling nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nothing"}}`, "none"},
		{"cancelling rubbish", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, "none"},
		{"cancelling without params", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "none"},
		{"an empty line", "", "none"},
		{"spaces", "   \t ", "none"},
	}
	eachEra(t, both, func(t *testing.T, e era) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				w := e.open(t)
				e.alive(w)
				w.send(row.line, e.call(`"after"`, "list_tasks", `{}`))
				errors := 0
				for {
					m := w.reply("*")
					if string(m.ID) == `"after"` {
						m.envelope(t)
						break
					}
					errors++
					if m.Error == nil || string(m.ID) != row.want && !(row.want == "null" && string(m.ID) == "1") {
						t.Errorf("answered with id %s: %+v %s", m.ID, m.Error, m.Result)
					}
				}
				if row.want == `"q"` && errors != 1 || row.want == "none" && errors != 0 {
					// The reply may come behind that of the good request.
					if row.want == `"q"` && errors == 0 {
						if m := w.reply(row.want); m.Error == nil {
							t.Errorf("accepted: %s", m.Result)
						}
					} else {
						t.Errorf("%d error replies", errors)
					}
				}
				if n := e.count(w); n != 0 {
					t.Errorf("%d tasks were made", n)
				}
				if _, status := w.end(); status != 0 {
					t.Errorf("exit status %d\nstderr: %s", status, w.stderr)
				}
			})
		}
	})
}

func TestADeeplyNestedArgumentIsRefusedAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		for _, depth := range []int{100, 999, 1001, 10_000, 100_000} {
			for _, p := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
				in := strings.Repeat(p[0], depth) + "1" + strings.Repeat(p[1], depth)
				w.send(e.call("1", "list_tasks", `{"filter":`+in+`}`))
				if m := w.reply("*"); string(m.ID) != "1" && string(m.ID) != "null" || m.Error == nil && m.envelope(t).OK {
					t.Errorf("depth %d of %s: %s %+v %s", depth, p[0], m.ID, m.Error, m.Result)
				}
				e.alive(w)
			}
		}
	})
}

// The limit of a line is 4 MiB.
func TestALineAboveTheLimitIsAnErrorAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	const limit = 4 << 20
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		base := len(e.call("1", "add_task", `{"title":""}`))
		w.send(e.call("1", "add_task", `{"title":"`+strings.Repeat("x", limit-base-1024)+`"}`))
		if got := w.reply("1").envelope(t); got.Err.Code != "invalid_input" {
			t.Errorf("a line just below the limit: %+v", got)
		}
		for _, line := range []string{
			e.call("1", "add_task", `{"title":"`+strings.Repeat("x", limit+1)+`"}`),
			e.call("1", "add_task", `{"title":"`+strings.Repeat("x", 16<<20)+`"}`),
			strings.Repeat("x", 9<<20),
			e.call("1", "add_task", `{"title":"fine"}`) + strings.Repeat(" ", limit),
		} {
			w.send(line)
			if m := w.reply("*"); m.Error == nil || string(m.ID) != "1" && string(m.ID) != "null" {
				t.Errorf("a line of %d bytes: id %s, %+v %.200s", len(line), m.ID, m.Error, m.Result)
			}
			e.alive(w)
		}
		if n := e.count(w); n != 0 {
			t.Errorf("%d tasks were made", n)
		}
	})
}

func TestTextThatIsNotValidUnicodeIsRefusedAndNeverAltered(t *testing.T) {
	t.Parallel()
	titles := map[string]string{
		"a stray byte":         "\"a\xffb\"",
		"a cut character":      "\"a\xe2\x82\"",
		"an overlong form":     "\"a\xc0\xafb\"",
		"a raw surrogate":      "\"a\xed\xa0\x80b\"",
		"half a pair, escaped": `"a\ud800b"`,
		"the wrong way round":  `"\udc00\ud800"`,
		"NUL, escaped":         `"a\u0000b"`,
		"a raw newline's kin":  "\"a\x01b\"",
	}
	eachEra(t, both, func(t *testing.T, e era) {
		w := e.open(t)
		for name, title := range titles {
			w.send(e.call("1", "add_task", `{"title":`+title+`}`))
			if m := w.reply("*"); m.Error == nil && m.envelope(t).OK {
				t.Errorf("%s: accepted as %s", name, m.Result)
			}
			e.alive(w)
		}
		got := e.do(w, "add_task", `{"title":"\ud83d\ude00 \u00e9 \u2028 é"}`)
		if !got.OK || !strings.Contains(string(got.Data), "😀") {
			t.Errorf("a pair of surrogates is a character: %+v", got)
		}
		if n := e.count(w); n != 1 {
			t.Errorf("%d tasks", n)
		}
	})
}

func TestLinesMayEndInCRLF(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		in := e.hello() + e.call("1", "add_task", `{"title":"one"}`) + "\n\n" + e.call("2", "list_tasks", `{}`) + "\n"
		list, status := pipe(t, command(t, newDB(t)), strings.ReplaceAll(in, "\n", "\r\n"))
		n := 0
		for _, m := range list {
			if string(m.ID) != `"hello"` {
				n++
				m.envelope(t)
			}
		}
		if n != 2 || status != 0 {
			t.Errorf("%d replies, exit status %d", n, status)
		}
	})
}

// Duplicates at the levels that a JSON library settles silently: a middlebox
// that reads the first of two and a server that runs the last can be played
// against each other.
func TestAKeyGivenTwiceIsRefusedAtEveryLevel(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		meta := ""
		if e.modern() {
			full := e.request("1", "x", "")
			meta = "," + full[strings.Index(full, `"_meta"`):len(full)-2]
		}
		params := func(inner string) string { return `{` + inner + meta + `}` }
		good := params(`"name":"add_task","arguments":{"title":"x"}`)
		rows := map[string]string{
			"params":             fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s,"params":%s}`, params(`"name":"list_tasks"`), good),
			"method":             fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":%s}`, good),
			"id":                 fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"id":1,"method":"tools/call","params":%s}`, good),
			"jsonrpc":            fmt.Sprintf(`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, good),
			"name":               fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params(`"name":"list_tasks","name":"add_task","arguments":{"title":"x"}`)),
			"name, escaped":      fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params(`"name":"list_tasks","n\u0061me":"add_task","arguments":{"title":"x"}`)),
			"arguments":          fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params(`"name":"add_task","arguments":{},"arguments":{"title":"x"}`)),
			"a key inside":       fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params(`"name":"add_task","arguments":{"title":"a","title":"x"}`)),
			"a key, escaped":     fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params(`"name":"add_task","arguments":{"title":"a","t\u0069tle":"x"}`)),
			"a key in two cases": fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params(`"name":"add_task","arguments":{"title":"a","Title":"x"}`)),
		}
		w := e.open(t)
		for name, line := range rows {
			w.send(line)
			if m := w.reply("*"); string(m.ID) != "1" && string(m.ID) != "null" || m.Error == nil && m.envelope(t).Err.Code != "invalid_input" {
				t.Errorf("%s twice: id %s, %+v %s", name, m.ID, m.Error, m.Result)
			}
			e.alive(w)
		}
		if n := e.count(w); n != 0 {
			t.Errorf("%d tasks were made", n)
		}
	})
}

// The original's known gap: its SDK dropped a top-level __proto__ before
// anybody saw it.
func TestAProtoKeyIsRefusedAndOnTheRecord(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		db := newDB(t)
		w := e.openOn(t, db)
		for _, args := range []string{`{"title":"x","__proto__":{"confirm":true}}`, `{"title":"x","constructor":1}`, `{"title":"x","":1}`} {
			if got := e.do(w, "add_task", args); got.Err.Code != "invalid_input" {
				t.Errorf("%s: %+v", args, got)
			}
		}
		w.end()
		if got := audited(t, db, "add_task", "rejected"); len(got) != 3 || !strings.Contains(strings.Join(got, ""), "__proto__") {
			t.Errorf("recorded: %v", got)
		}
	})
}
