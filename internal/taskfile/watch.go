package taskfile

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"

	"handrail/internal/fault"
)

// watch notices changes of files by watching the folders they are in, so that
// files that are replaced, removed and made anew are noticed too.
type watch struct {
	dirty chan struct{} // a token when something changed
	log   *slog.Logger
	fs    *fsnotify.Watcher // nil where the system gives none
	done  sync.WaitGroup

	mu    sync.Mutex
	dirs  map[string]map[string]bool // folder → names in it that matter
	paths []string
}

func newWatch(log *slog.Logger) *watch { return &watch{dirty: make(chan struct{}, 1), log: log} }

func (w *watch) works() bool { return w.fs != nil }

func (w *watch) close() {
	if w.fs != nil {
		_ = w.fs.Close()
	}
	w.done.Wait()
}

func (w *watch) listen(fs *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-fs.Events:
			if !ok {
				return
			}
			if w.known(event.Name) {
				w.mark()
			}
		case err, ok := <-fs.Errors:
			if !ok {
				return
			}
			w.log.Debug("file events were lost", "event", "watcher.error", "error", err.Error())
			w.mark() // events may be missing
		}
	}
}

func (w *watch) mark() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

func (w *watch) known(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, isDir := w.dirs[path]; isDir {
		return true // the folder itself is gone or new
	}
	return w.dirs[filepath.Dir(path)][filepath.Base(path)]
}

// set replaces what is watched. It begins anew each time, since a folder that was
// removed and made anew has lost its watch, and since a watcher that is asked to
// forget a folder which another one has replaced does not survive it (fsnotify
// 1.10.1). The new one listens before the old one ends.
func (w *watch) set(paths []string) {
	wanted := map[string]map[string]bool{}
	for _, path := range paths {
		follow(path, func(dir, name string) {
			if wanted[dir] == nil {
				wanted[dir] = map[string]bool{}
			}
			wanted[dir][name] = true
		})
	}
	w.mu.Lock()
	w.dirs, w.paths = wanted, paths
	w.mu.Unlock()
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		w.log.Warn("files are polled: the system gives no more file events", "event", "watcher.unavailable", "error", err.Error())
		fs = nil
	} else {
		w.done.Go(func() { w.listen(fs) })
		for dir := range wanted {
			if err := fs.Add(dir); err != nil && !os.IsNotExist(err) {
				w.log.Debug("a folder cannot be watched and is polled", "event", "watcher.add_failed", "error", err.Error())
			}
		}
	}
	if w.fs != nil {
		_ = w.fs.Close()
	}
	w.fs = fs
}

// again repeats the watches.
func (w *watch) again() { w.set(w.paths) }

// follow names every folder and name in it on which a path depends: each link on
// the way and where it leads, the file, its folder, and where those do not exist
// the first part that is missing. No folder is named through a link: the system
// would take it for the same folder under another name, and tell of one of them.
func follow(path string, want func(dir, name string)) {
	for range 40 { // as many links as the system follows
		next := ""
		at := path
		for _, part := range partsOf(path) {
			at = part
			info, err := os.Lstat(part)
			if err != nil {
				break
			}
			if info.Mode()&os.ModeSymlink == 0 {
				continue
			}
			if target, err := os.Readlink(part); err == nil {
				rest, _ := filepath.Rel(part, path)
				if !filepath.IsAbs(target) {
					target = filepath.Join(filepath.Dir(part), target)
				}
				next = filepath.Join(target, rest)
			}
			break
		}
		dir := filepath.Dir(at)
		want(dir, filepath.Base(at))
		if parent := filepath.Dir(dir); parent != dir {
			want(parent, filepath.Base(dir))
		}
		if next == "" {
			return
		}
		path = next
	}
}

// partsOf are a path's ancestors from the top, and the path itself.
func partsOf(path string) (parts []string) {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		parts = append(parts, path)
	}
	slices.Reverse(parts)
	return parts
}

// isFolder says in a caller's words what is wrong with a root.
func isFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the root's folder is not there")
	}
	if !info.IsDir() {
		return fault.New(fault.Unavailable, "the root is not a folder")
	}
	return nil
}
