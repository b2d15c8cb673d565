package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Message is what went over the wire in one direction.
type Message struct {
	// Sent says that it went to the server.
	Sent bool
	// HTTP is the request or the response that carried it, in one line; empty on
	// standard streams, and for all but the first message of one stream of events.
	HTTP string
	// Headers are those that the protocol gives a meaning, "Name: value". A token
	// is never shown.
	Headers []string
	// JSON is the message of JSON-RPC; empty where HTTP carried none.
	JSON json.RawMessage
}

// Closing stands in Message.HTTP where the client closed a stream of events that
// was not over.
const Closing = "(closes the stream)"

// tapped shows the messages of another transport.
type tapped struct {
	mcp.Transport
	tap func(Message)
}

// Connect implements mcp.Transport.
func (t tapped) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil || t.tap == nil {
		return c, err
	}
	return &connection{Connection: c, tap: t.tap}, nil
}

type connection struct {
	mcp.Connection
	tap     func(Message)
	sending sync.Mutex // keeps what is shown in the order in which it is sent
}

// Read implements mcp.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err == nil {
		c.show(m, false)
	}
	return m, err
}

// Write implements mcp.Connection.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.show(m, true)
	return c.Connection.Write(ctx, m)
}

func (c *connection) show(m jsonrpc.Message, sent bool) {
	if b, err := jsonrpc.EncodeMessage(m); err == nil {
		c.tap(Message{Sent: sent, JSON: b})
	}
}

// tripper adds the token to each request and shows both sides.
type tripper struct {
	next  http.RoundTripper
	token string
	tap   func(Message)
}

// shownHeaders are those that MCP gives a meaning.
var shownHeaders = []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Last-Event-Id", "Www-Authenticate"}

func headers(h http.Header) (list []string) {
	for _, name := range shownHeaders {
		if v := h.Get(name); v != "" {
			list = append(list, name+": "+v)
		}
	}
	return list
}

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	m := Message{Sent: true, HTTP: r.Method + " " + r.URL.Path, Headers: headers(r.Header)}
	if t.token != "" {
		r.Header.Set("Authorization", "Bearer "+t.token)
		m.Headers = append(m.Headers, "Authorization: Bearer (not shown)")
	}
	if t.tap == nil {
		return t.next.RoundTrip(r)
	}
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		m.JSON = b
	}
	t.tap(m)
	res, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	m = Message{HTTP: fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)), Headers: headers(res.Header)}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		m.HTTP += ", a stream of events"
		if r.Method == http.MethodGet {
			t.tap(m) // it may be long until the first event
			m = Message{}
		}
		res.Body = watchEvents(res.Body, m, t.tap)
	case "application/json":
		b, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
		res.Body.Close()
		if err != nil {
			return nil, err
		}
		res.Body, m.JSON = io.NopCloser(bytes.NewReader(b)), b
		t.tap(m)
	default:
		t.tap(m)
	}
	return res, nil
}

// maxBody bounds a response that is one message, in bytes.
const maxBody = 16 << 20

// events shows each event of a stream as it is read.
type events struct {
	body io.ReadCloser
	line []byte // the line that has begun
	data []byte // the data of the event that has begun
	next Message
	tap  func(Message)
	over atomic.Bool // it was read to its end, or closed
}

// watchEvents shows the events of body; the first one comes with what first says
// of the response.
func watchEvents(body io.ReadCloser, first Message, tap func(Message)) io.ReadCloser {
	return &events{body: body, next: first, tap: tap}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	n, err := e.body.Read(p)
	e.line = append(e.line, p[:n]...)
	for {
		line, rest, whole := bytes.Cut(e.line, []byte("\n"))
		if !whole {
			break
		}
		e.line = rest
		e.take(strings.TrimSuffix(string(line), "\r"))
	}
	if err != nil && !e.over.Swap(true) && errors.Is(err, context.Canceled) {
		e.tap(closing)
	}
	return n, err
}

func (e *events) take(line string) {
	if data, is := strings.CutPrefix(line, "data:"); is {
		e.data = append(e.data, strings.TrimPrefix(data, " ")...)
		return
	}
	if line != "" || len(e.data) == 0 {
		return
	}
	m := e.next
	m.JSON = e.data
	e.tap(m)
	e.next, e.data = Message{}, nil
}

// closing is a client that wants no more of a stream. In the modern era that is
// how it cancels a call.
var closing = Message{Sent: true, HTTP: Closing}

// Close implements io.Closer.
func (e *events) Close() error {
	if !e.over.Swap(true) {
		e.tap(closing)
	}
	return e.body.Close()
}

// lines calls take with each line that is read, until there are no more.
func lines(r io.Reader, take func([]byte)) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxBody)
	for s.Scan() {
		take(s.Bytes())
	}
	_ = s.Err() // a stream that breaks has no more lines either
}
