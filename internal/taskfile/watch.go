package taskfile

import (
	"log/slog"
	"os"
	"path/filepath"
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
	done  chan struct{}

	mu    sync.Mutex
	dirs  map[string]map[string]bool // folder → names in it that matter
	paths []string
}

func newWatch(log *slog.Logger) *watch {
	w := &watch{dirty: make(chan struct{}, 1), log: log, done: make(chan struct{}), dirs: map[string]map[string]bool{}}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("files are polled: the system gives no more file events", "event", "watcher.unavailable", "error", err.Error())
		close(w.done)
		return w
	}
	w.fs = fs
	go w.listen()
	return w
}

func (w *watch) works() bool { return w.fs != nil }

func (w *watch) close() {
	if w.fs != nil {
		_ = w.fs.Close()
	}
	<-w.done
}

func (w *watch) listen() {
	defer close(w.done)
	for {
		select {
		case event, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if w.known(event.Name) {
				w.mark()
			}
		case err, ok := <-w.fs.Errors:
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

// set replaces what is watched.
func (w *watch) set(paths []string) {
	if w.fs == nil {
		return
	}
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
	old := w.dirs
	w.dirs, w.paths = wanted, paths
	w.mu.Unlock()
	for dir := range old {
		if wanted[dir] == nil {
			_ = w.fs.Remove(dir)
		}
	}
	w.addAll(wanted)
}

// again repeats the watches, since a folder that was removed and made anew has
// lost its own.
func (w *watch) again() {
	if w.fs != nil {
		w.mu.Lock()
		paths := w.paths
		w.mu.Unlock()
		w.set(paths)
	}
}

func (w *watch) addAll(dirs map[string]map[string]bool) {
	for dir := range dirs {
		// Adding a folder twice is nothing; adding it after it was replaced is what
		// makes it watched again.
		if err := w.fs.Add(dir); err != nil && !os.IsNotExist(err) {
			w.log.Debug("a folder cannot be watched and is polled", "event", "watcher.add_failed", "error", err.Error())
		}
	}
}

// follow names every folder and name in it on which a path depends: each link on
// the way and where it leads, the file, its folder, and where those do not exist
// the first part that is missing.
func follow(path string, want func(dir, name string)) {
	for range 40 { // as many links as the system follows
		dir, name := filepath.Dir(path), filepath.Base(path)
		next := ""
		for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
			info, err := os.Lstat(at)
			switch {
			case err != nil:
				dir, name = filepath.Dir(at), filepath.Base(at)
			case info.Mode()&os.ModeSymlink != 0:
				want(filepath.Dir(at), filepath.Base(at))
				if target, err := os.Readlink(at); err == nil {
					rest, _ := filepath.Rel(at, path)
					if !filepath.IsAbs(target) {
						target = filepath.Join(filepath.Dir(at), target)
					}
					next = filepath.Join(target, rest)
				}
			}
		}
		want(dir, name)
		if parent := filepath.Dir(dir); parent != dir {
			want(parent, filepath.Base(dir))
		}
		if next == "" {
			return
		}
		path = next
	}
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
