package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// begin sends a call in a session and reads until its first event has come; it
// returns that event's id and what breaks the connection.
func (w *web) begin(t *testing.T, session, body string) (event string, hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := w.request(http.MethodPost, "/mcp", aliceToken, body, "Mcp-Session-Id: "+session, "Mcp-Protocol-Version: 2025-11-25").WithContext(ctx)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(res.Body)
	for event == "" && lines.Scan() {
		event, _ = strings.CutPrefix(lines.Text(), "id: ")
		if !strings.HasPrefix(lines.Text(), "id: ") {
			event = ""
		}
	}
	if event == "" {
		t.Fatalf("%d: no event has an id, %v", res.StatusCode, lines.Err())
	}
	return event, func() { cancel(); res.Body.Close() }
}

func (w *web) newSession(t *testing.T, token string) string {
	t.Helper()
	r := w.post(token, strings.Replace(hello, "2025-06-18", "2025-11-25", 1))
	id := r.header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	w.post(token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id: "+id)
	return id
}

func (w *web) resume(token, session, event string) reply {
	return w.do(w.request(http.MethodGet, "/mcp", token, "", "Mcp-Session-Id: "+session, "Mcp-Protocol-Version: 2025-11-25", "Accept: text/event-stream", "Last-Event-ID: "+event))
}

func callInSession(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"text":"told"}}}`, id, tool)
}

func TestAClientWhoseConnectionBrokeGetsTheRestOfItsCall(t *testing.T) {
	b := newBench()
	w := serveWeb(t, b.set(false), nil)
	session := w.newSession(t, aliceToken)
	event, hangUp := w.begin(t, session, callInSession("7", "wait"))
	<-b.begun
	hangUp()
	close(b.gate)
	// The call goes on without its client, which comes back.
	var m map[string]any
	for end := time.Now().Add(patience); m == nil; {
		r := w.resume(aliceToken, session, event)
		if strings.Contains(r.body, `"result"`) {
			m = r.message(t)
		} else if time.Now().After(end) {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	if m["id"] != 7.0 || dig(m, "result", "structuredContent", "data", "text") != "told" {
		t.Errorf("got %v", m)
	}
	// It stays to be had; for nobody else, and in no other session.
	if r := w.resume(aliceToken, session, event); !strings.Contains(r.body, "told") {
		t.Errorf("again: %d %s", r.status, r.body)
	}
	others := map[string]reply{
		"another user":                 w.resume(bobToken, w.newSession(t, bobToken), event),
		"another user with my session": w.resume(bobToken, session, event),
		"another session of mine":      w.resume(aliceToken, w.newSession(t, aliceToken), event),
		"an event that never was":      w.resume(aliceToken, session, "nothing_0"),
	}
	for who, r := range others {
		if r.status/100 != 4 || strings.Contains(r.body, "told") {
			t.Errorf("%s: %d %s", who, r.status, r.body)
		}
	}
	if a, b := others["another session of mine"], others["another user"]; a.status != b.status || a.body != b.body {
		t.Errorf("what is there and what is not look different: %+v, %+v", a, b)
	}
}

// A client of TypeScript, version 1, takes an error for no reply and comes back
// for it; 405 is the answer that it takes for final.
func TestACallThatIsOverIsNotResumedFromItsEnd(t *testing.T) {
	w := serveWeb(t, newBench().set(false), nil)
	session := w.newSession(t, aliceToken)
	for _, tool := range []string{"say", "no such tool"} {
		r := w.post(aliceToken, callInSession("1", tool), "Mcp-Session-Id: "+session, "Mcp-Protocol-Version: 2025-11-25")
		var events []string
		for _, line := range strings.Split(r.body, "\n") {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				events = append(events, id)
			}
		}
		if len(events) != 2 { // the first says only that there will be more
			t.Fatalf("%s: %d %s", tool, r.status, r.body)
		}
		if got := w.resume(aliceToken, session, events[0]); got.status != 200 || fmt.Sprint(got.message(t)) != fmt.Sprint(r.message(t)) {
			t.Errorf("%s: from its beginning: %d %s", tool, got.status, got.body)
		}
		if got := w.resume(aliceToken, session, events[1]); got.status != 405 {
			t.Errorf("%s: from its end: %d %s", tool, got.status, got.body)
		}
	}
}

func TestWhatIsKeptOfCallsIsBounded(t *testing.T) {
	w := serveWeb(t, newBench().set(false), nil)
	session := w.newSession(t, aliceToken)
	long := strings.Repeat("x", 100_000)
	say := func(text string) string {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"text":%q}}}`, text)
		r := w.post(aliceToken, body, "Mcp-Session-Id: "+session, "Mcp-Protocol-Version: 2025-11-25")
		_, after, _ := strings.Cut(r.body, "id: ")
		event, _, _ := strings.Cut(after, "\n")
		return event
	}
	first := say("first") // the first event of each
	if r := w.resume(aliceToken, session, first); !strings.Contains(r.body, "first") {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for range 20 { // 4 MB
		say(long)
	}
	if r := w.resume(aliceToken, session, first); r.status != 400 || strings.Contains(r.body, "first") {
		t.Errorf("kept: %d %s", r.status, r.body)
	}
	last := say("last")
	if r := w.resume(aliceToken, session, last); !strings.Contains(r.body, "last") {
		t.Errorf("not kept: %d %s", r.status, r.body)
	}
	// A call that is more than is kept still has its reply.
	huge := say(strings.Repeat("y", 1<<20))
	if huge == "" {
		t.Error("no reply to a long call")
	}
	if r := w.resume(aliceToken, session, huge); r.status != 400 {
		t.Errorf("kept: %d %d bytes", r.status, len(r.body))
	}
}
