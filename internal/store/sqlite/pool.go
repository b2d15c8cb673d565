package sqlite

import (
	"context"
	"errors"
	"sync"

	"handrail/internal/fault"
)

// maxReaders is how many reads run at once; each has a connection that cannot
// write, opened when it is first needed.
const maxReaders = 4

// pool lends connections for reading.
type pool struct {
	file  file
	opt   Options
	still bool // nobody here keeps the write-ahead log open: see borrow
	slots chan struct{}

	mu     sync.Mutex
	idle   []*reader
	closed bool
	warm   chan struct{} // closed when the first connection is there; nil where none is awaited
}

// reader is a connection, and what the file looked like when it was opened.
type reader struct {
	*conn
	seen mark
	mode string
}

func newPool(f file, opt Options, still bool) *pool {
	return &pool{file: f, opt: opt, still: still, slots: make(chan struct{}, maxReaders)}
}

// prepare opens the first connection while the program does other things.
func (p *pool) prepare() {
	p.warm = make(chan struct{})
	go func() {
		defer close(p.warm)
		r, err := p.open(context.Background())
		if err != nil {
			return // whoever needs one will see
		}
		for _, q := range []query{place, scanTitles} {
			if _, err := r.prepared(context.Background(), q); err != nil {
				break
			}
		}
		p.giveBack(r, false)
	}()
}

var errClosed = errors.New("the database is closed")

// read runs do with a connection, again where a lock could not be had at once,
// which SQLite does not always wait for. Where this process does not write, the file
// may lie still, without a write-ahead log; it is then read without locks, and
// read again if it changed meanwhile.
func (p *pool) read(ctx context.Context, do func(*conn) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return asFault(ctx.Err())
	}
	return asFault(untilFree(ctx, p.opt.BusyTimeout, func() error {
		for try := 0; ; try++ {
			r, err := p.borrow(ctx)
			if err != nil {
				return err
			}
			err = do(r.conn)
			stale := r.mode == readStill && p.changed(r)
			p.giveBack(r, stale)
			if !stale || try == 20 {
				return err
			}
		}
	}))
}

func (p *pool) changed(r *reader) bool {
	now, err := p.file.mark()
	return err != nil || now != r.seen
}

func (p *pool) borrow(ctx context.Context) (*reader, error) {
	if p.warm != nil {
		<-p.warm
	}
	for {
		r, err := p.pop()
		if err != nil {
			return nil, err
		}
		if r == nil {
			return p.open(ctx)
		}
		if r.mode == readStill && p.changed(r) {
			_ = r.close()
			continue
		}
		return r, nil
	}
}

func (p *pool) pop() (*reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault.Wrap(errClosed, fault.Unavailable, "the task database is closed")
	}
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r, nil
	}
	return nil, nil
}

func (p *pool) open(ctx context.Context) (*reader, error) {
	r := &reader{mode: readShared}
	if p.still {
		seen, err := p.file.mark()
		if err != nil {
			return nil, err
		}
		if r.seen = seen; !seen.wal {
			r.mode = readStill
		}
	}
	c, err := dial(context.WithoutCancel(ctx), p.file.dsn(r.mode, p.opt.BusyTimeout))
	if err != nil {
		return nil, err
	}
	r.conn = c
	return r, nil
}

func (p *pool) giveBack(r *reader, stale bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stale || p.closed {
		_ = r.close()
		return
	}
	p.idle = append(p.idle, r)
}

func (p *pool) close() {
	if p.warm != nil {
		<-p.warm
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, r := range p.idle {
		_ = r.close()
	}
	p.idle = nil
}
