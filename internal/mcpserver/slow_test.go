package mcpserver_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/internal/mcpserver"
)

// dawdle sends the header of a request, and of its body only the first byte. It
// returns what the server says until it hangs up.
func (w *web) dawdle(t *testing.T, method, path, token string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{", method, path, token)
	conn.SetReadDeadline(time.Now().Add(patience))
	said, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("the server keeps the connection: %v; it said %q", err, said)
	}
	return string(said)
}

func TestWhoSendsTooSlowlyIsHungUpOnAndWhoWaitsIsNot(t *testing.T) {
	b := newBench()
	w := serveWeb(t, b.set(true), func(o *mcpserver.HTTPOptions) { o.ReadTimeout = 500 * time.Millisecond })
	hers, _ := w.open(w.request(http.MethodPost, "/mcp", aliceToken, listen(`"a"`, `{"resourceSubscriptions":["bench://item/1"]}`)))
	if m := hers(); m["method"] != "notifications/subscriptions/acknowledged" {
		t.Fatalf("got %v", m)
	}
	id := w.session(aliceToken)
	old, _ := w.open(w.request(http.MethodGet, "/mcp", aliceToken, "", "Mcp-Session-Id: "+id, "Accept: text/event-stream"))
	if r := w.post(aliceToken, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"bench://item/1"}}`, "Mcp-Session-Id: "+id); r.status != 200 {
		t.Fatalf("subscribe: %d %s", r.status, r.body)
	}
	running := make(chan reply, 1)
	go func() { running <- w.post(aliceToken, call("3", "wait", `{"text":"done"}`)) }()
	<-b.begun

	for _, row := range []struct{ name, method, path, token, says string }{
		{"with a token", "POST", "/mcp", aliceToken, " 400 "},
		{"without one", "POST", "/mcp", "nobody's", " 401 "},
		{"with a method that takes no body", "GET", "/mcp", aliceToken, ""},
		{"to a page that is not there", "POST", "/nowhere", "", " 404 "},
		{"to the page of health", "GET", "/health", "", " 200 "},
	} {
		if said := w.dawdle(t, row.method, row.path, row.token); !strings.Contains(said, row.says) {
			t.Errorf("%s the server says %q", row.name, said)
		}
	}

	// All that began before has outlasted the time for reading by now.
	w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
	if m := hers(); m["method"] != "notifications/resources/updated" {
		t.Errorf("the subscription got %v", m)
	}
	if m := old(); m["method"] != "notifications/resources/updated" {
		t.Errorf("the session's stream got %v", m)
	}
	close(b.gate)
	if m := (<-running).message(t); dig(m, "result", "structuredContent", "data", "text") != "done" {
		t.Errorf("the call got %v", m)
	}
}
