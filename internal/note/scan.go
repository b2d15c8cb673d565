package note

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

var (
	errNotRegular = errors.New("note: not a regular file")
	errLarge      = errors.New("note: larger than may be read")
)

// version is what the file system tells about a file's content without reading
// it. Two equal versions mean equal content, if the content was read at least a
// [version.tick] after the first was seen.
type version struct {
	regular      bool
	size         int64
	mtime, ctime int64 // nanoseconds since 1970; ctime 0 where there is none
	file, device uint64
}

func (s version) modified() time.Time { return time.Unix(0, s.mtime) }

// tick is how long to wait after seeing a version until no further change can
// have the same: the clock of a local file system ticks every few milliseconds,
// that of others every two seconds at worst (FAT), which times in whole
// milliseconds give away.
func (s version) tick() time.Duration {
	if s.ctime%int64(time.Millisecond) == 0 {
		return 2500 * time.Millisecond
	}
	return 50 * time.Millisecond
}

// buffer is memory that notes are read into one after another. It grows to what
// they need and to no more than most.
type buffer struct {
	most  int
	bytes []byte
}

// room returns the part of the buffer that a file of this version fills: all of
// it, or its beginning, or errLarge where it must be whole and is not.
func (b *buffer) room(seen version, whole bool) ([]byte, error) {
	switch {
	case !seen.regular:
		return nil, errNotRegular
	case whole && seen.size > int64(b.most):
		return nil, errLarge
	}
	n := int(min(seen.size, int64(b.most)))
	if n > cap(b.bytes) {
		b.bytes = make([]byte, n+n/4)
	}
	return b.bytes[:n], nil
}

// readHead returns the beginning of the regular file name, in buf, and its
// version when it was opened.
func (d *folder) readHead(name string, buf *buffer) ([]byte, version, error) {
	return d.read(name, buf, false)
}

// readAll is readHead for a file that must fit into buf; errLarge where it does
// not.
func (d *folder) readAll(name string, buf *buffer) ([]byte, version, error) {
	return d.read(name, buf, true)
}

// handle counts who still needs an open folder.
type handle struct {
	prefix string // the folder's path with a closing slash, "" for the top
	users  atomic.Int32
}

// release closes d when its last user is done.
func (d *folder) release() {
	if d.users.Add(-1) == 0 {
		d.close()
	}
}

// batch is a run of notes of one folder, in order. names are regular files by
// what the folder says; they may be something else by the time they are opened.
type batch struct {
	dir   *folder
	names []string
	skips []Unsearched // names in between that the rules refuse
}

// batchSize keeps workers busy and a stopped scan cheap.
const batchSize = 64

// scan visits the notes beneath a folder in the order of their paths' bytes.
type scan struct {
	ctx context.Context
	// after leaves out every path up to and including this one.
	after string
	// emit takes a batch and its release; false ends the scan.
	emit func(batch) bool
	// skip takes what could not be looked at.
	skip func(path string, err error)
}

var errStop = errors.New("note: scan stopped")

// run scans the folder top, whose path with a closing slash is prefix.
func (s *scan) run(top *os.Root, prefix string) error {
	d, err := openTop(top)
	if err != nil {
		return err
	}
	d.prefix = prefix
	entries, err := d.entries()
	if err != nil {
		d.close()
		return err // unlike a folder below, which is skipped
	}
	if err := s.folder(d, entries); err != errStop {
		return err
	}
	return nil
}

// item is an entry with the key that orders it among paths: a folder's path goes
// on with a slash, which sorts before letters and behind "-" and ".".
type item struct {
	name string
	dir  bool
	rule string
}

func (i item) byPath(j item) int {
	n := min(len(i.name), len(j.name))
	if c := cmp.Compare(i.name[:n], j.name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(i.tail(n), j.tail(n))
}

func (i item) tail(n int) int {
	switch {
	case n < len(i.name):
		return int(i.name[n]) + 1
	case i.dir:
		return '/' + 1
	}
	return 0
}

func (s *scan) folder(d *folder, entries []fs.DirEntry) error {
	d.users.Store(1)
	defer d.release()
	if err := s.ctx.Err(); err != nil {
		return err
	}
	var b batch
	for _, it := range s.items(d.prefix, entries) {
		switch {
		case it.dir:
			if err := s.flush(d, &b); err != nil {
				return err
			}
			if err := s.sub(d, it.name); err != nil {
				return err
			}
		case it.rule != "":
			b.skips = append(b.skips, Unsearched{Path: d.prefix + it.name, Reason: "its path " + it.rule})
		default:
			if b.names = append(b.names, it.name); len(b.names) == batchSize {
				if err := s.flush(d, &b); err != nil {
					return err
				}
			}
		}
	}
	return s.flush(d, &b)
}

// items picks the folders and notes that a scan goes through, in order. Links
// are left out: what a link may lead to lies in the root under a name of its own
// and is visited there, once.
func (s *scan) items(prefix string, entries []fs.DirEntry) []item {
	items := make([]item, 0, len(entries))
	for _, e := range entries {
		it := item{name: e.Name(), dir: e.IsDir()}
		if !it.dir && (!e.Type().IsRegular() || !isNoteName(it.name)) {
			continue
		}
		if it.rule = nameRule(it.name); it.rule == "" && len(prefix)+len(it.name) > MaxPathBytes {
			it.rule = "is longer than 1024 bytes"
		}
		if it.rule != "" && (it.dir || !showable(it.name)) {
			continue
		}
		if s.after != "" && s.passed(prefix+it.name, it.dir) {
			continue
		}
		items = append(items, it)
	}
	slices.SortFunc(items, item.byPath)
	return items
}

// passed reports whether everything at path lies before the place where the
// scan begins.
func (s *scan) passed(path string, dir bool) bool {
	if !dir {
		return path <= s.after
	}
	return path+"/" <= s.after && !strings.HasPrefix(s.after, path+"/")
}

// showable says whether a refused name may be told to a caller: text that is
// not hidden.
func showable(name string) bool {
	return name[0] != '.' && strings.ToValidUTF8(name, "") == name &&
		strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F || isInvisible(r) }) < 0
}

func (s *scan) sub(d *folder, name string) error {
	var entries []fs.DirEntry
	sub, err := d.openSub(name)
	if err == nil {
		if entries, err = sub.entries(); err != nil {
			sub.close()
		}
	}
	if err != nil {
		if !isNotExist(err) {
			s.skip(d.prefix+name, err)
		}
		return nil
	}
	sub.prefix = d.prefix + name + "/"
	return s.folder(sub, entries)
}

func (s *scan) flush(d *folder, b *batch) error {
	if len(b.names) == 0 && len(b.skips) == 0 {
		return nil
	}
	b.dir = d
	d.users.Add(1)
	full := *b
	*b = batch{}
	if !s.emit(full) {
		return errStop
	}
	return s.ctx.Err()
}

// walkFolders calls visit for every folder that a scan would enter.
func (v *Vault) walkFolders(ctx context.Context, visit func(dir *os.Root, names []string)) error {
	return walkRoots(ctx, v.root, 0, visit)
}

func walkRoots(ctx context.Context, dir *os.Root, depth int, visit func(dir *os.Root, names []string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := dir.Open(".")
	if err != nil {
		return nil // gone or unreadable: nothing of ours can be there
	}
	entries, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	visit(dir, names)
	for _, e := range entries {
		if !e.IsDir() || nameRule(e.Name()) != "" || depth > MaxPathBytes/2 {
			continue
		}
		info, err := dir.Lstat(e.Name())
		if err != nil || !info.IsDir() {
			continue
		}
		sub, err := openFolder(dir, e.Name(), info)
		if err != nil {
			continue
		}
		err = walkRoots(ctx, sub, depth+1, visit)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
