package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/go-task/task/v3"
	taskerrors "github.com/go-task/task/v3/errors"
	"github.com/go-task/task/v3/taskfile"
	"github.com/go-task/task/v3/taskfile/ast"

	"handrail/internal/fault"
	domain "handrail/internal/taskfile"
)

// run runs one task to its end.
func run(ctx context.Context, order domain.Order) domain.Reply {
	r, err := load(ctx, order.Dir, order.AllowRemote)
	if err == nil {
		err = supported(r.merged)
	}
	if err != nil {
		return refuse(fault.New(fault.Unavailable, "%s", message(err, order.Dir)))
	}
	e, err := setUp(r)
	if err != nil {
		return domain.Reply{Done: &domain.Done{Err: message(err, order.Dir)}}
	}
	name, err := prepare(e, order)
	if err != nil {
		return refuse(err)
	}
	notes := &notes{forward: os.Stderr, name: name}
	e.Logger.Stdout, e.Logger.Stderr, e.Logger.Verbose = notes, notes, true
	err = e.Run(ctx, &task.Call{Task: name})
	return domain.Reply{Done: outcome(ctx, err, notes, order.Dir)}
}

// setUp makes the executor of one run: the exact entrypoint, nothing fetched,
// plain output, and what a task prints straight to the descriptors that the
// server gave us.
func setUp(r *root) (*task.Executor, error) {
	e := task.NewExecutor(
		task.WithDir(r.dir),
		task.WithEntrypoint(r.entrypoint),
		task.WithTempDirPath(os.Getenv("TASK_TEMP_DIR")),
		task.WithTimeout(loadTimeout),
		task.WithOffline(true),
		task.WithVersionCheck(true),
		task.WithDisableFuzzy(true),
		task.WithColor(false),
		task.WithOutputStyle(ast.Output{Name: "interleaved"}),
		task.WithStdin(os.Stdin),
		task.WithStdout(os.Stdout),
		task.WithStderr(os.Stderr),
	)
	e.UserWorkingDir = r.dir
	if err := e.Setup(); err != nil {
		return nil, err
	}
	// It was read once more: nothing may have come in by that.
	for t := range e.Taskfile.Tasks.Values(nil) {
		if t.Location != nil && taskfile.IsRemoteEntrypoint(t.Location.Taskfile) {
			if _, known := r.merged.Tasks.Get(t.Task); !known {
				return nil, errors.New("the Taskfile changed while it was read")
			}
		}
	}
	// Commands of variables print to the task's stderr; only the executor's own
	// words are filtered.
	own := *e.Logger
	e.Compiler.Logger = &own
	return e, nil
}

// prepare checks the call against the very tasks that will run, and hands its
// values over as `task NAME VAR=value` would: to the task, and to all that it
// calls. It returns the name to call.
func prepare(e *task.Executor, order domain.Order) (string, error) {
	t, ok := e.Taskfile.Tasks.Get(order.Task)
	if !ok || t.Internal {
		return "", fault.New(fault.NotFound, "there is no task %q any more", order.Task)
	}
	f := newFlow(e.Taskfile)
	d := domain.Decl{Task: t.Task, Aliases: t.Aliases, Vars: offer(t, e.Taskfile)}
	tr := f.follow(t, d.Vars)
	for i, v := range d.Vars {
		d.Vars[i].Places = tr.found(v.Name)
	}
	d.Match, d.Reason = tr.found("MATCH"), reason(t, tr)
	values, err := domain.Check(d, order.Vars, order.Match, order.Raw)
	if err != nil {
		return "", err
	}
	name := domain.Fill(order.Task, order.Match)
	if hit, err := domain.Hit(f.names, name); err != nil || hit != order.Task {
		return "", fault.New(fault.InvalidInput, "MATCH: %q is the name of another task, %q", name, hit)
	}
	for key, value := range values {
		v := ast.Var{Value: value}
		if old, ok := e.Taskfile.Vars.Get(key); ok {
			v.Secret = old.Secret
		}
		e.Taskfile.Vars.Set(key, v)
		// An include keeps a copy of the variables above it, which would win.
		for t := range e.Taskfile.Tasks.Values(nil) {
			if _, ok := t.IncludedTaskfileVars.Get(key); ok {
				t.IncludedTaskfileVars.Set(key, v)
			}
		}
	}
	special := ast.NewVars()
	special.Set("CLI_ARGS", ast.Var{Value: ""})
	special.Set("CLI_ARGS_LIST", ast.Var{Value: []string{}})
	for _, flag := range []string{"CLI_FORCE", "CLI_SILENT", "CLI_VERBOSE", "CLI_ASSUME_YES"} {
		special.Set(flag, ast.Var{Value: flag == "CLI_ASSUME_YES" && order.Yes})
	}
	special.Set("CLI_OFFLINE", ast.Var{Value: true})
	e.Taskfile.Vars.ReverseMerge(special, nil)
	e.Logger.AssumeYes = order.Yes
	dropUnwieldy(e.Taskfile, tr.tasks)
	return name, nil
}

// dropUnwieldy removes tasks whose names break go-task's search for wildcards and
// that this run does not need.
func dropUnwieldy(merged *ast.Taskfile, needed map[string]bool) {
	kept := ast.NewTasks()
	for name, t := range merged.Tasks.All(nil) {
		if !unwieldy(name, t.Aliases) || needed[name] {
			kept.Set(name, t)
		}
	}
	merged.Tasks = kept
}

func unwieldy(name string, aliases []string) bool {
	return domain.Unwieldy(name) || slices.ContainsFunc(aliases, domain.Unwieldy)
}

// outcome turns go-task's error into what a caller is told.
func outcome(ctx context.Context, err error, n *notes, dir string) *domain.Done {
	done := &domain.Done{Err: message(err, dir)}
	code := 0
	if ran, ok := errors.AsType[*taskerrors.TaskRunError](err); ok {
		code = innermost(ran).TaskExitCode()
	} else if err != nil {
		return done
	}
	if ctx.Err() != nil {
		return done // whatever the code is, it is not the task's own
	}
	done.ExitCode = &code
	if err == nil {
		done.Skipped = n.skipped()
	}
	return done
}

// innermost is the run that failed first, in a task that others called.
func innermost(err *taskerrors.TaskRunError) *taskerrors.TaskRunError {
	if inner, ok := errors.AsType[*taskerrors.TaskRunError](err.Err); ok {
		return innermost(inner)
	}
	return err
}

// ended adds how many processes had to be ended.
func ended(r domain.Reply, left int) domain.Reply {
	if r.Done != nil {
		r.Done.Left = left
	}
	return r
}

// notes takes what go-task says by itself. It keeps what tells how the run went,
// drops what the silent mode would not show, and lets the rest pass.
type notes struct {
	mu       sync.Mutex
	forward  io.Writer
	name     string
	finished bool
	why      string
}

// dropped begin the words that only the verbose mode has.
var dropped = []string{
	`task: [`, `task: skipping execution of task: `, `task: error cleaning status`, `task: ignored error in deferred`,
	`task: dynamic variable: `, `task: task error ignored`, `task: status command `, `task: if condition not met`,
}

// Write takes one message, which go-task prints with one call.
func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := string(p)
	if rest, ok := strings.CutPrefix(text, fmt.Sprintf("task: %q ", n.name)); ok {
		switch {
		case strings.HasPrefix(rest, "finished"):
			n.finished = true
		case strings.HasPrefix(rest, "not for current platform"):
			n.why = "it is not for this platform"
		}
	}
	switch {
	case strings.HasPrefix(text, "task: Task ") && strings.HasSuffix(text, " is up to date\n"):
		n.why = "it is up to date"
		return len(p), nil
	case strings.HasPrefix(text, fmt.Sprintf("task: if condition not met - skipped: %q", n.name)):
		n.why = "its condition (if) is not met"
	case strings.HasPrefix(text, `task: "`), strings.HasSuffix(text, " [assuming yes]\n"):
		return len(p), nil
	}
	for _, head := range dropped {
		if strings.HasPrefix(text, head) {
			return len(p), nil
		}
	}
	if _, err := n.forward.Write(p); err != nil {
		return len(p), nil // nobody reads any more
	}
	return len(p), nil
}

// skipped says why a run that succeeded did nothing, or nothing.
func (n *notes) skipped() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.finished {
		return ""
	}
	return n.why
}
