package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/internal/mcpserver"
)

// open begins a stream and returns its events, one JSON message each.
func (w *web) open(r *http.Request) (events func() map[string]any, res *http.Response) {
	w.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		w.t.Fatalf("%d %s", res.StatusCode, b)
	}
	lines := make(chan string, 1<<16)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(res.Body)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok && data != "" {
				lines <- data
			}
		}
		_ = sc.Err() // the test closes the stream; whoever waits for more says so
	}()
	return func() map[string]any {
		w.t.Helper()
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				w.t.Fatalf("%q: %v", line, err)
			}
			return m
		case <-time.After(patience):
			w.t.Fatal("nothing came")
			return nil
		}
	}, res
}

func TestSubscribersHearOfTheirOwnUsersChangesOnly(t *testing.T) {
	w := serveWeb(t, newBench().set(true), nil)
	hers, res := w.open(w.request(http.MethodPost, "/mcp", aliceToken, listen(`"a"`, `{"resourceSubscriptions":["bench://item/1"],"resourcesListChanged":true}`)))
	his, _ := w.open(w.request(http.MethodPost, "/mcp", bobToken, listen(`"b"`, `{"resourceSubscriptions":["bench://item/1"],"resourcesListChanged":true}`)))
	for _, next := range []func() map[string]any{hers, his} {
		if m := next(); m["method"] != "notifications/subscriptions/acknowledged" {
			t.Fatalf("got %v", m)
		}
	}
	if res.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("headers %v", res.Header)
	}
	id := w.session(aliceToken)
	old, _ := w.open(w.request(http.MethodGet, "/mcp", aliceToken, "", "Mcp-Session-Id: "+id, "Accept: text/event-stream"))
	if r := w.post(aliceToken, `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"bench://item/1"}}`, "Mcp-Session-Id: "+id); r.status != 200 {
		t.Fatalf("subscribe: %d %s", r.status, r.body)
	}
	w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
	if m := hers(); m["method"] != "notifications/resources/updated" || dig(m, "params", "_meta", subscriptionID) != "a" {
		t.Errorf("got %v", m)
	}
	if m := old(); m["method"] != "notifications/resources/updated" {
		t.Errorf("legacy got %v", m)
	}
	w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourcesChanged})
	if m := hers(); m["method"] != "notifications/resources/list_changed" {
		t.Errorf("got %v", m)
	}
	w.server("bob").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
	if m := his(); m["method"] != "notifications/resources/updated" || dig(m, "params", "_meta", subscriptionID) != "b" {
		t.Errorf("bob heard %v, and should have heard only of his own", m)
	}
}

func TestAReaderThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	w := serveWeb(t, newBench().set(true), nil)
	// One subscriber opens its stream and never reads it.
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	long := strings.Repeat("x", 2000)
	uris := make([]string, 1000)
	for i := range uris {
		uris[i] = fmt.Sprintf("bench://item/%s%d", long, i)
	}
	list, err := json.Marshal(uris)
	if err != nil {
		t.Fatal(err)
	}
	r := w.request(http.MethodPost, "/mcp", aliceToken, listen(`"dead"`, `{"resourceSubscriptions":`+string(list)+`}`))
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	next, _ := w.open(w.request(http.MethodPost, "/mcp", aliceToken, listen(`"live"`, `{"resourceSubscriptions":["bench://item/2"]}`)))
	next()
	// 20 MB for the dead one, far more than sockets hold: each round goes out
	// before the next, and the live one hears each.
	for range 10 {
		for _, uri := range uris {
			w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: uri})
		}
		w.server("alice").Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/2"})
		if m := next(); dig(m, "params", "uri") != "bench://item/2" {
			t.Fatalf("got %v", m)
		}
	}
}

func TestStoppingEndsSubscriptionsInOrderAndLetsCallsFinish(t *testing.T) {
	b := newBench()
	w := serveWeb(t, b.set(true), nil)
	next, _ := w.open(w.request(http.MethodPost, "/mcp", aliceToken, listen(`"a"`, `{"toolsListChanged":true}`)))
	next()
	id := w.session(bobToken)
	old, _ := w.open(w.request(http.MethodGet, "/mcp", bobToken, "", "Mcp-Session-Id: "+id, "Accept: text/event-stream"))
	answer := make(chan reply, 1)
	go func() { answer <- w.post(aliceToken, call("1", "wait", `{"text":"finished"}`)) }()
	<-b.begun
	w.stop()
	if m := next(); m["id"] != "a" || dig(m, "result", "resultType") != "complete" {
		t.Errorf("the subscription ended with %v", m)
	}
	if m := old(); m != nil {
		t.Errorf("the old stream said %v", m)
	}
	close(b.gate)
	if m := (<-answer).message(t); dig(m, "result", "structuredContent", "data", "text") != "finished" {
		t.Errorf("the running call got %v", m)
	}
}

func TestACallEndsWhenItsClientGoesAway(t *testing.T) {
	b := newBench()
	w := serveWeb(t, b.set(false), nil)
	ctx, cancel := context.WithCancel(t.Context())
	r := w.request(http.MethodPost, "/mcp", aliceToken, call("1", "wait", `{}`)).WithContext(ctx)
	go func() {
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
		}
	}()
	<-b.begun
	cancel()
	// The call counts as running until it ends.
	deadline := time.Now().Add(patience)
	for !strings.Contains(w.do(w.request(http.MethodGet, "/metrics", "", "")).body, "handrail_calls 0\n") {
		if time.Now().After(deadline) {
			t.Fatal("the call goes on without its client")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
