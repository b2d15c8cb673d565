package mcpserver

import (
	"bytes"
	"container/list"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of what is kept of one user's calls.
const (
	// replayBytes is the most bytes of events. A call that alone says more is
	// forgotten too.
	replayBytes = 1 << 20
	// eventCost and streamCost stand for what an event and a call take beside their
	// bytes.
	eventCost, streamCost = 64, 256
)

// replay keeps what calls in sessions of the handshake era have said, so that a
// client whose connection broke in the middle of one can have the rest. It keeps
// calls only: a notice on the stream beside them says that something changed,
// and a client that was away looks anyway.
//
// It implements mcp.EventStore, whose own in memory keeps something of every
// request until its session ends. Safe for concurrent use.
type replay struct {
	mu    sync.Mutex
	calls map[replayKey]*list.Element // of *said
	order *list.List                  // the call that spoke last stands in front
	bytes int
}

type replayKey struct{ session, stream string }

// said is what one call has said.
type said struct {
	key    replayKey
	events [][]byte
	bytes  int
	over   bool // the last event is the reply
}

func newReplay() *replay {
	return &replay{calls: map[replayKey]*list.Element{}, order: list.New()}
}

// Open implements mcp.EventStore: a stream without a name is the one beside the
// calls.
func (p *replay) Open(_ context.Context, session, stream string) error {
	if stream == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := replayKey{session, stream}
	if p.calls[key] == nil {
		p.calls[key] = p.order.PushFront(&said{key: key, bytes: streamCost})
		p.bytes += streamCost
		p.trim()
	}
	return nil
}

// Append implements mcp.EventStore. What belongs to a call that was forgotten is
// not kept: its events could no longer be counted.
func (p *replay) Append(_ context.Context, session, stream string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.calls[replayKey{session, stream}]
	if e == nil {
		return nil
	}
	s := e.Value.(*said)
	s.events = append(s.events, data)
	s.over = len(data) > 0 && !bytes.Contains(data[:min(len(data), 100)], []byte(`"method":`))
	s.bytes += len(data) + eventCost
	p.bytes += len(data) + eventCost
	p.order.MoveToFront(e)
	p.trim()
	return nil
}

// trim forgets the calls that have been silent the longest.
func (p *replay) trim() {
	for p.bytes > replayBytes {
		p.forget(p.order.Back())
	}
}

func (p *replay) forget(e *list.Element) {
	s := p.order.Remove(e).(*said)
	delete(p.calls, s.key)
	p.bytes -= s.bytes
}

// After implements mcp.EventStore.
func (p *replay) After(_ context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	p.mu.Lock()
	defer p.mu.Unlock()
	var events [][]byte
	var err error
	switch e := p.calls[replayKey{session, stream}]; {
	case e != nil:
		if all := e.Value.(*said).events; index+1 < len(all) {
			events = slices.Clone(all[index+1:])
		}
	case stream != "":
		err = mcp.ErrEventsPurged
	}
	return func(yield func([]byte, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		for _, data := range events {
			if !yield(data, nil) {
				return
			}
		}
	}
}

// nothingLeft reports whether a client that has this event has all of its call.
func (p *replay) nothingLeft(session, event string) bool {
	stream, number, _ := strings.Cut(event, "_")
	index, err := strconv.Atoi(number)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.calls[replayKey{session, stream}]
	if e == nil || err != nil {
		return false
	}
	s := e.Value.(*said)
	return s.over && index >= len(s.events)-1
}

// SessionClosed implements mcp.EventStore.
func (p *replay) SessionClosed(_ context.Context, session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*said).key.session == session {
			p.forget(e)
		}
		e = next
	}
	return nil
}
