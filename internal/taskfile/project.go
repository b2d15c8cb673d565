package taskfile

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"handrail/internal/fault"
)

// Defaults of Options.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultOutputBytes = 64 << 10
	DefaultLogBytes    = 16 << 20
	DefaultQueue       = 8
	DefaultMaxRuns     = 16
	DefaultKeptRuns    = 16
)

// Options are how a project lists, runs and watches. Zero values are the
// defaults; Now is required.
type Options struct {
	// Runner is the runner's path. Without one it is looked for beside Self, the
	// path of the running program, then on PATH, each time anew.
	Runner, Self string
	// Env is the environment of runs, NAME=value: see Environment.
	Env []string
	// AllowRemote has the hosts whose Taskfiles may be included.
	AllowRemote []string
	// RawVars are TASK.VAR whose values are not checked for their place.
	RawVars []string
	// Plan decides what is offered.
	Plan PlanOptions
	// Timeout ends a run.
	Timeout time.Duration
	// OutputBytes is the budget of a result's two streams together, at least 1 KiB.
	OutputBytes int
	// LogDir is where the whole output of recent runs is kept, at most LogBytes a
	// stream and KeptRuns runs; without one a temporary folder, and "-" for none.
	LogDir   string
	LogBytes int64
	KeptRuns int
	// PerTask is how many runs of one task there may be at once (1), Queue how many
	// more may wait for it, and MaxRuns how many runs there may be in all.
	PerTask, Queue, MaxRuns int
	// Now tells the time.
	Now func() time.Time
	// NewID makes the id of a run.
	NewID func() string
	// Log is told of roots and reloads; nil: nobody is.
	Log *slog.Logger
	// Quiet is how long files must rest before a reload (200 ms).
	Quiet time.Duration
}

func (o Options) withDefaults() Options {
	o.Timeout = or(o.Timeout, DefaultTimeout)
	o.OutputBytes = max(1<<10, or(o.OutputBytes, DefaultOutputBytes))
	o.LogBytes = or(o.LogBytes, DefaultLogBytes)
	o.KeptRuns = or(o.KeptRuns, DefaultKeptRuns)
	o.PerTask = or(o.PerTask, 1)
	o.Queue = or(o.Queue, DefaultQueue)
	o.MaxRuns = or(o.MaxRuns, DefaultMaxRuns)
	o.Quiet = or(o.Quiet, 200*time.Millisecond)
	if o.NewID == nil {
		o.NewID = func() string { return strings.ToLower(rand.Text()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// Project is a set of roots that are listed, watched and run. It is safe for
// concurrent use. Close ends it.
type Project struct {
	o     Options
	queue *queue
	logs  *logs
	ctx   context.Context
	stop  context.CancelFunc
	// changing makes SetRoots one at a time.
	changing sync.Mutex
	changes  chan struct{}
	temp     string
	listing  chan struct{} // a token for each listing runner

	// mu guards roots and the making of plans, so that a later plan is never made
	// from older state.
	mu    sync.Mutex
	roots []*root
	sum   [32]byte
	plan  atomic.Pointer[Plan]
}

// OpenRoots opens some folders and waits until each is listed, or cannot be. A
// folder without a Taskfile, or with a wrong one, is a root without tasks that is
// watched until it has some. It faults with InvalidInput where a folder's path is
// not absolute or given twice.
func OpenRoots(ctx context.Context, dirs []string, o Options) (*Project, error) {
	o = o.withDefaults()
	p := &Project{o: o, queue: newQueue(o.PerTask, o.Queue, o.MaxRuns), changes: make(chan struct{}, 1), listing: make(chan struct{}, 4)}
	p.logs = &logs{dir: o.LogDir, runs: o.KeptRuns, most: o.LogBytes}
	switch o.LogDir {
	case "-":
		p.logs.dir = ""
	case "":
		forgetOldLogs(o.Now())
		temp, err := os.MkdirTemp("", tempLogs)
		if err != nil {
			o.Log.Warn("no logs of runs are kept", "event", "runs.no_logs", "error", plainError(err))
		}
		p.temp, p.logs.dir = temp, temp
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.plan.Store(&Plan{})
	if err := p.SetRoots(ctx, dirs); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Plan is what the roots offer now.
func (p *Project) Plan() *Plan { return p.plan.Load() }

// Changes gets one token when the plan has changed since the last one was taken.
func (p *Project) Changes() <-chan struct{} { return p.changes }

// Close stops the watching and removes temporary logs. It does not end runs:
// their contexts do.
func (p *Project) Close() {
	p.stop()
	p.changing.Lock()
	defer p.changing.Unlock()
	p.mu.Lock()
	roots := p.roots
	p.roots = nil
	p.mu.Unlock()
	for _, r := range roots {
		r.end()
	}
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// SetRoots replaces the roots. Those that stay are not touched, however their
// paths are written; new ones are listed before it returns, as far as the
// context allows. It faults as OpenRoots does, and then changes nothing.
func (p *Project) SetRoots(ctx context.Context, dirs []string) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.ctx.Err() != nil {
		return fault.New(fault.Unavailable, "the roots are closed")
	}
	wanted := make([]*root, 0, len(dirs))
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			return fault.New(fault.InvalidInput, "a root must be an absolute path")
		}
		r := newRoot(p, dir)
		if slices.ContainsFunc(wanted, func(other *root) bool { return other.uri == r.uri }) {
			continue // the same folder, written in another way
		}
		wanted = append(wanted, r)
	}
	p.mu.Lock()
	old := p.roots
	var fresh []*root
	for i, r := range wanted {
		if at := slices.IndexFunc(old, func(o *root) bool { return o.uri == r.uri }); at >= 0 {
			wanted[i] = old[at]
			continue
		}
		fresh = append(fresh, r)
	}
	p.roots = wanted
	p.mu.Unlock()
	for _, r := range old {
		if !slices.Contains(wanted, r) {
			r.end()
		}
	}
	for _, r := range fresh {
		r.begin()
	}
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		for _, r := range fresh {
			<-r.ready // closed when the root ends, too
		}
		p.replan() // also where nobody waits any more
	}()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replan makes the plan of the roots as they are, and announces it if it differs.
func (p *Project) replan() {
	p.mu.Lock()
	defer p.mu.Unlock()
	loaded := make([]Loaded, len(p.roots))
	for i, r := range p.roots {
		loaded[i] = Loaded{Dir: r.dir, URI: r.uri, Listing: r.listing()}
	}
	plan := NewPlan(loaded, p.o.Plan)
	sum := plan.sum()
	before := p.plan.Load()
	if before.Generation > 0 && sum == p.sum {
		return
	}
	plan.Generation, p.sum = before.Generation+1, sum
	p.plan.Store(plan)
	select {
	case p.changes <- struct{}{}:
	default:
	}
}

// rootAt is the root of a plan, if it is still there.
func (p *Project) rootAt(uri string) *root {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.roots {
		if r.uri == uri {
			return r
		}
	}
	return nil
}

// runner is the runner's path.
func (p *Project) runner() (string, error) {
	if p.o.Runner != "" {
		return p.o.Runner, nil
	}
	return FindRunner(p.o.Self)
}

// Status says which tasks of a root are up to date, by the fingerprints of their
// sources and of what they generate: nil where a command would decide. root is a
// name or URI of the plan. It runs no command and writes nothing. It faults with
// NotFound and Unavailable.
func (p *Project) Status(ctx context.Context, root string) (map[string]*bool, error) {
	plan := p.Plan()
	at := slices.IndexFunc(plan.Roots, func(r RootInfo) bool { return r.Name == root || r.URI == root })
	if at < 0 {
		return nil, fault.New(fault.NotFound, "there is no root %q", root)
	}
	r := p.rootAt(plan.Roots[at].URI)
	if r == nil {
		return nil, fault.New(fault.Unavailable, "the root %q is going away; try again", root)
	}
	path, err := p.runner()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	reply, err := exchange(ctx, p.spec(path, r.dir), Order{Op: OpStatus, Dir: r.dir, AllowRemote: p.o.AllowRemote})
	return reply.UpToDate, err
}

func (p *Project) spec(path, dir string) spec {
	return spec{path: path, dir: dir, id: p.o.NewID(), env: p.o.Env}
}

// FileURI is the canonical file URI of an absolute path.
func FileURI(path string) string {
	path = filepath.ToSlash(filepath.Clean(path))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// RootDir is the folder that a client's file URI means. It faults with
// InvalidInput where the URI is not one of a local folder.
func RootDir(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Opaque != "" {
		return "", fault.New(fault.InvalidInput, "a root must be a file:// URI of a local folder")
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fault.New(fault.InvalidInput, "a root must be a file:// URI of a local folder")
	}
	return filepath.Clean(path), nil
}
