package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// An era is a protocol version and the way a client of it speaks.
type era struct{ version string }

var (
	modern = era{"2026-07-28"}
	latest = era{"2025-11-25"}
	// both are the two ways to speak; every is each version there is.
	both  = []era{modern, latest}
	every = []era{modern, latest, {"2025-06-18"}, {"2025-03-26"}, {"2024-11-05"}}
)

func (e era) modern() bool { return e.version >= "2026-07-28" }

// hello is what a client sends first: nothing, in the modern era.
func (e era) hello() string {
	if e.modern() {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`, e.version) + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
}

// request is one line, without its newline. params is the inside of an object,
// without braces; what the era asks for is added behind it.
func (e era) request(id, method, params string) string {
	if e.modern() {
		if params != "" {
			params += ","
		}
		params += fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"e2e","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`, e.version)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

// call is a tools/call; args is the whole object.
func (e era) call(id, tool, args string) string {
	return e.request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args))
}

// open starts the server on a new database and says hello.
func (e era) open(t testing.TB) *wire {
	t.Helper()
	return e.openOn(t, newDB(t))
}

func (e era) openOn(t testing.TB, db string) *wire {
	t.Helper()
	w := dial(t, command(t, db))
	if hello := e.hello(); hello != "" {
		w.raw(hello)
		if m := w.reply(`"hello"`); m.Error != nil {
			t.Fatalf("initialize failed: %+v", m.Error)
		}
	}
	return w
}

// do makes one call and waits for its envelope.
func (e era) do(w *wire, tool, args string) envelope {
	w.t.Helper()
	w.send(e.call(`"do"`, tool, args))
	return w.reply(`"do"`).envelope(w.t)
}

// alive proves that the session still answers.
func (e era) alive(w *wire) {
	w.t.Helper()
	w.send(e.call(`"alive"`, "list_tasks", `{"limit":1}`))
	if m := w.reply(`"alive"`); !m.envelope(w.t).OK {
		w.t.Fatalf("the session does not go on: %s", m.Result)
	}
}

// count is the number of tasks, up to 200.
func (e era) count(w *wire) int {
	w.t.Helper()
	var page struct{ Tasks []json.RawMessage }
	if err := json.Unmarshal(e.do(w, "list_tasks", `{"limit":200}`).Data, &page); err != nil {
		w.t.Fatal(err)
	}
	return len(page.Tasks)
}
