package note

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"handrail/internal/fault"
)

// The bounds of watching: how long the folder must be quiet before changes are
// told, how long they may be held back at most, how many are told one by one,
// and how often the folder is looked at where there are no file events.
const (
	watchQuiet = 100 * time.Millisecond
	watchHold  = time.Second
	watchMost  = 1000
	watchPoll  = 2 * time.Second
)

// Change is a note that changed on disk, by this program or any other.
type Change struct {
	// Path is the note's path, or "" where too much changed to name: then any
	// note may have.
	Path string
	// Listed says that a note came or went, so that a listing changed too.
	Listed bool
}

// Watch tells of changed notes until ctx ends or the vault is closed; then the
// channel is closed. Changes to one note within a tenth of a second are told
// once; a slow reader is told of more than 1,000 notes as one change with no
// path. It uses one file watch for each folder; where the system has no more of
// them it looks every two seconds instead. Faults: unavailable.
func (v *Vault) Watch(ctx context.Context) (<-chan Change, error) {
	return v.watch(ctx, fsnotify.NewWatcher, watchPoll)
}

func (v *Vault) watch(ctx context.Context, open func() (*fsnotify.Watcher, error), poll time.Duration) (<-chan Change, error) {
	w := &watch{v: v, out: make(chan Change, 64), pending: map[string]bool{}, folders: map[string]bool{}}
	events, err := open()
	if err == nil {
		w.events = events
		if err = w.addTree(ctx, ""); err != nil {
			events.Close()
		}
	}
	run := w.follow
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.events = nil
		w.before = w.snapshot(ctx)
		run = func(ctx context.Context) { w.poll(ctx, poll) }
	}
	started := v.index.background(func(closed context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(closed, cancel)()
		defer close(w.out)
		run(ctx)
	})
	if !started {
		if w.events != nil {
			w.events.Close()
		}
		return nil, fault.New(fault.Unavailable, "the notes folder is closed")
	}
	return w.out, nil
}

// watch is one Watch under way; all of it belongs to one goroutine.
type watch struct {
	v       *Vault
	out     chan Change
	events  *fsnotify.Watcher
	folders map[string]bool // watched, by path beneath the root; "" is the root

	pending map[string]bool  // by path; true if a listing changed too
	all     bool             // too much changed to name
	held    <-chan time.Time // when changes have been held back for long enough

	before map[string]version // what poll saw last
}

func (w *watch) note(path string, listed bool) {
	if _, err := ParseNotePath("path", path); err != nil {
		return
	}
	w.pending[path] = w.pending[path] || listed
	if len(w.pending) > watchMost {
		w.everything()
	}
}

func (w *watch) everything() {
	w.all = true
	clear(w.pending)
}

func (w *watch) waiting() bool { return w.all || len(w.pending) > 0 }

// follow turns file events into changes.
func (w *watch) follow(ctx context.Context) {
	defer w.events.Close()
	quiet := time.NewTimer(time.Hour)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.events.Events:
			if !ok {
				return
			}
			w.event(ctx, e)
		case err, ok := <-w.events.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.everything()
				_ = w.addTree(ctx, "") // folders may have come unseen
			}
		case <-quiet.C:
			if !w.tell(ctx) {
				return
			}
		case <-w.held:
			if !w.tell(ctx) {
				return
			}
		}
		if w.waiting() {
			if w.held == nil {
				w.held = time.After(watchHold)
			}
			quiet.Reset(watchQuiet)
		}
	}
}

// tell hands all pending changes over and waits for the reader. It returns false
// when ctx ends.
func (w *watch) tell(ctx context.Context) bool {
	changes := make([]Change, 0, len(w.pending)+1)
	if w.all {
		changes = append(changes, Change{Listed: true})
	}
	for path, listed := range w.pending {
		if !w.all && w.inside(path) {
			changes = append(changes, Change{Path: path, Listed: listed})
		}
	}
	w.all, w.held = false, nil
	clear(w.pending)
	for _, c := range changes {
		select {
		case w.out <- c:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// inside drops what a folder swapped for a link would tell of the outside. A
// note that is gone passes.
func (w *watch) inside(path string) bool {
	p, err := w.v.walkFile("path", strings.Split(path, "/"), noteRule)
	if err == nil {
		p.close()
	}
	return fault.CodeOf(err) != fault.InvalidInput
}

func (w *watch) event(ctx context.Context, e fsnotify.Event) {
	if e.Op == fsnotify.Chmod {
		return // an access time or a mode: the content is the same
	}
	rel, err := filepath.Rel(w.v.paths[0], e.Name)
	if err != nil {
		return
	}
	path := filepath.ToSlash(rel)
	if path == "." {
		path = ""
	}
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if w.folders[path] && gone {
		w.forget(path)
		w.everything()
		return
	}
	if e.Has(fsnotify.Create) && path != "" {
		if names, err := ParseFolderPath("folder", path); err == nil && w.isFolder(names) {
			if w.addTree(ctx, path) != nil {
				w.everything()
			}
			w.notesBeneath(ctx, path)
			return
		}
	}
	w.note(path, gone || e.Has(fsnotify.Create))
}

// isFolder reports whether names lead to a folder that is no link.
func (w *watch) isFolder(names []string) bool {
	last := len(names) - 1
	p, err := w.v.walkFolder("folder", names[:last])
	if err != nil {
		return false
	}
	defer p.close()
	info, err := p.dir.Lstat(names[last])
	return err == nil && info.IsDir()
}

// forget ends the watches of a folder that is gone and of those beneath it.
func (w *watch) forget(path string) {
	for folder := range w.folders {
		if folder == path || path == "" || strings.HasPrefix(folder, path+"/") {
			w.drop(w.native(folder))
			delete(w.folders, folder)
		}
	}
}

// drop ends one watch. fsnotify 1.10.1 panics where the folder was replaced by
// another that is watched too; the watch is gone then as well.
func (w *watch) drop(path string) {
	defer func() { _ = recover() }()
	_ = w.events.Remove(path)
}

func (w *watch) native(path string) string {
	return filepath.Join(w.v.paths[0], filepath.FromSlash(path))
}

// addTree watches the folder path and those beneath it. Its error is one that
// makes watching pointless, such as no watch being left.
func (w *watch) addTree(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := w.events.Add(w.native(path))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		return err
	}
	w.folders[path] = true
	names, err := ParseFolderPath("folder", path)
	if err != nil {
		return nil
	}
	p, err := w.v.walkFolder("folder", names)
	if err != nil {
		return nil
	}
	defer p.close()
	d, err := openTop(p.dir)
	if err != nil {
		return nil
	}
	entries, err := d.entries()
	d.close()
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && nameRule(e.Name()) == "" && len(path)+1+len(e.Name()) < MaxPathBytes {
			if err := w.addTree(ctx, prefixOf(path)+e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// notesBeneath tells of the notes of a folder that has just come, since they
// may have been there before it was watched.
func (w *watch) notesBeneath(ctx context.Context, path string) {
	_ = w.v.inFolder(ctx, path, strings.Split(path, "/"), func(top *os.Root) error {
		s := scan{ctx: ctx, skip: func(string, error) {}, emit: func(b batch) bool {
			defer b.dir.release()
			for _, name := range b.names {
				w.note(b.dir.prefix+name, true)
			}
			return !w.all
		}}
		return s.run(top, prefixOf(path))
	})
}

// poll finds changes by looking at every note now and then.
func (w *watch) poll(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := w.snapshot(ctx)
		for path, version := range now {
			if then, ok := w.before[path]; !ok || then != version {
				w.note(path, !ok)
			}
		}
		for path := range w.before {
			if _, ok := now[path]; !ok {
				w.note(path, true)
			}
		}
		w.before = now
		if w.waiting() && !w.tell(ctx) {
			return
		}
	}
}

func (w *watch) snapshot(ctx context.Context) map[string]version {
	all := map[string]version{}
	s := scan{ctx: ctx, skip: func(string, error) {}, emit: func(b batch) bool {
		defer b.dir.release()
		for _, name := range b.names {
			if seen, err := b.dir.stat(name); err == nil && seen.regular {
				all[b.dir.prefix+name] = seen
			}
		}
		return true
	}}
	_ = s.run(w.v.root, "")
	return all
}
