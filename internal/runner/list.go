package runner

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/go-task/task/v3"
	"github.com/go-task/task/v3/taskfile"
	"github.com/go-task/task/v3/taskfile/ast"

	domain "handrail/internal/taskfile"
)

// list says what a root has. It evaluates no command, fetches nothing, and
// writes nothing.
func list(ctx context.Context, dir string, allowRemote []string) (listing *domain.Listing) {
	r := &root{dir: dir, files: newFiles()}
	defer func() {
		if p := recover(); p != nil {
			listing = &domain.Listing{Error: message(fmt.Errorf("go-task does not understand it: %v", p), dir)}
		}
		listing.Files = r.files.list
	}()
	loaded, err := load(ctx, dir, allowRemote)
	r = loaded
	if err == nil {
		err = supported(r.merged)
	}
	if err != nil {
		return &domain.Listing{Error: message(err, dir)}
	}
	r.dotenvFiles()
	return &domain.Listing{Tasks: describe(r)}
}

// supported refuses a schema that this go-task does not know, as the task
// command would.
func supported(merged *ast.Taskfile) error {
	v := merged.Version
	if v == nil {
		return nil // an earlier check says so
	}
	if v.Major() < 3 {
		return fmt.Errorf("its version %s is no longer supported; 3 is", v)
	}
	major, minor, ok := library()
	if ok && (v.Major() > major || v.Major() == major && v.Minor() > minor) {
		return fmt.Errorf("its version %s is newer than the task library %d.%d of this runner", v, major, minor)
	}
	return nil
}

// library is the version of go-task that is linked in.
func library() (major, minor uint64, ok bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return 0, 0, false
	}
	for _, dep := range info.Deps {
		if dep.Path != "github.com/go-task/task/v3" {
			continue
		}
		parts := strings.SplitN(strings.TrimPrefix(dep.Version, "v"), ".", 3)
		if len(parts) < 2 {
			return 0, 0, false
		}
		major, err := strconv.ParseUint(parts[0], 10, 64)
		if err != nil {
			return 0, 0, false
		}
		minor, err := strconv.ParseUint(parts[1], 10, 64)
		return major, minor, err == nil
	}
	return 0, 0, false
}

// describe is every task but the internal ones, in the Taskfile's order.
func describe(r *root) []domain.Decl {
	f := newFlow(r.merged)
	say := newSayer(r)
	var all []domain.Decl
	for _, t := range r.merged.Tasks.All(nil) {
		if !t.Internal {
			all = append(all, f.declare(t, say))
		}
	}
	return all
}

// declare is one task as a caller may run it.
func (f *flow) declare(t *ast.Task, say *sayer) domain.Decl {
	d := domain.Decl{Task: t.Task, Aliases: t.Aliases, Vars: offer(t, f.merged)}
	d.Desc, d.Summary = say.about(t)
	tr := f.follow(t, d.Vars)
	d.Prompts = tr.prompts
	d.Reason = reason(t, tr)
	for i, v := range d.Vars {
		d.Vars[i].Places = tr.found(v.Name)
	}
	if d.Wildcards() > 0 {
		d.Match = tr.found("MATCH")
	}
	return d
}

// reason says why a task can have no tool, or nothing.
func reason(t *ast.Task, tr *trip) string {
	switch {
	case t.Watch:
		return "it watches files and never ends (watch: true)"
	case t.Interactive:
		return "it needs a terminal (interactive: true)"
	case strings.Contains(t.Task, "*") && domain.Unwieldy(t.Task):
		return "go-task cannot match its name, which is no valid pattern"
	}
	if tr.badly == "" {
		return tr.unsearchable()
	}
	return tr.badly
}

// sayer fills in the descriptions of tasks.
type sayer struct {
	executor *task.Executor
}

func newSayer(r *root) *sayer {
	e := task.NewExecutor(task.WithDir(r.dir), task.WithEntrypoint(r.entrypoint))
	e.Taskfile = r.merged
	e.UserWorkingDir = r.dir
	e.Compiler = &task.Compiler{
		Dir: r.dir, Entrypoint: r.entrypoint, UserWorkingDir: r.dir,
		TaskfileEnv: r.merged.Env, TaskfileVars: r.merged.Vars,
	}
	return &sayer{executor: e}
}

// about is a task's description and summary with the static variables filled in
// and every secret value masked.
func (s *sayer) about(t *ast.Task) (desc, summary string) {
	if !strings.Contains(t.Desc, "{{") && !strings.Contains(t.Summary, "{{") {
		return t.Desc, t.Summary
	}
	compiled, err := s.executor.CompiledTaskForTaskList(&task.Call{Task: t.Task})
	if err != nil {
		return t.Desc, t.Summary
	}
	desc, summary = compiled.Desc, compiled.Summary
	for _, v := range compiled.Vars.All() {
		if text, ok := v.Value.(string); ok && v.Secret && text != "" {
			desc = strings.ReplaceAll(desc, text, "*****")
			summary = strings.ReplaceAll(summary, text, "*****")
		}
	}
	return desc, summary
}

// dotenvFiles notes the .env files of the root and of its tasks, and makes the
// values of the root's known to descriptions. Paths that depend on a command or
// a caller are left out.
func (r *root) dotenvFiles() {
	var plain []string // a pipe, as password managers make them, is read by runs only
	for _, path := range r.merged.Dotenv {
		if at := fill(path, r.merged.Vars, r.dir, r.entrypoint); at != "" {
			r.files.add(absolute(r.dir, at))
			if info, err := os.Stat(absolute(r.dir, at)); err == nil && info.Mode().IsRegular() && info.Size() <= largestTaskfile {
				plain = append(plain, path)
			}
		}
	}
	for _, t := range r.merged.Tasks.All(nil) {
		for _, path := range t.Dotenv {
			if !strings.Contains(path, "{{") && path != "" {
				r.files.add(absolute(absolute(r.dir, t.Dir), path))
			}
		}
	}
	if len(plain) == 0 {
		return
	}
	compiler := &task.Compiler{Dir: r.dir, Entrypoint: r.entrypoint, TaskfileEnv: r.merged.Env, TaskfileVars: r.merged.Vars}
	vars, err := compiler.FastGetVariables(nil, nil)
	if err != nil {
		return
	}
	values, err := taskfile.Dotenv(vars, &ast.Taskfile{Dotenv: plain}, r.dir)
	if err != nil {
		return // the run will say so
	}
	for name, v := range values.All() {
		if _, ok := r.merged.Env.Get(name); !ok {
			v.Secret = true // a description that shows it would show a password
			r.merged.Env.Set(name, v)
		}
	}
}
