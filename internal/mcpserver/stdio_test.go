package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestEveryRequestHasItsReplyWhenInputEndsAtOnce(t *testing.T) {
	for round := range 100 {
		c := start(t, newBench().set(false))
		c.sendBeside(call("1", "put", `{"text":"a"}`), call("2", "say", `{}`), call(`"x"`, "all", `{}`))
		time.Sleep(time.Duration(round%3) * time.Millisecond)
		// The writer may still be at it: the pipe ends after the last byte it took.
		got := map[any]bool{}
		for range 3 {
			got[c.next()["id"]] = true
		}
		if len(got) != 3 || len(c.rest()) != 0 {
			t.Fatalf("round %d: replies to %v", round, got)
		}
	}
}

func TestAPipelinedCallSeesTheChangesBeforeItAndNotThoseBehind(t *testing.T) {
	for range 20 {
		c := start(t, newBench().set(false))
		c.send(call("1", "all", `{}`), call("2", "put", `{"text":"a"}`), call("3", "put", `{"text":"b"}`),
			call("4", "all", `{}`), call("5", "put", `{"text":"c"}`), call("6", "all", `{}`))
		seen := map[float64]any{}
		for _, m := range c.rest() {
			seen[m["id"].(float64)] = dig(m, "result", "structuredContent", "data", "text")
		}
		if seen[1] != nil || seen[4] != "a b" || seen[6] != "a b c" {
			t.Fatalf("seen %v", seen)
		}
	}
}

func TestWhatIsNoMessageGetsAnErrorAndTheSessionGoesOn(t *testing.T) {
	rows := []struct {
		name, line string
		id         any
		code       float64
	}{
		{"rubbish", `hello`, nil, -32700},
		{"half an object", `{"jsonrpc":"2.0","id":7,"method":`, 7.0, -32700},
		{"two objects", `{"jsonrpc":"2.0","id":7,"method":"ping"} {}`, 7.0, -32700},
		{"a number", `7`, nil, -32600},
		{"a string", `"x"`, nil, -32600},
		{"null", `null`, nil, -32600},
		{"an empty object", `{}`, nil, -32600},
		{"no jsonrpc", `{"id":7,"method":"ping"}`, 7.0, -32600},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, 7.0, -32600},
		{"jsonrpc as a number", `{"jsonrpc":2.0,"id":7,"method":"ping"}`, 7.0, -32600},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, -32600},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, nil, -32600},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600},
		{"id a list", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, nil, -32600},
		{"method a number", `{"jsonrpc":"2.0","id":7,"method":1}`, 7.0, -32600},
		{"method empty", `{"jsonrpc":"2.0","id":7,"method":""}`, 7.0, -32601},
		{"method unknown", `{"jsonrpc":"2.0","id":7,"method":"nope","params":{` + modern + `}}`, 7.0, -32601},
		{"an id and nothing else", `{"jsonrpc":"2.0","id":7}`, 7.0, -32600},
		{"params a number", `{"jsonrpc":"2.0","id":7,"method":"ping","params":1}`, 7.0, -32602},
		{"params twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{},"params":{}}`, 7.0, -32600},
		{"id twice", `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, 7.0, -32600},
		{"name twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"say","name":"put",` + modern + `}}`, 7.0, -32602},
		{"arguments twice", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"say","arguments":{},"arguments":{},` + modern + `}}`, 7.0, -32602},
		{"arguments twice by escape", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"say","arguments":{},"\u0061rguments":{},` + modern + `}}`, 7.0, -32602},
		{"a tool name that is a number", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":1,` + modern + `}}`, 7.0, -32602},
		{"an unknown tool", call("7", "nope", `{}`), 7.0, -32602},
		{"no tool name", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{` + modern + `}}`, 7.0, -32602},
		{"nested too deep", call("7", "say", strings.Repeat(`[`, 2000)+strings.Repeat(`]`, 2000)), 7.0, -32602},
		{"nested far too deep", call("7", "say", strings.Repeat(`[`, 20000)+strings.Repeat(`]`, 20000)), 7.0, -32700},
		{"an empty batch", `[]`, nil, -32600},
		{"a broken batch", `[{"jsonrpc":"2.0","id":7,"method":"ping"},`, nil, -32700},
		{"too long, id in front", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"` + strings.Repeat("a", 4<<20) + `"}}`, 7.0, -32600},
		{"too long, id behind", `{"x":"` + strings.Repeat("a", 5<<20) + `","jsonrpc":"2.0","id":7,"method":"ping"}`, nil, -32600},
		{"an unserved version", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, 7.0, -32022},
		{"no capabilities", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, 7.0, -32602},
	}
	c := start(t, newBench().set(false))
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c.t = t
			c.send(r.line)
			m := c.next()
			if m["id"] != r.id || dig(m, "error", "code") != r.code || dig(m, "error", "message") == "" {
				t.Errorf("got %v, want id %v and code %v", m, r.id, r.code)
			}
			c.send(call(`"after"`, "say", `{"text":"still here"}`))
			if m := c.next(); m["id"] != "after" || dig(m, "result", "structuredContent", "data", "text") != "still here" {
				t.Fatalf("afterwards: %v", m)
			}
		})
	}
}

func TestARequestBeforeTheHandshakeIsRefused(t *testing.T) {
	c := start(t, newBench().set(false))
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
	if m := c.next(); m["id"] != 7.0 || dig(m, "error", "code") != -32600.0 {
		t.Errorf("got %v", m)
	}
	c.handshake("2025-06-18") // and the handshake still works
	c.rest()
}

func TestWhatNeedsNoReplyGetsNone(t *testing.T) {
	c := start(t, newBench().set(false))
	c.send(
		``, `   `, "\t",
		`{"jsonrpc":"2.0","method":"notifications/unknown"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"x"}}`,
		call("1", "say", `{}`)+"\r",
	)
	if got := c.rest(); len(got) != 1 || got[0]["id"] != 1.0 {
		t.Errorf("got %v", got)
	}
}

func TestAnIDComesBackByteForByte(t *testing.T) {
	for _, id := range []string{
		`0`, `-1`, `9007199254740993`, `18446744073709551616`, `1e30`, `1.5`, `""`, `"1"`, `"né\u0000e"`, `"😀"`, `"\ud83d\ude00"`, `"` + strings.Repeat("x", 5000) + `"`,
	} {
		c := start(t, newBench().set(false))
		c.send(call(id, "say", `{}`))
		line, err := c.out.ReadString('\n')
		if err != nil || !strings.Contains(line, `"id":`+id+`,`) {
			t.Errorf("id %s: %.200s %v", id, line, err)
		}
		c.rest()
	}
}

func TestAnIDThatIsStillRunningIsRefusedAndTheFirstKeepsItsReply(t *testing.T) {
	b := newBench()
	c := start(t, b.set(false))
	c.send(call("1", "wait", `{"text":"first"}`))
	<-b.begun
	c.send(call("1", "say", `{}`))
	if m := c.next(); dig(m, "error", "code") != -32600.0 {
		t.Errorf("got %v", m)
	}
	close(b.gate)
	if m := c.next(); dig(m, "result", "structuredContent", "data", "text") != "first" {
		t.Errorf("got %v", m)
	}
	c.send(call("1", "say", `{"text":"again"}`)) // free once more
	if m := c.next(); dig(m, "result", "structuredContent", "data", "text") != "again" {
		t.Errorf("got %v", m)
	}
	c.rest()
}

func TestACancelledCallStopsAndGetsNoReply(t *testing.T) {
	for _, id := range []string{`1`, `"1"`, `1e3`, `"a\u0062"`} {
		b := newBench()
		c := start(t, b.set(false))
		c.send(call(id, "wait", `{}`))
		<-b.begun
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`, call("2", "say", `{}`))
		if m := c.next(); m["id"] != 2.0 {
			t.Errorf("got %v", m)
		}
		if got := c.rest(); len(got) != 0 { // and the drain does not wait for it
			t.Errorf("then %v", got)
		}
	}
}

func TestACallThatWaitsForItsTurnCanBeCancelled(t *testing.T) {
	b := newBench()
	c := start(t, b.set(false))
	for i := range 256 { // as many as run at once
		c.send(call(fmt.Sprint(i), "wait", `{}`))
	}
	for range 256 {
		<-b.begun
	}
	c.send(call(`"waits"`, "wait", `{"text":"late"}`), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"waits"}}`, `rubbish`)
	if m := c.next(); dig(m, "error", "code") != -32700.0 { // so the lines before are taken in
		t.Fatalf("got %v", m)
	}
	go close(b.gate)
	got := c.rest()
	if len(got) != 256 {
		t.Errorf("%d replies, want 256", len(got))
	}
	select {
	case s := <-b.begun:
		t.Errorf("the cancelled call began: %q", s)
	default:
	}
}

func TestBatchesAreServedWhereTheProtocolHasThem(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26"} {
		c := start(t, newBench().set(false))
		c.handshake(version)
		c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}},7,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":{"text":"hi"}}}]`)
		batch, _ := c.next()["batch"].([]any)
		if len(batch) != 3 {
			t.Fatalf("%s: %v", version, batch)
		}
		ids := map[any]bool{}
		for _, m := range batch {
			ids[m.(map[string]any)["id"]] = true
		}
		if !ids[1.0] || !ids[2.0] || !ids[nil] {
			t.Errorf("%s: replies to %v", version, ids)
		}
		// A batch of notices gets no reply, and harms nothing.
		c.send(`[{"jsonrpc":"2.0","method":"notifications/cancelled"},{"jsonrpc":"2.0","method":"notifications/cancelled"}]`, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if m := c.next(); m["id"] != 3.0 {
			t.Errorf("%s: %v", version, m)
		}
		c.rest()
	}
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		c := start(t, newBench().set(false))
		c.handshake(version)
		c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if m := c.next(); dig(m, "error", "code") != -32600.0 {
			t.Errorf("%s: %v", version, m)
		}
		if m := c.next(); m["id"] != 3.0 {
			t.Errorf("%s: %v", version, m)
		}
		c.rest()
	}
}

func TestACancelledCallOfABatchDoesNotHoldTheOthersBack(t *testing.T) {
	b := newBench()
	c := start(t, b.set(false))
	c.handshake("2025-03-26")
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	<-b.begun
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if batch, _ := c.next()["batch"].([]any); len(batch) != 1 {
		t.Errorf("got %v", batch)
	}
	c.rest()
}

func TestThePeerThatStopsReadingEndsTheSession(t *testing.T) {
	b := newBench()
	c := start(t, b.set(false))
	c.send(call("1", "wait", `{}`))
	<-b.begun
	c.outEnd.Close()
	c.sendBeside(call("2", "say", `{}`)) // the server meets the closed pipe
	select {
	case <-c.over:
	case <-time.After(patience):
		t.Fatal("the session does not end, though nobody reads it")
	}
}

func TestTheServerEndsWhenItIsToldTo(t *testing.T) {
	b := newBench()
	c := start(t, b.set(true))
	c.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modern + `}}`)
	if m := c.next(); m["method"] != "notifications/subscriptions/acknowledged" {
		t.Fatalf("got %v", m)
	}
	c.send(call("1", "wait", `{"text":"finished"}`))
	<-b.begun
	c.cancel()
	close(b.gate)
	got := map[any]map[string]any{}
	for range 2 {
		m := c.next()
		got[m["id"]] = m
	}
	if dig(got["l"], "result", "resultType") != "complete" || dig(got[1.0], "result", "structuredContent", "data", "text") != "finished" {
		t.Errorf("got %v", got)
	}
	select {
	case <-c.over:
	case <-time.After(patience):
		t.Fatal("the session does not end")
	}
}
