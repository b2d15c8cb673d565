package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-task/task/v3"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/runner"
	"handrail/internal/taskfile"
)

// A stage is where tasks are played without consequences: go-task itself fills in
// the templates, the shell that it uses expands every word, and in the place of
// programs, files and folders stands a book that keeps what was asked for.
type stage struct {
	mu   sync.Mutex // the parts of a pipeline play at once
	book []string   // one line for each program, builtin, file and pattern
	deep int
}

// descend reports whether there is room for one more task or shell inside
// another, down to most. If so, ascend comes after it.
func (s *stage) descend(most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deep >= most {
		return false
	}
	s.deep++
	return true
}

func (s *stage) ascend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deep--
}

func (s *stage) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.book)
}

// canary is a secret that only a value which expands could show, and pwn a
// program that only one which executes could start.
const canary = "canary-7f3a"

// perform plays a task with a caller's values, and returns the book.
func perform(ctx context.Context, dir, name string, vars map[string]any, match []string) ([]string, error) {
	e, called, err := runner.Rehearse(ctx, taskfile.Order{Op: taskfile.OpRun, Dir: dir, Task: name, Vars: vars, Match: match})
	if err != nil {
		return nil, err
	}
	s := &stage{}
	err = s.task(ctx, e, &task.Call{Task: called})
	return s.noted(), err
}

// task plays one task with all that it calls, one after the other.
func (s *stage) task(ctx context.Context, e *task.Executor, call *task.Call) error {
	if !s.descend(20) {
		return errors.New("too deep")
	}
	defer s.ascend()
	t, err := e.CompiledTask(call)
	if err != nil {
		return err
	}
	env := []string{"CANARY=" + canary, "HOME=/home/me"}
	for name, v := range t.Env.All() {
		env = append(env, fmt.Sprintf("%s=%v", name, v.Value))
	}
	s.note("dir", relative(e.Dir, t.Dir))
	for _, g := range append(t.Sources, t.Generates...) {
		s.note("glob", g.Glob)
	}
	for _, d := range t.Deps {
		if err := s.task(ctx, e, &task.Call{Task: d.Task, Vars: d.Vars}); err != nil {
			return err
		}
	}
	scripts := append([]string{t.If}, t.Status...)
	for _, p := range t.Preconditions {
		scripts = append(scripts, p.Sh)
	}
	for _, script := range scripts {
		if err := s.shell(ctx, script, env); err != nil {
			return err
		}
	}
	for _, c := range t.Cmds {
		if err := s.shell(ctx, c.If, env); err != nil {
			return err
		}
		if c.Task != "" {
			s.note("task", c.Task)
			if err := s.task(ctx, e, &task.Call{Task: c.Task, Vars: c.Vars}); err != nil {
				return err
			}
			continue
		}
		if err := s.shell(ctx, c.Cmd, env); err != nil {
			return err
		}
	}
	return nil
}

func relative(base, path string) string {
	if rel, err := filepath.Rel(base, path); err == nil {
		return rel
	}
	return path
}

func (s *stage) note(kind string, words ...string) {
	line := kind
	for _, w := range words {
		line += fmt.Sprintf(" %q", w)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book = append(s.book, line)
}

// shell plays a script. That it fails is no matter; that it cannot be parsed is.
func (s *stage) shell(ctx context.Context, script string, env []string) error {
	if script == "" {
		return nil
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return fmt.Errorf("%q: %w", script, err)
	}
	return s.play(ctx, file, expand.ListEnviron(env...), strings.NewReader(""), io.Discard, nil)
}

func (s *stage) play(ctx context.Context, file *syntax.File, env expand.Environ, stdin io.Reader, stdout io.Writer, params []string) error {
	r, err := interp.New(
		interp.Env(env), interp.StdIO(stdin, stdout, io.Discard), interp.Params(append([]string{"--"}, params...)...),
		interp.CallHandler(func(_ context.Context, args []string) ([]string, error) {
			s.note("call", args...)
			if args[0] == "cd" {
				return []string{"true"}, nil
			}
			return args, nil
		}),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(func(_ context.Context, path string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
			s.note("open", relative(mustGetwd(), path))
			if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
				return closer{new(bytes.Buffer)}, nil
			}
			return closer{bytes.NewBufferString("call pwn from-a-file\n")}, nil
		}),
		interp.ReadDirHandler2(func(_ context.Context, path string) ([]fs.DirEntry, error) {
			s.note("readdir", path)
			return nil, fs.ErrNotExist
		}),
		interp.StatHandler(func(context.Context, string, bool) (fs.FileInfo, error) { return nil, fs.ErrNotExist }),
	)
	if err != nil {
		return err
	}
	if err := r.Run(ctx, file); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

func mustGetwd() string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return wd
}

type closer struct{ *bytes.Buffer }

func (closer) Close() error { return nil }

// exec stands in for programs. Shells and xargs do what they do; every other
// program prints its arguments, so that a value travels on through pipes and
// substitutions.
func (s *stage) exec(ctx context.Context, args []string) error {
	if !s.descend(40) {
		return interp.ExitStatus(1)
	}
	defer s.ascend()
	h := interp.HandlerCtx(ctx)
	script, params := "", []string(nil)
	switch base := filepath.Base(args[0]); base {
	case "sh", "bash":
		switch {
		case len(args) > 2 && strings.HasPrefix(args[1], "-") && strings.Contains(args[1], "c"):
			script = args[2]
			if len(args) > 4 {
				params = args[4:]
			}
		case len(args) == 1 || args[1] == "-s":
			text, _ := io.ReadAll(h.Stdin)
			script = string(text)
		default:
			s.note("program", args[1])
			return nil
		}
	case "xargs":
		text, _ := io.ReadAll(h.Stdin)
		more := append(args[1:len(args):len(args)], strings.Fields(string(text))...)
		if len(more) == 0 {
			return nil
		}
		s.note("call", more...)
		return s.exec(ctx, more)
	case "sudo", "env", "nohup", "timeout", "time":
		rest := args[1:]
		for len(rest) > 0 && (strings.ContainsAny(rest[0], "=") || strings.HasPrefix(rest[0], "-") || strings.Trim(rest[0], "0123456789s") == "") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return nil
		}
		s.note("call", rest...)
		return s.exec(ctx, rest)
	case "cat", "tr", "sed", "cut", "tee", "grep":
		_, _ = io.Copy(h.Stdout, h.Stdin)
		return nil
	default:
		_, _ = fmt.Fprintln(h.Stdout, strings.Join(args[1:], " "))
		return nil
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		s.note("unparsable", script)
		return interp.ExitStatus(2)
	}
	return s.play(ctx, file, h.Env, h.Stdin, h.Stdout, params)
}

// root is a folder with one Taskfile.
func root(t testing.TB, taskfile string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Taskfile.yml"), []byte(taskfile), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// declared is a task as it is listed.
func declared(t testing.TB, dir, name string) taskfile.Decl {
	t.Helper()
	listing := runner.List(t.Context(), dir)
	if listing.Error != "" {
		t.Fatalf("%s: %s", dir, listing.Error)
	}
	for _, d := range listing.Tasks {
		if d.Task == name {
			return d
		}
	}
	t.Fatalf("there is no task %q", name)
	return taskfile.Decl{}
}
