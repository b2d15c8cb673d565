package taskfile

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"handrail/internal/fault"
)

// tempLogs begins the names of folders for logs that end with their server, and
// staleLogs is after what time one is somebody's who could not end properly.
const (
	tempLogs  = "handrail-runs-"
	staleLogs = 7 * 24 * time.Hour
)

// forgetOldLogs removes what servers left that were killed.
func forgetOldLogs(now time.Time) {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), tempLogs+"*"))
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() && now.Sub(info.ModTime()) > staleLogs {
			_ = os.RemoveAll(folder)
		}
	}
}

// logs keeps the output of the latest runs in files, and forgets older ones.
type logs struct {
	dir  string // "" where no logs are kept
	runs int
	most int64 // bytes of one stream

	mu   sync.Mutex
	kept []string // run ids, oldest first
}

// runLogs are the files of one run; nil ones take nothing.
type runLogs struct {
	owner    *logs
	id       string
	out, err *logFile
}

func (l *logs) path(id, stream string) string { return filepath.Join(l.dir, id+"."+stream) }

// open makes the files of a run. A disk that takes none costs the log, not the
// run.
func (l *logs) open(id string) *runLogs {
	r := &runLogs{owner: l, id: id}
	if l.dir == "" {
		return r
	}
	// It may be gone, since folders for temporary files are tidied.
	err := os.MkdirAll(l.dir, 0o700)
	if err != nil {
		return r
	}
	if r.out, err = openLog(l.path(id, Stdout), l.most); err != nil {
		return &runLogs{owner: l, id: id}
	}
	if r.err, err = openLog(l.path(id, Stderr), l.most); err != nil {
		r.discard()
		return &runLogs{owner: l, id: id}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, id)
	for len(l.kept) > l.runs {
		l.remove(l.kept[0])
		l.kept = l.kept[1:]
	}
	return r
}

func (l *logs) remove(id string) {
	_ = os.Remove(l.path(id, Stdout))
	_ = os.Remove(l.path(id, Stderr))
}

func (r *runLogs) close() {
	r.out.close()
	r.err.close()
}

// discard forgets the logs of a run that was never started.
func (r *runLogs) discard() {
	r.close()
	if r.out == nil && r.err == nil {
		return
	}
	r.owner.mu.Lock()
	defer r.owner.mu.Unlock()
	r.owner.kept = slices.DeleteFunc(r.owner.kept, func(id string) bool { return id == r.id })
	r.owner.remove(r.id)
}

// Log is everything that a recent run printed to Stdout or Stderr, cleaned, up to
// the bound of a log. It faults with NotFound where there is no such run any more.
func (p *Project) Log(id, stream string) ([]byte, error) {
	p.logs.mu.Lock()
	known := slices.Contains(p.logs.kept, id) && (stream == Stdout || stream == Stderr)
	p.logs.mu.Unlock()
	if !known {
		return nil, fault.New(fault.NotFound, "there is no log of a run %q any more", id)
	}
	text, err := os.ReadFile(p.logs.path(id, stream))
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "there is no log of a run %q any more", id)
	}
	return text, nil
}

// Runs are the ids of the runs whose logs are kept, oldest first.
func (p *Project) Runs() []string {
	p.logs.mu.Lock()
	defer p.logs.mu.Unlock()
	return slices.Clone(p.logs.kept)
}
