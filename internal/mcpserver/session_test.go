package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// patience bounds what a test waits for before it says that nothing came.
const patience = 20 * time.Second

// modern is the _meta of a request without a handshake.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

type text struct {
	Text string `json:"text,omitzero"`
}

// bench is a set with one tool for each way a call can go.
type bench struct {
	mu    sync.Mutex
	words []string
	gate  chan struct{} // wait returns when it is closed, or the call is cancelled
	begun chan string
}

func newBench() *bench { return &bench{gate: make(chan struct{}), begun: make(chan string, 1000)} }

func (b *bench) set(changes bool) toolset.Set {
	return toolset.Set{
		Name: "bench", ToolsChange: changes, ResourcesChange: changes,
		Tools: []tool.Tool{
			tool.New(tool.Spec{Name: "say", Title: "Say", Doc: "Says it again."}, func(_ context.Context, _ *tool.Call, in text) (text, error) {
				return in, nil
			}),
			tool.New(tool.Spec{Name: "put", Title: "Put", Doc: "Keeps a word.", Effect: tool.Write}, func(_ context.Context, _ *tool.Call, in text) (text, error) {
				time.Sleep(2 * time.Millisecond) // long enough for a later call to overtake
				b.mu.Lock()
				defer b.mu.Unlock()
				b.words = append(b.words, in.Text)
				return in, nil
			}),
			tool.New(tool.Spec{Name: "all", Title: "All", Doc: "All the words."}, func(context.Context, *tool.Call, struct{}) (text, error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				return text{strings.Join(b.words, " ")}, nil
			}),
			tool.New(tool.Spec{Name: "wait", Title: "Wait", Doc: "Waits.", Slow: true}, func(ctx context.Context, c *tool.Call, in text) (text, error) {
				b.begun <- in.Text
				select {
				case <-b.gate:
					return in, nil
				case <-ctx.Done():
					return in, ctx.Err()
				}
			}),
			tool.New(tool.Spec{Name: "steps", Title: "Steps", Doc: "Tells how far it is."}, func(ctx context.Context, c *tool.Call, in text) (text, error) {
				for i := range 3 {
					if c.Progress != nil {
						c.Progress(ctx, float64(i+1), 3, "step")
					}
				}
				return in, nil
			}),
		},
		Resources: []tool.Resource{
			{URI: "bench://about", Name: "about", Description: "About.", MIMEType: "text/plain", Read: func(context.Context, actor.Actor, string) (tool.Content, error) {
				return tool.Content{Text: "a bench"}, nil
			}},
			{URI: "bench://panic", Name: "panic", Description: "Panics.", Read: func(context.Context, actor.Actor, string) (tool.Content, error) {
				panic("no luck")
			}},
			{URI: "bench://item/{id}", Template: true, Name: "item", Description: "One.", MIMEType: "text/plain",
				Read: func(_ context.Context, who actor.Actor, uri string) (tool.Content, error) {
					if strings.HasSuffix(uri, "/0") {
						return tool.Content{}, fault.New(fault.NotFound, "no item 0")
					}
					if strings.HasSuffix(uri, "/9") {
						return tool.Content{}, errors.New("secret cause")
					}
					return tool.Content{Text: who.User + " " + uri}, nil
				},
				Complete: map[string]tool.Completer{"id": func(_ context.Context, _ actor.Actor, prefix string) ([]string, error) {
					var all []string
					for i := range 150 {
						if s := fmt.Sprint(i); strings.HasPrefix(s, prefix) {
							all = append(all, s)
						}
					}
					return all, nil
				}}},
		},
		Listed: func(_ context.Context, who actor.Actor, cursor string) ([]tool.Listed, string, error) {
			if cursor == "" {
				return []tool.Listed{{URI: "bench://item/1", Name: "1"}}, "1", nil
			}
			return []tool.Listed{{URI: "bench://item/2", Name: "2"}}, "", nil
		},
		Prompts: []tool.Prompt{{Name: "greet", Description: "Greets.", Args: []tool.PromptArg{{Name: "name", Required: true}},
			Render: func(_ context.Context, _ actor.Actor, args map[string]string) ([]tool.Message, error) {
				return []tool.Message{{Role: "user", Text: "Hello " + args["name"]}}, nil
			}}},
	}
}

// session is a client that speaks bytes.
type session struct {
	t      *testing.T
	server *mcpserver.Server
	in     *io.PipeWriter
	out    *bufio.Reader
	outEnd *io.PipeReader
	over   chan error
	cancel context.CancelFunc
}

func start(t *testing.T, set toolset.Set) *session {
	t.Helper()
	s, err := mcpserver.New(actor.LocalUser(), mcpserver.Options{
		Name: "bench", Title: "Bench", Version: "1",
		Door: tool.NewDoor(tool.Options{Log: audit.Nowhere{}}), Sets: []toolset.Set{set}, Drain: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	return run(t, s)
}

func run(t *testing.T, s *mcpserver.Server) *session {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &session{t: t, server: s, in: inW, out: bufio.NewReaderSize(outR, 1<<20), outEnd: outR, over: make(chan error, 1), cancel: cancel}
	go func() {
		err := s.RunStdio(ctx, inR, outW)
		outW.Close()
		c.over <- err
	}()
	t.Cleanup(func() { cancel(); inW.Close(); outR.Close() })
	return c
}

// send writes lines; it does not wait for anything.
func (c *session) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatalf("sending: %v", err)
	}
}

// sendBeside writes lines while the test goes on. The session may end before it
// has read them all, which is no failure.
func (c *session) sendBeside(lines ...string) {
	go io.WriteString(c.in, strings.Join(lines, "\n")+"\n")
}

// next reads one line, which must be JSON.
func (c *session) next() map[string]any {
	c.t.Helper()
	type got struct {
		line string
		err  error
	}
	ch := make(chan got, 1)
	go func() {
		line, err := c.out.ReadString('\n')
		ch <- got{line, err}
	}()
	select {
	case g := <-ch:
		if g.err != nil {
			c.t.Fatalf("reading: %v", g.err)
		}
		var m map[string]any
		if strings.HasPrefix(g.line, "[") {
			var list []any
			if err := json.Unmarshal([]byte(g.line), &list); err != nil {
				c.t.Fatalf("%q: %v", g.line, err)
			}
			return map[string]any{"batch": list}
		}
		if err := json.Unmarshal([]byte(g.line), &m); err != nil {
			c.t.Fatalf("%q: %v", g.line, err)
		}
		if m["jsonrpc"] != "2.0" {
			c.t.Fatalf("%q is no JSON-RPC", g.line)
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("nothing came")
		return nil
	}
}

// rest closes input and reads every line that is still to come.
func (c *session) rest() []map[string]any {
	c.t.Helper()
	c.in.Close()
	var all []map[string]any
	sc := bufio.NewScanner(c.out)
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		var m map[string]any
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			c.t.Fatalf("%q: %v", sc.Text(), err)
		}
		all = append(all, m)
	}
	if err := sc.Err(); err != nil {
		c.t.Error(err)
	}
	select {
	case err := <-c.over:
		if err != nil {
			c.t.Errorf("the session ended with %v", err)
		}
	case <-time.After(patience):
		c.t.Error("the session does not end")
	}
	return all
}

func (c *session) handshake(version string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if got := c.next(); dig(got, "result", "protocolVersion") != version {
		c.t.Fatalf("handshake: %v", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func dig(m map[string]any, path ...string) any {
	var v any = m
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

// call is a tools/call in the modern era.
func call(id, name, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `,` + modern + `}}`
}
