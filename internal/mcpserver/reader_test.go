package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// dead sends a request and does not read what comes back.
func (w *web) dead(r *http.Request) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	if err := r.Write(conn); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

func TestADeadStreamOfTheHandshakeEraHoldsNobodyUp(t *testing.T) {
	w := serveWeb(t, newBench().set(true), nil)
	long := strings.Repeat("x", 2000)
	uris := make([]string, 500)
	subscribe := func(id, uri string) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":%q}}`, uri)
		if r := w.post(aliceToken, body, "Mcp-Session-Id: "+id); r.status != 200 {
			t.Fatalf("subscribe: %d %s", r.status, r.body)
		}
	}
	// Two dead sessions, the user's own; one lives.
	for range 2 {
		id := w.session(aliceToken)
		w.dead(w.request(http.MethodGet, "/mcp", aliceToken, "", "Mcp-Session-Id: "+id, "Accept: text/event-stream"))
		for i := range uris {
			uris[i] = fmt.Sprintf("bench://item/%s%d", long, i)
			subscribe(id, uris[i])
		}
	}
	id := w.session(aliceToken)
	next, _ := w.open(w.request(http.MethodGet, "/mcp", aliceToken, "", "Mcp-Session-Id: "+id, "Accept: text/event-stream"))
	subscribe(id, "bench://item/2")
	for range 20 { // 20 MB for each of the dead
		for _, uri := range uris {
			w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: uri})
		}
		w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/2"})
		if m := next(); dig(m, "params", "uri") != "bench://item/2" {
			t.Fatalf("got %v", m)
		}
		if m := w.post(aliceToken, call("1", "say", `{"text":"hi"}`)).message(t); dig(m, "result", "structuredContent", "data", "text") != "hi" {
			t.Fatalf("a call got %v", m)
		}
	}
}

// chatty tells more while it runs than a queue holds, and its result is more
// than one, too.
func chatty(notices int) toolset.Set {
	type nothing struct{}
	type report struct {
		Text string `json:"text"`
	}
	return toolset.Set{Name: "chatty", Tools: []tool.Tool{tool.New(
		tool.Spec{Name: "chat", Title: "Chat", Doc: "Tells a lot.", Slow: true},
		func(ctx context.Context, c *tool.Call, _ nothing) (report, error) {
			line := strings.Repeat("y", 4000)
			for i := range notices {
				c.Progress(ctx, float64(i+1), 0, line)
			}
			return report{strings.Repeat("z", 3<<20)}, ctx.Err()
		})}}
}

func TestACallThatTellsALotKeepsItsResult(t *testing.T) {
	const notices = 5000 // 20 MB
	w := serveWeb(t, chatty(notices), nil)
	id := w.session(aliceToken)
	legacy := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chat","arguments":{},"_meta":{"progressToken":"p"}}}`
	for era, r := range map[string]*http.Request{
		"modern": w.request(http.MethodPost, "/mcp", aliceToken, strings.Replace(call("1", "chat", `{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)),
		"legacy": w.request(http.MethodPost, "/mcp", aliceToken, legacy, "Mcp-Session-Id: "+id),
	} {
		t.Run(era, func(t *testing.T) {
			conn := w.dead(r)
			// Meanwhile others are served, and other calls of the session too.
			for range 5 {
				if m := w.post(bobToken, ask(1, "tools/list", "")).message(t); m["result"] == nil {
					t.Fatalf("bob got %v", m)
				}
				if r := w.post(aliceToken, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id: "+id); r.status != 200 {
					t.Fatalf("the session got %d %s", r.status, r.body)
				}
				time.Sleep(50 * time.Millisecond) // whoever does not wait for the reader has given up by now
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatalf("the stream broke after %d bytes: %v", len(b), err)
			}
			n := strings.Count(string(b), "notifications/progress")
			if era == "modern" && n != notices || n < 200 {
				t.Errorf("%d notices of %d", n, notices)
			}
			if m := (reply{status: res.StatusCode, body: string(b)}).message(t); dig(m, "result", "structuredContent", "ok") != true {
				t.Errorf("the result is %.200s", fmt.Sprint(m))
			}
		})
	}
}
