package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"handrail/internal/mcpserver"
	"handrail/internal/toolset"
)

func listen(id, what string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":` + what + `,` + modern + `}}`
}

const subscriptionID = "io.modelcontextprotocol/subscriptionId"

func TestTwoSubscriptionsOnOneSessionHearEachTheirOwn(t *testing.T) {
	c := start(t, newBench().set(true))
	c.send(listen(`"tools"`, `{"toolsListChanged":true}`), listen(`12345678901234567890`, `{"resourceSubscriptions":["bench://item/1"],"resourcesListChanged":true}`))
	for range 2 {
		m := c.next()
		if m["method"] != "notifications/subscriptions/acknowledged" || dig(m, "params", "_meta", subscriptionID) == nil {
			t.Fatalf("got %v", m)
		}
	}
	expect := func(method string, id any, uri any) {
		t.Helper()
		m := c.next()
		if m["method"] != method || dig(m, "params", "_meta", subscriptionID) != id || dig(m, "params", "uri") != uri {
			t.Errorf("got %v, want %s for %v", m, method, id)
		}
	}
	big := 12345678901234567890.0
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ToolsChanged})
	expect("notifications/tools/list_changed", "tools", nil)
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/2"}) // nobody asked
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
	expect("notifications/resources/updated", big, "bench://item/1")
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourcesChanged})
	expect("notifications/resources/list_changed", big, nil)

	// Closing one leaves the other.
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"tools"}}`, call("1", "say", `{}`))
	if m := c.next(); m["id"] != 1.0 {
		t.Fatalf("got %v", m)
	}
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ToolsChanged})
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourcesChanged})
	expect("notifications/resources/list_changed", big, nil)

	// At the end of input the open one is ended in order.
	got := c.rest()
	if len(got) != 1 || got[0]["id"] != big || dig(got[0], "result", "resultType") != "complete" {
		t.Errorf("at the end: %v", got)
	}
}

func TestASubscriptionToNothingEndsAtOnceAndAWrongOneIsRefused(t *testing.T) {
	c := start(t, newBench().set(false)) // nothing changes here
	c.send(listen("1", `{"toolsListChanged":true,"resourceSubscriptions":["bench://about"]}`))
	if m := c.next(); m["method"] != "notifications/subscriptions/acknowledged" || len(dig(m, "params", "notifications").(map[string]any)) != 0 {
		t.Errorf("got %v", m)
	}
	if m := c.next(); m["id"] != 1.0 || dig(m, "result", "resultType") != "complete" {
		t.Errorf("got %v", m)
	}
	for _, what := range []string{`null`, `7`, `[]`, `"x"`} {
		c.send(listen("2", what))
		if m := c.next(); dig(m, "error", "code") != -32602.0 {
			t.Errorf("%s: %v", what, m)
		}
	}
	c.rest()
}

func TestOneSessionCannotSubscribeWithoutBound(t *testing.T) {
	c := start(t, newBench().set(true))
	uris := make([]string, 1001)
	for i := range uris {
		uris[i] = fmt.Sprintf("bench://item/%d", i)
	}
	list, err := json.Marshal(uris)
	if err != nil {
		t.Fatal(err)
	}
	c.send(listen("0", `{"resourceSubscriptions":`+string(list)+`}`))
	if m := c.next(); dig(m, "error", "code") != -32602.0 {
		t.Errorf("got %v", m)
	}
	for i := range 64 {
		c.send(listen(fmt.Sprint(i+1), `{"toolsListChanged":true}`))
		if m := c.next(); m["method"] != "notifications/subscriptions/acknowledged" {
			t.Fatalf("%d: %v", i, m)
		}
	}
	c.send(listen("100", `{"toolsListChanged":true}`))
	if m := c.next(); dig(m, "error", "code") != -32602.0 {
		t.Errorf("got %v", m)
	}
}

// A client that does not wait for the reply of its handshake was deaf.
func TestAClientThatWritesItsHandshakeAndItsSubscriptionAtOnceHearsOfChanges(t *testing.T) {
	for range 50 {
		c := start(t, newBench().set(true))
		c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"bench://item/1"}}`)
		for _, id := range []any{"hello", 1.0} {
			if m := c.next(); m["id"] != id || m["error"] != nil {
				t.Fatalf("got %v, want a reply to %v", m, id)
			}
		}
		c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
		if m := c.next(); m["method"] != "notifications/resources/updated" {
			t.Fatalf("got %v", m)
		}
		c.rest()
	}
}

func TestAClientOfTheHandshakeEraHearsOfChanges(t *testing.T) {
	c := start(t, newBench().set(true))
	c.handshake("2025-06-18")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"bench://item/1"}}`)
	if m := c.next(); m["id"] != 1.0 || m["error"] != nil {
		t.Fatalf("got %v", m)
	}
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/2"})
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
	if m := c.next(); m["method"] != "notifications/resources/updated" || dig(m, "params", "uri") != "bench://item/1" || dig(m, "params", "_meta") != nil {
		t.Errorf("got %v", m)
	}
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ToolsChanged})
	if m := c.next(); m["method"] != "notifications/tools/list_changed" {
		t.Errorf("got %v", m)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"bench://item/1"}}`)
	if m := c.next(); m["id"] != 2.0 {
		t.Errorf("got %v", m)
	}
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"})
	c.server.Announce(mcpserver.Notice{Kind: mcpserver.PromptsChanged}) // these cannot change
	if got := c.rest(); len(got) != 0 {
		t.Errorf("then %v", got)
	}
}

func TestCapabilitiesAreDeclaredAlsoWhereAListIsEmpty(t *testing.T) {
	c := start(t, toolset.Set{Name: "empty", ToolsChange: true, ResourcesChange: true})
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if m := c.next(); dig(m, "result", "capabilities", "tools", "listChanged") != true {
		t.Errorf("got %v", m)
	}
	c.rest()
}

func ask(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}`, id, method, strings.Trim(params+","+modern, ","))
}

func TestResourcesPromptsAndCompletionsAreServed(t *testing.T) {
	c := start(t, newBench().set(false))
	get := func(method, params string) map[string]any {
		t.Helper()
		c.send(ask(1, method, params))
		return c.next()
	}
	if m := get("resources/read", `"uri":"bench://item/5"`); fmt.Sprint(dig(m, "result", "contents")) != "[map[mimeType:text/plain text:local bench://item/5 uri:bench://item/5]]" ||
		dig(m, "result", "cacheScope") != "private" || dig(m, "result", "ttlMs") != 0.0 {
		t.Errorf("read: %v", m)
	}
	if m := get("resources/read", `"uri":"bench://item/0"`); dig(m, "error", "code") != -32602.0 {
		t.Errorf("absent: %v", m)
	}
	for _, uri := range []string{"bench://item/9", "bench://panic"} {
		m := get("resources/read", `"uri":"`+uri+`"`)
		if dig(m, "error", "code") != -32603.0 || strings.Contains(fmt.Sprint(m), "secret") || strings.Contains(fmt.Sprint(m), "no luck") {
			t.Errorf("%s: %v", uri, m)
		}
	}
	if m := get("prompts/get", `"name":"greet","arguments":{"name":"Ann"}`); !strings.Contains(fmt.Sprint(m), "Hello Ann") {
		t.Errorf("prompt: %v", m)
	}
	for _, params := range []string{`"name":"greet"`, `"name":"nope"`} {
		if m := get("prompts/get", params); dig(m, "error", "code") != -32602.0 {
			t.Errorf("prompt %s: %v", params, m)
		}
	}
	m := get("completion/complete", `"ref":{"type":"ref/resource","uri":"bench://item/{id}"},"argument":{"name":"id","value":""}`)
	if values, _ := dig(m, "result", "completion", "values").([]any); len(values) != 100 || dig(m, "result", "completion", "total") != 150.0 || dig(m, "result", "completion", "hasMore") != true {
		t.Errorf("completion: %v", m)
	}
	m = get("completion/complete", `"ref":{"type":"ref/resource","uri":"bench://item/{id}"},"argument":{"name":"id","value":"14"}`)
	if values := fmt.Sprint(dig(m, "result", "completion", "values")); values != "[14 140 141 142 143 144 145 146 147 148 149]" {
		t.Errorf("completion: %s", values)
	}
	for _, ref := range []string{`{"type":"ref/prompt","name":"nope"}`, `{"type":"ref/prompt","name":"greet"}`, `{"type":"ref/resource","uri":"nope://{x}"}`} {
		if m := get("completion/complete", `"ref":`+ref+`,"argument":{"name":"x","value":""}`); fmt.Sprint(dig(m, "result", "completion", "values")) != "[]" {
			t.Errorf("completion of what is not there, %s: %v", ref, m)
		}
	}
	for _, params := range []string{`"argument":{"name":"x","value":""}`, `"ref":{"type":"ref/other"},"argument":{"name":"x","value":""}`, `"ref":{}`} {
		if m := get("completion/complete", params); dig(m, "error", "code") != -32602.0 {
			t.Errorf("completion of %s: %v", params, m)
		}
	}
	c.rest()
}

func TestAListFromTheUsersDataFollowsTheFixedOnePageByPage(t *testing.T) {
	c := start(t, newBench().set(false))
	var uris []string
	cursor := ""
	for page := range 5 {
		c.send(ask(1, "resources/list", cursor))
		m := c.next()
		for _, r := range dig(m, "result", "resources").([]any) {
			uris = append(uris, r.(map[string]any)["uri"].(string))
		}
		if got := strings.Join(uris, " "); page == 0 && got != "bench://about bench://panic bench://item/1" {
			t.Errorf("the first page, which many hosts read alone: %s", got)
		}
		next, more := dig(m, "result", "nextCursor").(string)
		if !more {
			break
		}
		cursor = `"cursor":"` + next + `"`
	}
	if got := strings.Join(uris, " "); got != "bench://about bench://panic bench://item/1 bench://item/2" {
		t.Errorf("got %s", got)
	}
	for _, bad := range []string{"x", "bGlzdGVkOno", "bGlzdGVkOg"} {
		c.send(ask(1, "resources/list", `"cursor":"`+bad+`"`))
		if m := c.next(); dig(m, "error", "code") != -32602.0 {
			t.Errorf("cursor %s: %v", bad, m)
		}
	}
	c.rest()
}

func TestProgressIsToldToAClientThatAsked(t *testing.T) {
	c := start(t, newBench().set(false))
	c.send(strings.Replace(call("1", "steps", `{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1))
	for i := range 3 {
		if m := c.next(); m["method"] != "notifications/progress" || dig(m, "params", "progress") != float64(i+1) || dig(m, "params", "progressToken") != "p" {
			t.Errorf("got %v", m)
		}
	}
	if m := c.next(); m["id"] != 1.0 {
		t.Errorf("got %v", m)
	}
	c.send(call("2", "steps", `{}`))
	if got := c.rest(); len(got) != 1 {
		t.Errorf("without a token: %v", got)
	}
}
