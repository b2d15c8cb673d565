package note

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"handrail/internal/fault"
)

// lockWait is how long a write waits for another process to finish with the
// folder before it gives up with unavailable.
const lockWait = 10 * time.Second

// Vault is one root folder of notes. It is safe for concurrent use, also by
// several processes on one folder. Nothing is read ahead when it is opened.
type Vault struct {
	root   *os.Root
	home   fs.FileInfo // of root
	paths  []string    // the root's absolute path: real, and as it was given
	limits Limits

	// writing lets one write at a time into the queue for a folder's lock, so
	// that callers in this process are served in turn.
	writing  chan struct{}
	lockWait time.Duration

	swept sync.Once
	index index
	close sync.Once
}

// Open opens the folder root, which may be a link to a folder. It returns
// not_found where there is none and invalid_input where it is no folder.
// Close releases it.
func Open(root string, limits Limits) (*Vault, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidInput, "root: is not a usable path")
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "root: there is no such folder")
	}
	if info, err := os.Stat(real); err == nil && !info.IsDir() {
		return nil, fault.New(fault.InvalidInput, "root: is not a folder")
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "root: the folder cannot be opened")
	}
	home, err := dir.Stat(".")
	if err != nil {
		dir.Close()
		return nil, fault.Wrap(err, fault.Unavailable, "root: the folder cannot be opened")
	}
	v := &Vault{
		root: dir, home: home, paths: []string{real}, limits: limits.withDefaults(),
		writing: make(chan struct{}, 1), lockWait: lockWait,
	}
	if given != real {
		v.paths = append(v.paths, given)
	}
	v.index.start()
	return v, nil
}

// Close releases the folder and waits for what runs in the background. Calls
// after it fail.
func (v *Vault) Close() error {
	var err error
	v.close.Do(func() {
		v.index.stop()
		err = v.root.Close()
	})
	return err
}

// atHome refuses to work in a folder that was moved or removed since it was
// opened: a person looks where the root's path leads, and would find nothing of
// what is written there.
func (v *Vault) atHome() error {
	info, err := os.Stat(v.paths[len(v.paths)-1])
	if err == nil && os.SameFile(info, v.home) {
		return nil
	}
	// Without the cause, which callers would take for a name that is not there.
	return fault.New(fault.Unavailable, "the notes folder was moved or removed since the server started; put it back, or start the server again")
}

// Limits returns the bounds in force, defaults filled in.
func (v *Vault) Limits() Limits { return v.limits }

// place is where a walk ended.
type place struct {
	dir  *os.Root // the folder that holds name, or where missing begins
	keep bool     // dir is the vault's own root and stays open
	// missing are the folders between dir and name that do not exist.
	missing []string
	name    string
	info    fs.FileInfo // nil where there is no such name
}

func (p *place) close() {
	if p.dir != nil && !p.keep {
		p.dir.Close()
	}
}

// absoluteTarget returns the names beneath the root of an absolute link target.
func (v *Vault) absoluteTarget(target string) ([]string, bool) {
	for _, root := range v.paths {
		if names, ok := underRoot(root, target); ok {
			return names, true
		}
	}
	return nil, false
}

func splitSlash(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// cutRoot returns the names of target beneath root; equal compares names as the
// platform does.
func cutRoot(root, target string, equal func(a, b string) bool) ([]string, bool) {
	top, names := splitSlash(root), splitSlash(target)
	if len(names) < len(top) {
		return nil, false
	}
	for i, name := range top {
		if !equal(name, names[i]) {
			return nil, false
		}
	}
	return names[len(top):], true
}
