package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"handrail/internal/audit"
	"handrail/internal/fault"
)

const (
	// maxQueued bounds the entries that wait in memory. Above it Queue blocks
	// until the writer has committed them or given up on them: losing entries
	// quietly would be worse than a slower answer, and the wait is bounded by
	// the busy timeout.
	maxQueued = 4096
	// linger is how long a queued entry waits for company; with the commit it
	// stays below the 50 ms of the contract.
	linger = 20 * time.Millisecond
)

// op is a change that waits for the writer.
type op struct {
	run   func(context.Context, *tx) error
	state atomic.Int32
	err   error
	done  chan struct{}
}

// The states of an op. Whoever moves it out of waiting decides.
const (
	waiting int32 = iota
	begun
	skipped
)

// writer owns the only connection that writes. Its goroutine takes everything
// that waits, commits it as one transaction and then answers.
type writer struct {
	file file
	opt  Options
	tx   *tx
	home os.FileInfo // the file that was opened

	wake    chan struct{}
	stopped chan struct{}

	mu      sync.Mutex
	ops     []*op
	entries []audit.Entry
	room    *sync.Cond // signalled when entries were taken
	lingers *time.Timer
	closed  bool
}

func startWriter(c *conn, f file, opt Options) *writer {
	w := &writer{
		file: f, opt: opt, tx: newTx(c, opt.Now),
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	w.home, _ = os.Stat(f.abs)
	w.room = sync.NewCond(&w.mu)
	w.lingers = time.AfterFunc(time.Hour, w.ring)
	go w.loop()
	return w
}

// ring wakes the goroutine; a second ring before it woke changes nothing.
func (w *writer) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// do hands a change to the writer and waits for its commit. A change whose
// context ends before its transaction began is not made; after that the caller
// waits for the result, whatever the context says.
func (w *writer) do(ctx context.Context, run func(context.Context, *tx) error) error {
	if err := ctx.Err(); err != nil {
		return asFault(err)
	}
	o := &op{run: run, done: make(chan struct{})}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return fault.Wrap(errClosed, fault.Unavailable, "the task database is closed; nothing was changed")
	}
	w.ops = append(w.ops, o)
	w.mu.Unlock()
	w.ring()
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
	}
	if o.state.CompareAndSwap(waiting, skipped) {
		return asFault(ctx.Err())
	}
	<-o.done
	return o.err
}

// queue hands an entry over; it blocks only while maxQueued others wait.
func (w *writer) queue(e audit.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.entries) >= maxQueued && !w.closed {
		w.room.Wait()
	}
	if w.closed {
		w.opt.Report(fmt.Errorf("a call was not recorded: %w", errClosed))
		return
	}
	w.entries = append(w.entries, e)
	switch len(w.entries) {
	case 1:
		w.lingers.Reset(linger)
	case maxQueued / 2:
		w.ring()
	}
}

// close commits what waits and lets go of the file.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.lingers.Stop()
	w.room.Broadcast()
	w.mu.Unlock()
	w.ring()
	<-w.stopped
	return w.tx.conn.close()
}

func (w *writer) loop() {
	defer close(w.stopped)
	for range w.wake {
		gather()
		ops, entries, closed := w.take()
		if len(ops) > 0 || len(entries) > 0 {
			w.batch(ops, entries)
		}
		if closed {
			return
		}
	}
}

// gather gives the callers that were just answered a moment to come back with
// their next change, so that they share the next commit instead of splitting
// into halves that take turns.
func gather() {
	for range 4 {
		runtime.Gosched()
	}
}

func (w *writer) take() ([]*op, []audit.Entry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ops, entries := w.ops, w.entries
	w.ops, w.entries = nil, nil
	w.room.Broadcast()
	return ops, entries, w.closed
}

// batch commits everything in one transaction and then answers.
func (w *writer) batch(ops []*op, entries []audit.Entry) {
	failed := w.commit(ops, entries)
	if failed != nil {
		failed = asFault(failed)
		if len(entries) > 0 {
			w.opt.Report(fmt.Errorf("%d calls were not recorded: %w", len(entries), failed))
		}
	}
	for _, o := range ops {
		if o.state.Load() == skipped {
			continue
		}
		if failed != nil {
			o.state.Store(begun)
			o.err = failed
		}
		close(o.done)
	}
}

// commit makes one transaction of the entries and the ops. An op that fails is
// rolled back alone and keeps its error; an error of the whole is returned.
func (w *writer) commit(ops []*op, entries []audit.Entry) (err error) {
	ctx := context.Background()
	if err := w.sameFile(); err != nil {
		return err
	}
	if err := w.tx.begin(ctx, w.opt.BusyTimeout); err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.tx.alone(ctx, func(ctx context.Context, t *tx) error { return t.record(ctx, e) }); err != nil {
			w.opt.Report(fmt.Errorf("a call of %s was not recorded: %w", e.Tool, err))
		}
	}
	for _, o := range ops {
		if o.state.CompareAndSwap(waiting, begun) {
			o.err = asFault(w.tx.alone(ctx, o.run))
		}
	}
	return w.tx.commit(ctx)
}

// sameFile refuses to write into a file that was removed or replaced: nobody
// would ever read what it acknowledges.
func (w *writer) sameFile() error {
	info, err := os.Stat(w.file.abs)
	if err == nil && w.home != nil && !os.SameFile(info, w.home) {
		err = errors.New("another file is in its place")
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the task database was moved or removed; nothing was changed")
	}
	return nil
}
