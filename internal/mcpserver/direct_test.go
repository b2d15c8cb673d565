package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plainCalls are calls as good and as bad as clients make them: what a reply
// says must not depend on the way that a call takes.
func plainCalls(call func(id, name, args string) string) []string {
	var lines []string
	for i, args := range []string{
		`{}`, `{"text":"a"}`, `{"text":"a"}`, `{ "text" : "spaces" }`, `{"text":""}`, `null`, `{"text":null}`,
		`{"text":"<b> & 'quotes' \"double\" \\ \u2028 \u0007 é 😀"}`, `{"text":"\ud83d\ude00"}`, `{"text":"\ud83d"}`, "{\"text\":\"\xff\"}",
		`{"text":1}`, `{"text":["a"]}`, `{"nope":1}`, `{"text":"a","text":"b"}`, `{"Text":"a"}`, `[]`, `"text"`, `7`, `true`, `{"text":"\u0000"}`,
		`{"text":"` + strings.Repeat("long ", 5000) + `"}`, strings.Repeat(`[`, 400) + strings.Repeat(`]`, 400),
		strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000), `{"text":"` + strings.Repeat("{", 600) + `"}`,
	} {
		for _, name := range []string{"say", "put", "all", "steps"} {
			lines = append(lines, call(fmt.Sprintf("%d", 100+4*i+len(name)%4), name, args))
		}
	}
	for i, id := range []string{`"x"`, `"é"`, `"\u0061"`, `0`, `-1`, `1.5`, `1e3`, `12345678901234567890`, `""`} {
		lines = append(lines, call(id, "say", fmt.Sprintf(`{"text":"id %d"}`, i)))
	}
	return append(lines,
		call("1", "nope", `{}`), call("2", "", `{}`), call("3", "SAY", `{}`), call("4", `s\u0061y`, `{"text":"escaped"}`),
		strings.Replace(call("5", "say", `{}`), `"arguments":{}`, `"arguments":{},"extra":1`, 1),
		strings.Replace(call("6", "say", `{}`), `"arguments":{}`, `"arguments":{},"arguments":{}`, 1),
		strings.Replace(call("7", "say", `{"text":"no arguments"}`), `"arguments":{"text":"no arguments"}`, `"task":null`, 1),
		strings.Replace(call("8", "say", `{}`), `"arguments":{}`, `"requestState":"x"`, 1))
}

// legacyCall is a tools/call of the handshake era.
func legacyCall(id, name, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
}

func TestOverStdioACallIsAnsweredAlikeDirectlyAndThroughTheSDK(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			make, vouch := call, call("0", "say", `{}`)
			if version != "2026-07-28" {
				make, vouch = legacyCall, legacyCall("0", "say", `{}`)
			}
			ask := func(throughSDK bool) (replies []any, direct int64) {
				c := start(t, newBench().set(false))
				if throughSDK {
					c.server.ThroughSDK()
				}
				if version != "2026-07-28" {
					c.handshake(version)
				}
				for _, line := range append([]string{vouch}, plainCalls(make)...) {
					c.send(line)
					reply, err := c.out.ReadString('\n')
					if err != nil {
						t.Fatalf("%s: %v", line, err)
					}
					replies = append(replies, decoded(reply))
				}
				if rest := c.rest(); len(rest) != 0 {
					t.Errorf("more replies than calls: %v", rest)
				}
				return replies, c.server.WentDirect()
			}
			want, none := ask(true)
			got, many := ask(false)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("through the SDK (-), directly (+):\n%s", diff)
			}
			if none != 0 || many < int64(len(got))/2 {
				t.Errorf("%d and %d of %d calls went directly: the test proves too little", none, many, len(got))
			}
		})
	}
}

// decoded is what a reply says.
func decoded(reply string) any {
	var v any
	if json.Unmarshal([]byte(reply), &v) != nil {
		return reply // a refusal in plain words
	}
	return v
}

// lastData is the last message of a stream, or the whole text.
func lastData(body string) string {
	if i := strings.LastIndex(body, "data: "); i >= 0 {
		return body[i+len("data: "):]
	}
	return body
}

func TestOverHTTPACallIsAnsweredAlikeDirectlyAndThroughTheSDK(t *testing.T) {
	ask := func(throughSDK bool) (replies []reply, direct int64) {
		w := serveWeb(t, newBench().set(false), nil)
		w.post(aliceToken, call("0", "say", `{}`)) // makes the server
		if throughSDK {
			w.server("alice").ThroughSDK()
		}
		for _, line := range plainCalls(call) {
			replies = append(replies, w.post(aliceToken, line))
		}
		for _, headers := range [][]string{
			{"Accept: application/json"}, {"Accept: text/event-stream"}, {"Accept: */*"}, {"Accept: "}, {"Content-Type: application/json; charset=utf-8"},
			{"Mcp-Name: put"}, {"Mcp-Name: "}, {"Mcp-Method: tools/list"}, {"Mcp-Method: "}, {"Mcp-Protocol-Version: 2025-11-25"}, {"Mcp-Protocol-Version: "},
			{"Mcp-Session-Id: x"}, {"Mcp-Param-Text: x"}, {"Last-Event-Id: 1"}, {"Mcp-Name: =?base64?c2F5?="}, {"X-Other: y"},
		} {
			for range 2 { // the first may vouch for the second
				replies = append(replies, w.post(aliceToken, call("1", "say", `{"text":"a"}`), headers...))
			}
		}
		for i := range replies {
			replies[i].body = fmt.Sprint(replies[i].body[:min(len(replies[i].body), 14)], decoded(lastData(replies[i].body)))
			header := maps.Clone(replies[i].header)
			for _, name := range []string{"Date", "X-Request-Id", "Content-Length", "Transfer-Encoding"} {
				delete(header, name)
			}
			replies[i].header = header
		}
		return replies, w.server("alice").WentDirect()
	}
	want, none := ask(true)
	got, many := ask(false)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
		t.Errorf("through the SDK (-), directly (+):\n%s", diff)
	}
	if none != 0 || many < int64(len(got))/2 {
		t.Errorf("%d and %d of %d calls went directly: the test proves too little", none, many, len(got))
	}
}

func TestACallThatNeedsTheSDKGoesThroughIt(t *testing.T) {
	c := start(t, newBench().set(false))
	other := strings.ReplaceAll(call("2", "say", `{}`), `"version":"1"`, `"version":"2"`)
	for _, line := range []string{
		call("1", "say", `{}`), // the first of its kind
		other,                  // another client, or another version of it
		strings.Replace(call("3", "steps", `{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1),
		strings.Replace(call("4", "say", `{}`), `"_meta":{`, `"_meta":{"traceparent":"00-0-0-00",`, 1),
		strings.Replace(call("5", "say", `{}`), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"info",`, 1),
		call("6", "nope", `{}`),
	} {
		c.send(line)
		for c.next()["id"] == nil { // notices of progress
		}
	}
	if n := c.server.WentDirect(); n != 0 {
		t.Errorf("%d calls went directly", n)
	}
	c.send(other, call("7", "say", `{}`))
	c.next()
	c.next()
	if n := c.server.WentDirect(); n != 2 {
		t.Errorf("%d calls went directly, want the 2 that are vouched for", n)
	}
}

func TestADirectCallCanBeCancelledAndGetsNoReply(t *testing.T) {
	b := newBench()
	c := start(t, b.set(false))
	c.send(call("1", "say", `{}`))
	c.next()
	c.send(call(`"w"`, "wait", `{"text":"long"}`))
	select {
	case <-b.begun:
	case <-time.After(patience):
		t.Fatal("the call does not begin")
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`, call("2", "say", `{}`))
	if m := c.next(); m["id"] != 2.0 {
		t.Errorf("got %v, want the reply to 2", m)
	}
	if rest := c.rest(); len(rest) != 0 {
		t.Errorf("a call that was cancelled was answered: %v", rest)
	}
	if n := c.server.WentDirect(); n != 2 {
		t.Errorf("%d calls went directly, want 2", n)
	}
}

func TestDirectCallsHaveTheirRepliesWhenInputEndsAtOnce(t *testing.T) {
	for round := range 100 {
		c := start(t, newBench().set(false))
		c.send(call("0", "say", `{}`))
		c.next()
		c.sendBeside(call("1", "put", `{"text":"a"}`), call("2", "say", `{}`), call(`"x"`, "all", `{}`))
		got := map[any]bool{}
		for range 3 {
			got[c.next()["id"]] = true
		}
		if len(got) != 3 || len(c.rest()) != 0 {
			t.Fatalf("round %d: replies to %v", round, got)
		}
		if n := c.server.WentDirect(); n != 3 {
			t.Fatalf("round %d: %d calls went directly, want 3", round, n)
		}
	}
}

func TestADirectCallThatStillRunsWhenTheServerStopsIsCancelled(t *testing.T) {
	b := newBench()
	c := start(t, b.set(false))
	c.send(call("1", "say", `{}`))
	c.next()
	c.send(call("2", "wait", `{}`))
	<-b.begun
	go io.Copy(io.Discard, c.out)
	c.outEnd.Close() // nobody reads any more
	c.send(call("3", "say", `{}`))
	select {
	case <-c.over:
	case <-time.After(patience):
		t.Error("the session does not end")
	}
}
