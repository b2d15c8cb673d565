package note

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what searches remember: bytes of memory, bytes of it that a note
// takes beside its sieve, and how many unknown notes a search must have read
// before it is worth remembering anything.
const (
	maxIndexBytes   = 64 << 20
	indexOverhead   = 150
	indexWorthwhile = 200
)

// index remembers between searches what notes cannot contain: a sieve for each
// note, about an eighth of its size, within maxIndexBytes. It holds no text.
//
// It is never trusted alone. A search walks the folders as they are, and a note
// is passed over only if the file system still reports the very version (size,
// times, file number) that its sieve was made of. Nothing is built before the
// first search that would have gained from it, and then in the background.
type index struct {
	ctx      context.Context // ends with the vault
	cancel   context.CancelFunc
	mu       sync.Mutex // guards closed against new background work
	closed   bool
	wg       sync.WaitGroup
	building atomic.Bool
	// refused is how many notes the last building could not take in.
	refused atomic.Int64
	folders atomic.Pointer[catalog]
}

// catalog is one state of the index: by the folder's path with a closing slash,
// then by name. It is not changed once it is there.
type catalog map[string]map[string]known

// known is what is known of one note.
type known struct {
	version version
	sieve   sieve
}

func (x *index) start() { x.ctx, x.cancel = context.WithCancel(context.Background()) }

func (x *index) stop() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.cancel()
	x.wg.Wait()
}

// background runs do until it ends or the vault is closed. It returns false, and
// runs nothing, where the vault is closed already.
func (x *index) background(do func(ctx context.Context)) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.wg.Go(func() { do(x.ctx) })
	}
	return !x.closed
}

// in returns what is known of the notes of a folder, perhaps nothing.
func (x *index) in(prefix string) map[string]known {
	if c := x.folders.Load(); c != nil {
		return (*c)[prefix]
	}
	return nil
}

// learn starts to build the index anew if a search had to read many notes that
// it did not know and could have known, and nobody is at it already.
func (x *index) learn(v *Vault, unknown int64) {
	if unknown-x.refused.Load() < indexWorthwhile || !x.building.CompareAndSwap(false, true) {
		return
	}
	x.background(func(ctx context.Context) {
		defer x.building.Store(false)
		if next, err := x.build(ctx, v); err == nil {
			x.folders.Store(&next)
		}
	})
}

// build makes the next catalog. It looks at all notes first, then waits until
// the clocks of their file systems have ticked, then reads those that it did not
// know: so whatever changes after the reading has another version.
func (x *index) build(ctx context.Context, v *Vault) (catalog, error) {
	next, fresh, wait, err := x.survey(ctx, v)
	if err != nil || len(fresh) == 0 {
		return next, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(wait):
	}
	size, taken := next.size(), 0
	most := max(maxIndexBytes/(next.count()+len(fresh))-indexOverhead, 0) / 8
	buf := &buffer{most: v.limits.MaxReadBytes}
	var maker sieveMaker
	err = visit(ctx, v, func(d *folder, name string) bool {
		seen, ok := fresh[d.prefix+name]
		if !ok {
			return true
		}
		if text, now, err := d.readAll(name, buf); err == nil && now == seen && int64(len(text)) == seen.size && !isUTF16(text) {
			k := known{seen, maker.make(text, most)}
			if size += k.size(name); size > maxIndexBytes {
				return false
			}
			next.add(d.prefix, name, k)
			taken++
		}
		return true
	})
	x.refused.Store(int64(len(fresh) - taken))
	return next, err
}

// survey keeps what is still right of the catalog before, and finds what is new
// and how long to wait before it is read. It takes no notes where the file
// system has no ctime (Windows): another time can be set back by anybody.
func (x *index) survey(ctx context.Context, v *Vault) (next catalog, fresh map[string]version, wait time.Duration, err error) {
	next, fresh = catalog{}, map[string]version{}
	err = visit(ctx, v, func(d *folder, name string) bool {
		now, err := d.stat(name)
		if err != nil || !now.regular || now.ctime == 0 {
			return true
		}
		if k, ok := x.in(d.prefix)[name]; ok && k.version == now {
			next.add(d.prefix, name, k)
		} else {
			fresh[d.prefix+name] = now
			wait = max(wait, now.tick())
		}
		return true
	})
	return next, fresh, wait, err
}

// visit calls do for each note until it returns false.
func visit(ctx context.Context, v *Vault, do func(d *folder, name string) bool) error {
	s := scan{ctx: ctx, skip: func(string, error) {}, emit: func(b batch) bool {
		defer b.dir.release()
		for _, name := range b.names {
			if !do(b.dir, name) {
				return false
			}
		}
		return true
	}}
	return s.run(v.root, "")
}

func (c catalog) add(prefix, name string, k known) {
	if c[prefix] == nil {
		c[prefix] = map[string]known{}
	}
	c[prefix][name] = k
}

// size is about how many bytes of memory the catalog takes.
func (c catalog) size() (n int) {
	for _, notes := range c {
		for name, k := range notes {
			n += k.size(name)
		}
	}
	return n
}

func (c catalog) count() (n int) {
	for _, notes := range c {
		n += len(notes)
	}
	return n
}

func (k known) size(name string) int { return 8*len(k.sieve) + len(name) + indexOverhead }

// still reports whether the file name has that version now.
func (d *folder) still(name string, then version) bool {
	now, err := d.stat(name)
	return err == nil && now == then
}
