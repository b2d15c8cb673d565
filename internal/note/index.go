package note

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what searches remember: bytes of memory, and how many unknown
// notes a search must have read before it is worth remembering anything.
const (
	maxIndexBytes   = 64 << 20
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
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	building atomic.Bool
	folders  atomic.Pointer[catalog]
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
	x.cancel()
	x.wg.Wait()
}

// background runs do until it ends or the vault is closed.
func (x *index) background(do func(ctx context.Context)) {
	x.wg.Go(func() { do(x.ctx) })
}

// in returns what is known of the notes of a folder, perhaps nothing.
func (x *index) in(prefix string) map[string]known {
	if c := x.folders.Load(); c != nil {
		return (*c)[prefix]
	}
	return nil
}

// learn starts to build the index anew if a search had to read many notes that
// it did not know, and nobody is at it already.
func (x *index) learn(v *Vault, unknown int) {
	if unknown < indexWorthwhile || !x.building.CompareAndSwap(false, true) {
		return
	}
	x.background(func(ctx context.Context) {
		defer x.building.Store(false)
		if next, err := x.build(ctx, v); err == nil {
			x.folders.Store(&next)
		}
	})
}

// build walks everything and keeps what is still right of the index before.
func (x *index) build(ctx context.Context, v *Vault) (catalog, error) {
	next := catalog{}
	size := 0
	buf := make([]byte, v.limits.MaxReadBytes+1)
	var maker sieveMaker
	s := scan{ctx: ctx, skip: func(string, error) {}, emit: func(b batch) bool {
		defer b.dir.release()
		before := x.in(b.dir.prefix)
		notes := next[b.dir.prefix]
		if notes == nil {
			notes = map[string]known{}
			next[b.dir.prefix] = notes
		}
		for _, name := range b.names {
			k, ok := before[name]
			if !ok || !b.dir.still(name, k.version) {
				if k, ok = b.dir.sift(name, buf, &maker); !ok {
					continue
				}
			}
			if size += 8*len(k.sieve) + len(name) + 120; size > maxIndexBytes {
				return false
			}
			notes[name] = k
		}
		return true
	}}
	return next, s.run(v.root, "")
}

// still reports whether the file name has that version now.
func (d *folder) still(name string, then version) bool {
	now, err := d.stat(name)
	return err == nil && now == then
}

// sift makes the sieve of a note. It refuses one that changed so lately that a
// further change might not show, one that search would skip, one that changed
// while it was read, and, for want of a time that no program can set back, every
// note on Windows.
func (d *folder) sift(name string, buf []byte, maker *sieveMaker) (known, bool) {
	now := time.Now()
	text, seen, err := d.readAll(name, buf)
	if err != nil || !seen.settled(now) || seen.ctime == 0 || isUTF16(text) || int64(len(text)) != seen.size {
		return known{}, false
	}
	return known{seen, maker.make(text)}, d.still(name, seen)
}
