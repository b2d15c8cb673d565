package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/testenv"
)

// caller speaks raw HTTP as one user, and keeps every byte that came back.
type caller struct {
	t     testing.TB
	url   string
	token string

	mu   sync.Mutex
	seen strings.Builder
}

func as(t testing.TB, s *testenv.Server, token string) *caller {
	return &caller{t: t, url: s.URL, token: token}
}

// got is what came back: the status, the headers, and the body.
type got struct {
	status int
	header http.Header
	body   string
}

// message is the last message of a body, whether it is JSON or a stream.
func (g got) message(t testing.TB) message {
	t.Helper()
	text := g.body
	for line := range strings.Lines(g.body) {
		if data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: "); ok && data != "" {
			text = data
		}
	}
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%d %q: %v", g.status, g.body, err)
	}
	return m
}

// request makes a request of the user's; headers are "Name: value", and an empty
// value takes the header away. A body of the era without handshake gets its
// headers.
func (c *caller) request(method, path, body string, headers ...string) *http.Request {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, strings.TrimSuffix(c.url, "/mcp")+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	if json.Unmarshal([]byte(body), &m) == nil && strings.Contains(body, `"io.modelcontextprotocol/protocolVersion"`) {
		r.Header.Set("Mcp-Protocol-Version", modern.version)
		r.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	return r
}

func (c *caller) do(r *http.Request) got {
	c.t.Helper()
	g, err := c.try(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return g
}

func (c *caller) try(r *http.Request) (got, error) {
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return got{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	c.keep(fmt.Sprint(res.StatusCode, res.Header, string(b)))
	return got{res.StatusCode, res.Header, string(b)}, err
}

func (c *caller) keep(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.WriteString(text + "\n")
}

// all is everything that the user was shown.
func (c *caller) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.String()
}

func (c *caller) post(body string, headers ...string) got {
	c.t.Helper()
	return c.do(c.request(http.MethodPost, "/mcp", body, headers...))
}

// call calls a tool in the era without handshake, for its envelope.
func (c *caller) call(tool, args string) envelope {
	c.t.Helper()
	return c.post(modern.call("1", tool, args)).message(c.t).envelope(c.t)
}

// ask sends any request of the era without handshake.
func (c *caller) ask(method, params string) message {
	c.t.Helper()
	return c.post(modern.request("1", method, params)).message(c.t)
}

// session opens a session of the handshake era; the function ends each request
// in it.
func (c *caller) session(capabilities string) (id string) {
	c.t.Helper()
	hello := fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"e2e","version":"1"}}}`, latest.version, capabilities)
	g := c.post(hello)
	id = g.header.Get("Mcp-Session-Id")
	if g.status != http.StatusOK || id == "" {
		c.t.Fatalf("handshake: %d %s", g.status, g.body)
	}
	if g := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, inSession(id)); g.status != http.StatusAccepted {
		c.t.Fatalf("initialized: %d %s", g.status, g.body)
	}
	return id
}

func inSession(id string) string { return "Mcp-Session-Id: " + id }

// stream is an open response of events.
type stream struct {
	t      testing.TB
	events chan message
	close  func()
}

// open begins a stream.
func (c *caller) open(r *http.Request) *stream {
	c.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		c.t.Fatalf("%d %s", res.StatusCode, b)
	}
	s := &stream{t: c.t, events: make(chan message, 1000), close: func() { res.Body.Close() }}
	c.t.Cleanup(s.close)
	go func() {
		defer close(s.events)
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			c.keep(lines.Text())
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && data != "" {
				var m message
				if json.Unmarshal([]byte(data), &m) == nil {
					s.events <- m
				}
			}
		}
		_ = lines.Err() // the test closes the stream; whoever waits for more says so
	}()
	return s
}

// next is the next event, or false at the stream's end.
func (s *stream) next() (message, bool) {
	s.t.Helper()
	select {
	case m, open := <-s.events:
		return m, open
	case <-time.After(patience):
		s.t.Fatal("nothing came")
		return message{}, false
	}
}

// listen opens a subscription of the era without handshake and waits for its
// acknowledgement.
func (c *caller) listen(id, filter string) *stream {
	c.t.Helper()
	s := c.open(c.request(http.MethodPost, "/mcp", modern.request(id, "subscriptions/listen", `"notifications":`+filter)))
	if m, _ := s.next(); m.Method != "notifications/subscriptions/acknowledged" {
		c.t.Fatalf("a subscription begins with %+v", m)
	}
	return s
}

// uri is the resource that a notice is about.
func (m message) uri() string {
	var p struct{ URI string }
	if json.Unmarshal(m.Params, &p) != nil {
		return ""
	}
	return p.URI
}

// state is the request state of an answer that asks, with its question.
func (m message) state(t testing.TB) string {
	t.Helper()
	var r struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct{ Params struct{ Message string } }
	}
	if err := errors.Join(json.Unmarshal(m.Result, &r)); err != nil || r.ResultType != "input_required" || r.RequestState == "" {
		t.Fatalf("no question: %+v %s", m.Error, m.Result)
	}
	return r.RequestState
}
