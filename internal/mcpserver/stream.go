package mcpserver

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The bounds of one event stream.
const (
	// streamQueue is how many bytes wait for a slow reader, beside one message,
	// before its stream is ended, or its call waits too.
	streamQueue = 1 << 20
	// writeTimeout is how long a reader may take for writePart bytes.
	writeTimeout = 30 * time.Second
	writePart    = 64 << 10
	// keepAlive is how often a silent stream sends a comment, so that nobody in
	// between takes it for dead.
	keepAlive = 20 * time.Second
)

// slowPolicy is what becomes of a stream whose reader is slower than what is to
// be told, once streamQueue bytes wait. A call must not lose its result because
// it told a lot while it ran.
type slowPolicy int

const (
	// slowEnds ends the stream: others wait for what it would wait for.
	slowEnds slowPolicy = iota
	// slowWaits has the call wait: in the modern era nobody waits with it.
	slowWaits
	// slowSkips leaves out the notices of a call: a session of the handshake era
	// writes to all its streams one after the other.
	slowSkips
)

// stream stands between the SDK and a response. An event stream gets a queue
// and a writer of its own: a reader that is slow or dead never holds up the
// goroutine that has something to tell it, and others with it. Every other
// response goes straight through.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
	// gone ends the request when its reader is.
	gone context.CancelFunc
	now  func() time.Time
	slow slowPolicy

	mu      sync.Mutex
	started bool
	events  bool
	queue   []byte
	closed  bool
	wake    chan struct{} // something is queued
	room    chan struct{} // what was queued is being written
	over    chan struct{}
}

func newStream(w http.ResponseWriter, gone context.CancelFunc) *stream {
	return &stream{
		ResponseWriter: w, control: http.NewResponseController(w), gone: gone, now: time.Now,
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

// WriteHeader begins the response and sees whether it is a stream.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	first := !s.started
	s.started = true
	if first && strings.HasPrefix(s.Header().Get("Content-Type"), "text/event-stream") {
		s.events = true
	}
	s.mu.Unlock()
	if !first {
		return
	}
	if s.events {
		s.Header().Set("X-Accel-Buffering", "no")
		s.Header().Set("Cache-Control", "no-cache, no-transform")
	}
	s.ResponseWriter.WriteHeader(status)
	if s.events {
		go s.pump()
	}
}

// Write implements http.ResponseWriter. On a stream it only queues.
func (s *stream) Write(b []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	if !s.events {
		return s.write(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, http.ErrHandlerTimeout
	}
	for s.slow == slowWaits && len(s.queue) > streamQueue && !s.closed {
		s.mu.Unlock()
		select {
		case <-s.room:
		case <-s.over:
		}
		s.mu.Lock()
	}
	full := len(s.queue) > streamQueue
	if full && s.slow == slowSkips && !s.closed {
		if bytes.Contains(b[:min(len(b), 100)], []byte(`"method":"notifications/`)) {
			return len(b), nil
		}
		full = false
	}
	if s.closed || full {
		s.closed = true
		s.gone()
		return 0, http.ErrHandlerTimeout
	}
	s.queue = append(s.queue, b...)
	poke(s.wake)
	return len(b), nil
}

// Flush implements http.Flusher: a stream flushes by itself.
func (s *stream) Flush() {
	s.WriteHeader(http.StatusOK)
	if !s.events {
		// Whatever flushes meets a broken connection at its next write.
		_ = s.control.Flush()
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write writes part by part, so that a slow reader has time for each.
func (s *stream) write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		if err = s.deadline(); err == nil {
			var wrote int
			wrote, err = s.ResponseWriter.Write(b[n:min(n+writePart, len(b))])
			n += wrote
		}
	}
	return n, err
}

// deadline gives the next write its time. A writer that knows no deadlines, as
// in tests, goes without.
func (s *stream) deadline() error {
	err := s.control.SetWriteDeadline(s.now().Add(writeTimeout))
	if err != nil && strings.Contains(err.Error(), "not supported") {
		return nil
	}
	return err
}

// pump writes what is queued until the stream is finished or its reader gone.
func (s *stream) pump() {
	defer close(s.over)
	idle := time.NewTimer(keepAlive)
	defer idle.Stop()
	for {
		s.mu.Lock()
		part, closed := s.queue, s.closed
		s.queue = nil
		s.mu.Unlock()
		if len(part) > 0 {
			poke(s.room)
			if !s.send(part) {
				return
			}
			idle.Reset(keepAlive)
			continue
		}
		if closed {
			return
		}
		select {
		case <-s.wake:
		case <-idle.C:
			if !s.send([]byte(": still here\n\n")) {
				return
			}
			idle.Reset(keepAlive)
		}
	}
}

func (s *stream) send(b []byte) bool {
	_, err := s.write(b)
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.gone()
	}
	return err == nil
}

// finish writes the rest and waits for it. The handler calls it before it
// returns, since the response ends with it.
func (s *stream) finish() {
	s.mu.Lock()
	s.closed = true
	events := s.events
	s.mu.Unlock()
	if events {
		poke(s.wake)
		<-s.over
	}
}
