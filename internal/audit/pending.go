package audit

import (
	"context"
	"sync"
	"time"
)

// Pending is the record of a call that is under way. The door makes one for
// each call and puts it into the context; a store that changes data takes the
// entry from it inside its own transaction, so that the change and its record
// commit together or not at all. Safe for concurrent use.
type Pending struct {
	mu      sync.Mutex
	entry   Entry
	began   time.Time
	now     func() time.Time
	settled bool
}

// NewPending begins the record of a call. now is the clock, and is read once
// here and once for each entry taken.
func NewPending(user, tool, callID string, raw []byte, now func() time.Time) *Pending {
	p := &Pending{began: now(), now: now}
	p.entry = Entry{At: p.began, User: user, Tool: tool, CallID: callID}
	p.entry.SetArgs(raw)
	return p
}

// Entry is the call's entry if it ended now with this outcome and fault code
// (empty where there was none).
func (p *Pending) Entry(outcome Outcome, code string) Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry
	e.Outcome, e.Code = outcome, code
	e.Duration = max(0, p.now().Sub(p.began))
	return e
}

// Settle says that an entry for the end of this call is committed, so that
// nobody writes another.
func (p *Pending) Settle() {
	p.mu.Lock()
	p.settled = true
	p.mu.Unlock()
}

// Settled reports whether the end of the call is on the record.
func (p *Pending) Settled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settled
}

type pendingKey struct{}

// With puts the record of the running call into the context.
func With(ctx context.Context, p *Pending) context.Context {
	return context.WithValue(ctx, pendingKey{}, p)
}

// From is the record of the running call, or nil outside of one.
func From(ctx context.Context) *Pending {
	p, _ := ctx.Value(pendingKey{}).(*Pending)
	return p
}
