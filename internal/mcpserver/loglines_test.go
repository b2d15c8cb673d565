package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// chatter is a set with a tool that logs a line and says whether it may.
func chatter() toolset.Set {
	type heard struct {
		Log bool `json:"log"`
	}
	return toolset.Set{Name: "chatter", Logs: true, Tools: []tool.Tool{
		tool.New(tool.Spec{Name: "chat", Title: "Chat", Doc: "Logs a line."}, func(ctx context.Context, c *tool.Call, _ struct{}) (heard, error) {
			if c.Log == nil {
				return heard{}, nil
			}
			c.Log(ctx, "task", map[string]string{"line": "hello"})
			return heard{Log: true}, nil
		}),
	}}
}

// chat makes a call and returns what came before its reply, and the reply.
func (c *session) chat(line string) (before []map[string]any, reply map[string]any) {
	c.t.Helper()
	c.send(line)
	for {
		m := c.next()
		if m["id"] != nil {
			return before, m
		}
		before = append(before, m)
	}
}

func TestALineOfALogIsMadeOnlyForWhoAskedForIt(t *testing.T) {
	setLevel := func(level string) string {
		return `{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"` + level + `"}}`
	}
	asking := func(level string) string {
		return strings.Replace(call("9", "chat", `{}`), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"`+level+`",`, 1)
	}
	for name, c := range map[string]struct {
		version string // of a handshake; none in the era without
		first   string
		call    string
		made    bool
		lines   int
	}{
		"a session that asked for nothing":       {version: "2025-06-18", call: legacyCall("1", "chat", `{}`)},
		"a session that asked for all":           {version: "2025-06-18", first: setLevel("debug"), call: legacyCall("1", "chat", `{}`), made: true, lines: 1},
		"a session that asked for it":            {version: "2024-11-05", first: setLevel("info"), call: legacyCall("1", "chat", `{}`), made: true, lines: 1},
		"a session that asked for warnings":      {version: "2025-06-18", first: setLevel("warning"), call: legacyCall("1", "chat", `{}`), made: true},
		"a session whose level was no level":     {version: "2025-06-18", first: setLevel(""), call: legacyCall("1", "chat", `{}`), made: true},
		"a request that asked for nothing":       {call: call("1", "chat", `{}`)},
		"a request that asked for it":            {call: asking("info"), made: true, lines: 1},
		"a request that asked for errors":        {call: asking("error"), made: true},
		"a request behind another one that asks": {first: asking("info"), call: call("1", "chat", `{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, chatter())
			if c.version != "" {
				s.handshake(c.version)
			}
			if c.first != "" {
				s.chat(c.first)
			}
			before, reply := s.chat(c.call)
			if made := dig(reply, "result", "structuredContent", "data", "log"); made != c.made {
				t.Errorf("a line was made: %v, want %v: %v", made, c.made, reply)
			}
			if len(before) != c.lines {
				t.Errorf("%d lines, want %d: %v", len(before), c.lines, before)
			}
			for _, m := range before {
				if m["method"] != "notifications/message" || dig(m, "params", "data", "line") != "hello" || dig(m, "params", "logger") != "task" {
					t.Errorf("got %v", m)
				}
			}
		})
	}
}
