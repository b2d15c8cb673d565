package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-task/task/v3"
	"github.com/go-task/task/v3/taskfile/ast"

	"handrail/internal/fault"
	domain "handrail/internal/taskfile"
)

// status says which tasks are up to date by their sources and what they
// generate. It runs no command and writes nothing; where a command would decide,
// the answer is nil.
func status(ctx context.Context, order domain.Order) domain.Reply {
	r, err := load(ctx, order.Dir, order.AllowRemote)
	if err != nil {
		return refuse(fault.New(fault.Unavailable, "%s", message(err, order.Dir)))
	}
	e := newSayer(r).executor
	e.Dry = true
	e.TempDir = task.TempDir{Fingerprint: fingerprints(r.dir)}
	if r.merged.Method == "" {
		r.merged.Method = "checksum"
	}
	all := map[string]*bool{}
	patience := time.After(statusTimeout)
	stuck := false
	for name, t := range r.merged.Tasks.All(nil) {
		switch {
		case ctx.Err() != nil:
			return refuse(fault.New(fault.Cancelled, "the caller gave up"))
		case t.Internal:
			continue
		case stuck:
			all[name] = nil
			continue
		}
		answer := make(chan *bool, 1)
		go func() { answer <- upToDate(e, t, r.merged) }()
		select {
		case all[name] = <-answer:
		case <-patience:
			all[name], stuck = nil, true
		}
	}
	return domain.Reply{UpToDate: all}
}

// statusTimeout bounds the fingerprints of all tasks of a root together. It ends
// before the listing that waits for them: among the sources there may be a pipe,
// whose end nobody knows, or more than can be read. What is not known by then is
// told as such.
const statusTimeout = 10 * time.Second

// fingerprints is where the task command keeps its checksums.
func fingerprints(dir string) string {
	temp := os.Getenv("TASK_TEMP_DIR")
	switch {
	case filepath.IsAbs(temp):
		return filepath.Join(temp, filepath.Base(dir))
	case temp != "" && !strings.HasPrefix(temp, "~"):
		return filepath.Join(dir, temp)
	}
	return filepath.Join(dir, ".task")
}

func upToDate(e *task.Executor, t *ast.Task, merged *ast.Taskfile) (answer *bool) {
	no := false
	if len(t.Sources) == 0 {
		if len(t.Status) > 0 {
			return nil
		}
		return &no // such a task always runs
	}
	if strings.Contains(t.Task, "*") || needsCommands(t, merged) {
		return nil
	}
	defer func() {
		if recover() != nil {
			answer = nil // a template that go-task does not survive
		}
	}()
	compiled, err := e.FastCompiledTask(&task.Call{Task: t.Task})
	if err != nil {
		return nil
	}
	commands := len(compiled.Status) > 0
	compiled.Status = nil
	out, err := e.ToEditorOutput([]*ast.Task{compiled}, false, false)
	if err != nil || len(out.Tasks) != 1 || out.Tasks[0].UpToDate == nil {
		return nil
	}
	if *out.Tasks[0].UpToDate && commands {
		return nil
	}
	return out.Tasks[0].UpToDate
}

// needsCommands reports whether the files of a task may depend on a variable
// that only a command could tell.
func needsCommands(t *ast.Task, merged *ast.Taskfile) bool {
	templated := strings.Contains(t.Dir+t.Label+t.Method, "{{")
	for _, globs := range [][]*ast.Glob{t.Sources, t.Generates} {
		for _, g := range globs {
			templated = templated || g != nil && strings.Contains(g.Glob, "{{")
		}
	}
	if !templated {
		return false
	}
	for _, vars := range []*ast.Vars{merged.Env, merged.Vars, t.IncludeVars, t.IncludedTaskfileVars, t.Vars} {
		for _, v := range vars.All() {
			if v.Sh != nil {
				return true
			}
		}
	}
	return false
}
