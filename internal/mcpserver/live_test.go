package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// troupe is a set whose tools come and go.
type troupe struct {
	mu         sync.Mutex
	generation uint64
	tools      []tool.Tool
}

func (a *troupe) play(tools ...tool.Tool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	a.tools = tools
}

func (a *troupe) set() toolset.Set {
	return toolset.Set{
		Name: "troupe", ToolsChange: true,
		Live: func() (uint64, []tool.Tool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.generation, a.tools
		},
	}
}

// actor is a tool that says where it comes from.
func acts(name, doc, origin string) tool.Tool {
	return tool.NewForeign(tool.Foreign{
		Spec:   tool.Spec{Name: name, Title: name, Doc: doc, Effect: tool.Run, Origin: origin},
		Schema: json.RawMessage(`{"type":"object","properties":{"X":{"type":"string"}},"additionalProperties":false}`),
	}, func(context.Context, *tool.Call, tool.Arguments) (*tool.Question, error) { return nil, nil },
		func(context.Context, *tool.Call, tool.Arguments) (struct {
			From string `json:"from"`
		}, error) {
			return struct {
				From string `json:"from"`
			}{origin}, nil
		})
}

func toolNames(c *session, id string) []string {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list","params":{` + modern + `}}`)
	m := c.next()
	for m["method"] != nil { // a list may be what finds the change, and announces it
		m = c.next()
	}
	list, ok := dig(m, "result", "tools").([]any)
	if !ok {
		c.t.Fatal("no list of tools")
	}
	var names []string
	for _, t := range list {
		names = append(names, t.(map[string]any)["name"].(string))
	}
	return names
}

func TestToolsThatComeAndGoAreListedAnnouncedOnceAndCalledWhereTheyAreFromNow(t *testing.T) {
	a := &troupe{}
	a.play(acts("one", "First.", "north"))
	c := start(t, a.set())
	c.send(listen(`"l"`, `{"toolsListChanged":true}`))
	c.next() // acknowledged
	if got := toolNames(c, "1"); !slices.Equal(got, []string{"one"}) {
		t.Fatalf("tools %v", got)
	}
	change := mcpserver.Notice{Kind: mcpserver.ToolsChanged}

	// The same tools again are no news, whatever announces them.
	a.play(acts("one", "First.", "north"))
	c.server.Announce(change)
	a.play(acts("one", "First.", "north"), acts("two.x", "Second.", "north"))
	c.server.Announce(change)
	c.server.Announce(change)
	if m := c.next(); m["method"] != "notifications/tools/list_changed" {
		t.Fatalf("got %v", m)
	}
	if got := toolNames(c, "2"); !slices.Equal(got, []string{"one", "two.x"}) {
		t.Errorf("tools %v", got)
	}

	// A tool that looks the same but comes from elsewhere is another tool.
	a.play(acts("one", "First.", "south"))
	c.server.Announce(change)
	if m := c.next(); m["method"] != "notifications/tools/list_changed" {
		t.Fatalf("got %v", m)
	}
	c.send(call("3", "one", `{}`))
	if m := c.next(); dig(m, "result", "structuredContent", "data", "from") != "south" {
		t.Errorf("got %v", m)
	}
	c.send(call("4", "two.x", `{}`))
	if m := c.next(); dig(m, "error", "code") != -32602.0 {
		t.Errorf("a tool that is gone: %v", m)
	}

	// Whoever lists before anything was announced sees what there is now.
	a.play()
	if got := toolNames(c, "5"); len(got) != 0 {
		t.Errorf("tools %v", got)
	}
}

func TestAnOlderStateOfTheToolsNeverLandsOnANewerOne(t *testing.T) {
	a := &troupe{}
	c := start(t, a.set())
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			a.play(acts(fmt.Sprint("t", i), "Some.", "x"))
			c.server.Announce(mcpserver.Notice{Kind: mcpserver.ToolsChanged})
		})
	}
	all.Wait()
	_, last := a.set().Live()
	if got := toolNames(c, "1"); len(got) != 1 || got[0] != last[0].Spec.Name {
		t.Errorf("tools %v, want %s", got, last[0].Spec.Name)
	}
}
