package taskfile

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"handrail/internal/fault"
)

const (
	// listTimeout bounds a listing, with the start of the runner.
	listTimeout = 60 * time.Second
	// longestUnrest is when a reload happens even if files never rest.
	longestUnrest = 2 * time.Second
	// pollTime and pollAlone are how often files are looked at besides the events
	// of the file system, and where there are none.
	pollTime  = 10 * time.Second
	pollAlone = time.Second
)

// root is one folder: what the runner said of it last, and the goroutine that
// keeps that up to date.
type root struct {
	p        *Project
	dir, uri string
	ctx      context.Context
	cancel   context.CancelFunc
	ready    chan struct{} // closed after the first listing
	done     chan struct{} // closed when the goroutine has ended

	mu   sync.Mutex
	said Listing
}

func newRoot(p *Project, dir string) *root {
	r := &root{p: p, dir: filepath.Clean(dir), ready: make(chan struct{}), done: make(chan struct{})}
	r.uri = FileURI(r.dir)
	r.ctx, r.cancel = context.WithCancel(p.ctx)
	return r
}

func (r *root) begin() { go r.keep() }

// end stops the goroutine and waits for it.
func (r *root) end() {
	r.cancel()
	<-r.done
}

func (r *root) listing() Listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}

// keep lists the root, watches what the listing reached, and lists it again when
// any of it changes.
func (r *root) keep() {
	defer close(r.done)
	w := newWatch(r.p.o.Log)
	defer w.close()
	first := true
	for {
		files := r.list()
		if r.ctx.Err() != nil {
			if first {
				close(r.ready)
			}
			return
		}
		w.set(r.paths(files))
		if first {
			close(r.ready)
			first = false
		} else {
			r.p.replan()
		}
		// A change before the watch was set has no event.
		if !stale(files) && !r.wait(w, files) {
			return
		}
		if !r.rest(w) {
			return
		}
	}
}

// list asks the runner, and keeps its answer.
func (r *root) list() []File {
	listing, err := r.ask()
	if r.ctx.Err() != nil {
		return nil
	}
	r.mu.Lock()
	if err != nil {
		// The runner cannot say what to watch: what it said last is watched on.
		listing = Listing{Files: r.said.Files, Error: fault.Of(err).Message}
		if listing.Error == "" {
			listing.Error = "the runner failed"
		}
	}
	r.said = listing
	r.mu.Unlock()
	if listing.Error != "" {
		r.p.o.Log.Warn("a root cannot be loaded", "event", "root.load_failed", "root_uri", r.uri, "error", listing.Error, "cause", err)
	} else {
		r.p.o.Log.Debug("a root is loaded", "event", "root.loaded", "root_uri", r.uri, "tasks", len(listing.Tasks))
	}
	return listing.Files
}

func (r *root) ask() (Listing, error) {
	select {
	case r.p.listing <- struct{}{}:
		defer func() { <-r.p.listing }()
	case <-r.ctx.Done():
		return Listing{}, r.ctx.Err()
	}
	path, err := r.p.runner()
	if err != nil {
		return Listing{}, err
	}
	if err := isFolder(r.dir); err != nil {
		return Listing{}, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, listTimeout)
	defer cancel()
	reply, err := exchange(ctx, r.p.spec(path, r.dir), Order{Op: OpList, Dir: r.dir, AllowRemote: r.p.o.AllowRemote})
	if err != nil {
		return Listing{}, err
	}
	if reply.Listing == nil {
		return Listing{}, fault.New(fault.Internal, "the runner gave no listing")
	}
	return *reply.Listing, nil
}

// standardNames are the names that a Taskfile may have, the first that exists
// being the one.
var standardNames = []string{
	"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml",
	"Taskfile.dist.yml", "taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml",
}

// paths is what has to be watched: what the listing reached, and at least the
// standard names.
func (r *root) paths(files []File) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	for _, name := range standardNames {
		all = append(all, filepath.Join(r.dir, name))
	}
	return all
}

// stale reports whether a file is no longer as the listing found it.
func stale(files []File) bool {
	for _, f := range files {
		if Sum(f.Path) != f.Sum {
			return true
		}
	}
	return false
}

// wait waits for a change, and reports whether there is one rather than the end.
func (r *root) wait(w *watch, files []File) bool {
	every := pollTime
	if !w.works() {
		every = pollAlone
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.dirty:
			return true
		case <-tick.C:
			w.again()
			if len(files) == 0 || stale(files) {
				return true
			}
		case <-r.ctx.Done():
			return false
		}
	}
}

// rest waits until nothing has changed for a while.
func (r *root) rest(w *watch) bool {
	quiet := time.NewTimer(r.p.o.Quiet)
	defer quiet.Stop()
	limit := time.NewTimer(longestUnrest)
	defer limit.Stop()
	for {
		select {
		case <-w.dirty:
			quiet.Reset(r.p.o.Quiet)
		case <-quiet.C:
			return true
		case <-limit.C:
			return true
		case <-r.ctx.Done():
			return false
		}
	}
}
