package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdio is the transport of newline-delimited JSON-RPC over two streams, ours
// because the SDK's loses replies when input ends, ends the session on
// rubbish, and serves one subscription at a time (see docs/sdk-notes.md).
type stdio struct {
	in  io.Reader
	out io.Writer
	// kind is how the calls of a tool stand to those before and after them.
	kind func(tool string) callKind
	// feed carries change notices; subscribe is what may be subscribed to.
	feed      *Feed
	subscribe subscribable
	// demand is called when somebody subscribes to resources.
	demand func()
	// server takes plain calls directly; without one all go through the SDK.
	server *Server
	// directs counts those that run.
	directs sync.WaitGroup
	// drain bounds how long calls may still run once input has ended.
	drain  time.Duration
	logger *slog.Logger
	// stop, when closed, ends the session as if input had ended, with StopTimeout
	// for what still runs.
	stop <-chan struct{}
}

// The bounds of one session.
const (
	// maxRunning is how many requests run at once; further ones wait.
	maxRunning = 256
	// maxHeld is how many requests wait; then input is not read.
	maxHeld = 1024
	// DrainTimeout is how long calls may still run once input has ended.
	DrainTimeout = 60 * time.Second
	// StopTimeout is how long calls may still run once the server was told to
	// stop.
	StopTimeout = 8 * time.Second
)

// Connect implements mcp.Transport.
func (s *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	base, stopAll := context.WithCancel(ctx)
	c := &conn{
		base: base, stopAll: stopAll,
		stdio: s, calls: map[int64]*call{}, ids: map[string]*call{}, asked: map[int64]bool{},
		wake: make(chan struct{}, 1), closed: make(chan struct{}), lines: make(chan line),
	}
	go c.readLines()
	return c, nil
}

// conn is one session. Requests get numbers of ours on their way to the SDK,
// so that a client's id comes back byte for byte, whatever it is.
type conn struct {
	*stdio

	lines     chan line
	wake      chan struct{} // something that Read waits for may have changed
	closed    chan struct{}
	closeOnce sync.Once

	outMu sync.Mutex // one line at a time

	base    context.Context // of calls that go directly
	stopAll context.CancelFunc

	mu      sync.Mutex
	next    int64
	calls   map[int64]*call  // running and held, by our number
	ids     map[string]*call // the same, by the client's id
	asked   map[int64]bool   // requests of ours that the client has not answered
	ready   []jsonrpc.Message
	held    []*call // requests that wait for their turn, in order
	running [kinds]int
	opening int  // handshakes that have no reply yet
	ended   bool // no more input
	broken  bool // nobody reads our output
	legacy  legacySession
	vouched metas // whose calls go directly
}

// callKind is how a request stands to its neighbours: a client that pipelines
// sees the order it wrote, so a change waits for the short requests before it,
// and every request waits for the changes before it.
type callKind int

const (
	long   callKind = iota // may run for minutes; nobody waits for it
	short                  // reads
	change                 // changes something, and is quick about it
	kinds
)

// call is one request of the client.
type call struct {
	number    int64
	id        []byte // the client's, raw
	key       string
	req       *jsonrpc.Request
	kind      callKind
	begun     bool
	cancelled bool
	init      bool
	batch     *batch
	direct    *shortcut // set for a call that the SDK need not see
	listen    *listen   // set for a subscription, which the SDK never sees
}

// batch collects the replies of one array of requests.
type batch struct {
	waits   int
	replies [][]byte
}

func (c *conn) readLines() {
	r := newLineReader(c.in, MaxLine)
	for {
		l := r.next()
		select {
		case c.lines <- l:
		case <-c.closed:
			return
		}
		if l.err != nil {
			close(c.lines)
			return
		}
	}
}

// SessionID implements mcp.Connection: stdio has one session and no id.
func (c *conn) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *conn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	c.stopAll()
	c.endSubscriptions()
	return nil
}

// Read implements mcp.Connection. Once input has ended it returns what is
// left, waits until every request has its reply, and then returns io.EOF.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	stop := c.stop
	var deadline <-chan time.Time
	for {
		msg, full, done := c.take()
		if msg != nil {
			return msg, nil
		}
		if done {
			return nil, io.EOF
		}
		input := c.lines
		if full {
			input = nil
		}
		if c.inputEnded() {
			input = nil
			if deadline == nil {
				timer := time.NewTimer(c.drain)
				defer timer.Stop()
				deadline = timer.C
			}
		}
		select {
		case l, more := <-input:
			if len(l.text) > 0 || l.tooLong {
				c.accept(l)
			}
			if !more || l.err != nil {
				c.endInput(l.err)
			}
		case <-c.wake:
		case <-stop:
			stop = nil
			c.endInput(nil)
			timer := time.NewTimer(StopTimeout)
			defer timer.Stop()
			deadline = timer.C
		case <-deadline:
			c.logger.Warn("calls were still running long after the session was to end; they are cancelled")
			return nil, io.EOF
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns the next message for the SDK, if one is due. full says that no
// more should be read, since many requests wait, or a handshake: what follows it
// in one write means what it would mean after its reply. done says that the
// session is over.
func (c *conn) take() (msg jsonrpc.Message, full, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ready) > 0 {
		msg, c.ready = c.ready[0], c.ready[1:]
		return msg, false, false
	}
	for len(c.held) > 0 && c.mayBegin(c.held[0]) {
		next := c.held[0]
		c.held = c.held[1:]
		next.begun = true
		c.running[next.kind]++
		if !c.beginDirect(next) {
			return next.req, false, false
		}
	}
	idle := c.ended && len(c.calls) == 0
	return nil, len(c.held) >= maxHeld || c.opening > 0, c.broken || idle
}

// mayBegin reports whether nothing stands in the way of the first request that
// waits.
func (c *conn) mayBegin(next *call) bool {
	if c.running[change] > 0 || next.kind == change && c.running[short] > 0 {
		return false
	}
	return c.running[long]+c.running[short] < maxRunning
}

func (c *conn) inputEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *conn) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// endInput notes that the client will send nothing more: questions to it stay
// unanswered, and subscriptions end.
func (c *conn) endInput(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		c.logger.Warn("input ended", "error", err)
	}
	c.mu.Lock()
	c.ended = true
	for number := range c.asked {
		c.ready = append(c.ready, failed(number))
	}
	clear(c.asked)
	c.mu.Unlock()
	c.endSubscriptions()
}

// failed answers a request of ours in the client's place.
func failed(number int64) *jsonrpc.Response {
	id, err := jsonrpc.MakeID(float64(number))
	if err != nil {
		panic(fmt.Sprintf("number %d is no id: %v", number, err))
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client closed its side"}}
}
