package taskfile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
)

// run runs a task and fails the test where it cannot be started.
func run(t testing.TB, p *taskfile.Project, req taskfile.Request) (taskfile.Result, error) {
	t.Helper()
	r, err := p.Run(t.Context(), req)
	if r.RunID == "" {
		t.Fatalf("task %q was not started: %v", req.Task, err)
	}
	return r, err
}

func TestARunTellsEverythingAboutItself(t *testing.T) {
	p := project(t, `
-- Taskfile.yml --
version: '3'
tasks:
  both: {cmd: 'echo to stdout; echo to stderr >&2; exit 3'}
`)
	r, err := run(t, p, taskfile.Request{Task: "both"})
	if fault.CodeOf(err) != fault.TaskFailed || r.ExitCode == nil || *r.ExitCode != 3 {
		t.Errorf("exit code %v, error %v", r.ExitCode, err)
	}
	if r.Stdout != "to stdout\n" || r.Stderr != "to stderr\n" || r.StdoutBytes != 10 || r.StderrBytes != 10 || r.Truncated {
		t.Errorf("streams: %+v", r)
	}
	if r.Task != "both" || r.Root != p.Plan().Roots[0].Name || r.Duration <= 0 || r.TimedOut || r.Cancelled {
		t.Errorf("the rest: %+v", r)
	}
	if strings.ContainsAny(r.Err, "\n/") {
		t.Errorf("the error has several lines or a path: %q", r.Err)
	}
	for _, stream := range []string{taskfile.Stdout, taskfile.Stderr} {
		log, err := p.Log(r.RunID, stream)
		if err != nil || string(log) != "to "+stream+"\n" {
			t.Errorf("log of %s: %q, %v", stream, log, err)
		}
	}
	for id, stream := range map[string]string{r.RunID: "stdin", "../" + r.RunID: taskfile.Stdout, "": taskfile.Stdout} {
		if _, err := p.Log(id, stream); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("log %q of run %q: %v, want not_found", stream, id, err)
		}
	}
}

func TestACallThatIsRefusedRunsNothing(t *testing.T) {
	dir := write(t, `
-- Taskfile.yml --
version: '3'
vars: {V: {sh: 'touch marker; echo v'}, W: w}
tasks:
  t: {requires: {vars: [{name: ENV, enum: [dev, prod]}]}, vars: {X: x}, cmd: 'touch marker; echo {{.ENV}} {{.V}} {{.W}} {{.X}}'}
  w:*: {cmds: ['touch marker']}
  watched: {watch: true, cmd: touch marker}
  asked: {prompt: 'sure?', cmd: touch marker}
`)
	p := open(t, taskfile.Options{}, dir)
	for _, c := range []struct {
		req  taskfile.Request
		code fault.Code
		says string
	}{
		{taskfile.Request{Task: "t"}, fault.InvalidInput, `needs the variable ENV one of "dev", "prod"`},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "qa"}}, fault.InvalidInput, `ENV: it must be one of "dev", "prod"`},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "X": "y"}}, fault.InvalidInput, `takes no variable "X"; it takes ENV, V, W`},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "env": "y"}}, fault.InvalidInput, `takes no variable "env"`},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "W": []any{"x"}}}, fault.InvalidInput, "W: it must be a string"},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "W": map[string]any{}}}, fault.InvalidInput, "W: it must be a string"},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "W": true}}, fault.InvalidInput, "W: it must be a string, not a boolean"},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "W": json.Number("1")}}, fault.InvalidInput, "W: it must be a string, not a number"},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "W": "a;b"}}, fault.InvalidInput, "W: it lands in a command without quotes"},
		{taskfile.Request{Task: "t", Vars: map[string]any{"ENV": "dev", "W": strings.Repeat("x", 65<<10)}}, fault.InvalidInput, "W: it has more than 65536 bytes"},
		{taskfile.Request{Task: "t", Match: []string{"x"}, Vars: map[string]any{"ENV": "dev"}}, fault.InvalidInput, "takes no MATCH"},
		{taskfile.Request{Task: "w:*"}, fault.InvalidInput, "MATCH: it must have one element for each *"},
		{taskfile.Request{Task: "w:*", Match: []string{""}}, fault.InvalidInput, "MATCH[0]: it may not be empty"},
		{taskfile.Request{Task: "w:*", Match: []string{"*"}}, fault.InvalidInput, "MATCH[0]"},
		{taskfile.Request{Task: "w:x", Match: nil}, fault.NotFound, `no task "w:x"`},
		{taskfile.Request{Task: "watched"}, fault.InvalidInput, "watches files and never ends"},
		{taskfile.Request{Task: "asked"}, fault.ConfirmationRequired, `asks "sure?"`},
		{taskfile.Request{Task: "nothing"}, fault.NotFound, `no task "nothing"`},
		{taskfile.Request{Task: "t", Root: "elsewhere"}, fault.NotFound, `no root "elsewhere"`},
	} {
		r, err := p.Run(t.Context(), c.req)
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.Of(err).Message, c.says) {
			t.Errorf("%+v: %v, want %s with %q", c.req, err, c.code, c.says)
		}
		if r.RunID != "" {
			t.Errorf("%+v has a run id, as if it had run", c.req)
		}
		if status := taskfile.RefusedStatus(r.Task, err); strings.Contains(status, "\n") || !strings.HasPrefix(status, "Task `"+r.Task+"` failed: ") {
			t.Errorf("%+v: status line %q", c.req, status)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "marker")); err == nil {
		t.Error("something ran")
	}
}

func TestTheRunnerChecksValuesAgainstTheTaskThatItIsAboutToRun(t *testing.T) {
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\nvars: {V: d}\ntasks: {t: {cmd: 'echo \"{{.V}}\"'}}\n")
	p := open(t, taskfile.Options{Quiet: time.Hour}, dir) // the change is not noticed in time
	put(t, filepath.Join(dir, "Taskfile.yml"), "version: '3'\nvars: {V: d}\ntasks: {t: {cmd: 'touch marker; echo {{.V}}'}}\n")
	_, err := p.Run(t.Context(), taskfile.Request{Task: "t", Vars: map[string]any{"V": "a; touch marker"}})
	if fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("%v; want the value refused by the runner", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "marker")); err == nil {
		t.Error("something ran")
	}
	put(t, filepath.Join(dir, "Taskfile.yml"), "version: '3'\ntasks: {u: {cmd: touch marker}}\n")
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v; want the task not to be there any more", err)
	}
	put(t, filepath.Join(dir, "Taskfile.yml"), "version: '3'\ntasks: [\n")
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v; want the root to be unavailable", err)
	}
}

func TestRawVarsLiftTheCheckForOneVariableOfOneTask(t *testing.T) {
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\nvars: {A: a, B: b}\ntasks:\n  t: {cmd: 'echo {{.A}} {{.B}}'}\n  u: {cmd: 'echo {{.A}}'}\n")
	p := open(t, taskfile.Options{RawVars: []string{"t.A"}}, dir)
	if r, err := run(t, p, taskfile.Request{Task: "t", Vars: map[string]any{"A": "x && echo y"}}); err != nil || r.Stdout != "x\ny b\n" {
		t.Errorf("%q, %v", r.Stdout, err)
	}
	for task, vars := range map[string]map[string]any{"t": {"B": "1 | cat"}, "u": {"A": "1 | cat"}} {
		if _, err := p.Run(t.Context(), taskfile.Request{Task: task, Vars: vars}); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s %v: %v; want a refusal", task, vars, err)
		}
	}
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t", Vars: map[string]any{"A": "{{.HOME}}"}}); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a template in a raw variable: %v; want a refusal", err)
	}
}

func TestLinesAndProgressAreToldWhileATaskRuns(t *testing.T) {
	p := project(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: \"echo one; printf '\\\\033[1mtwo\\\\033[0m\\\\n' >&2; printf three\"}}\n")
	var mu sync.Mutex
	lines, latest := map[string]string{}, ""
	_, err := run(t, p, taskfile.Request{Task: "t",
		Line:     func(stream, text string) { mu.Lock(); defer mu.Unlock(); lines[text] = stream },
		Progress: func(text string) { mu.Lock(); defer mu.Unlock(); latest = text },
	})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for text, stream := range map[string]string{"one": taskfile.Stdout, "two": taskfile.Stderr, "three": taskfile.Stdout} {
		if lines[text] != stream {
			t.Errorf("line %q came as %q of %v", text, lines[text], lines)
		}
	}
	if latest == "" {
		t.Error("no progress was told")
	}
}

func TestAReceiverThatNeverReturnsHoldsNoTaskUp(t *testing.T) {
	posix(t)
	p := project(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: 'for i in $(seq 1 5000); do echo line $i; done; touch finished'}}\n")
	release := make(chan struct{})
	done := make(chan taskfile.Result)
	go func() {
		r, _ := p.Run(t.Context(), taskfile.Request{Task: "t", Line: func(string, string) { <-release }})
		done <- r
	}()
	await(t, func() bool {
		log, err := p.Log(last(p.Runs()), taskfile.Stdout)
		return err == nil && strings.Contains(string(log), "line 5000")
	})
	close(release)
	if r := <-done; r.Err != "" || !strings.Contains(r.Stdout, "line 5000") {
		t.Errorf("%+v", r)
	}
}

func last(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// await waits until something has become so; a test that waits too long fails at
// its own deadline, and says where.
func await(t testing.TB, so func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatal("it did not happen")
}

func TestTwoHundredCallsAtOnceAllEndWell(t *testing.T) {
	t.Parallel()
	p := open(t, taskfile.Options{PerTask: 8, Queue: 400, MaxRuns: 12, KeptRuns: 500}, write(t, `
-- Taskfile.yml --
version: '3'
vars: {N: none}
tasks:
  a: {cmd: 'echo a {{.N}}'}
  b: {cmd: 'echo b {{.N}}; exit 1'}
`))
	var wg sync.WaitGroup
	var wrong atomic.Int32
	for i := range 200 {
		wg.Go(func() {
			task, want := "a", fmt.Sprintf("a %d\n", i)
			if i%2 == 1 {
				task, want = "b", fmt.Sprintf("b %d\n", i)
			}
			r, err := p.Run(t.Context(), taskfile.Request{Task: task, Vars: map[string]any{"N": fmt.Sprint(i)}})
			if r.Stdout != want || (err != nil) != (i%2 == 1) {
				wrong.Add(1)
				t.Errorf("call %d: %q, %v; want %q", i, r.Stdout, err, want)
			}
			if log, err := p.Log(r.RunID, taskfile.Stdout); err != nil || string(log) != want {
				t.Errorf("log of call %d: %q, %v", i, log, err)
			}
		})
	}
	wg.Wait()
}

func TestATaskRunsOnceAtATimeAndFewMayWait(t *testing.T) {
	t.Parallel()
	posix(t)
	p := open(t, taskfile.Options{Queue: 2}, write(t, `
-- Taskfile.yml --
version: '3'
tasks:
  t: {cmd: 'mkdir lock && sleep 0.2 && rmdir lock'}
  blocked: {cmd: 'while [ ! -f go ]; do sleep 0.02; done'}
`))
	results := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := p.Run(t.Context(), taskfile.Request{Task: "t"})
			results <- err
		}()
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Errorf("two at once, or one refused: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		go func() {
			for {
				_, err := p.Run(ctx, taskfile.Request{Task: "blocked"})
				if fault.CodeOf(err) != fault.Unavailable { // the probe below was first
					results <- err
					return
				}
			}
		}()
	}
	await(t, func() bool {
		probe, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer done()
		_, err := p.Run(probe, taskfile.Request{Task: "blocked"})
		return fault.CodeOf(err) == fault.Unavailable && strings.Contains(err.Error(), "2 calls wait for it already")
	})
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); err != nil {
		t.Errorf("another task: %v", err)
	}
	cancel()
	for range 3 {
		if err := <-results; fault.CodeOf(err) != fault.Cancelled {
			t.Errorf("%v; want cancelled", err)
		}
	}
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestTheEnvironmentIsWhatTheTaskCommandWouldHave(t *testing.T) {
	posix(t)
	kept := taskfile.Environment(
		[]string{"PATH=/bin", "HOME=/h", "MCP_AUTH_TOKENS_JSON=secret", "HANDRAIL_RUN=x", "REQUEST_STATE_SECRET=s", "EMPTY=", "=C:=x", "PG_A=1", "PG_B=2"},
		nil, []string{"MCP_AUTH_TOKENS_JSON", "REQUEST_STATE_SECRET", "PG_*"})
	if got, want := strings.Join(kept, " "), "PATH=/bin HOME=/h EMPTY="; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	kept = taskfile.Environment([]string{"PATH=/bin", "HOME=/h", "X=1"}, []string{"PATH", "X"}, []string{"X"})
	if got := strings.Join(kept, " "); got != "PATH=/bin" {
		t.Errorf("narrowed: %q", got)
	}
	p := open(t, taskfile.Options{Env: append(environ(), "GOGC=50", "GIVEN=yes")}, write(t, `
-- Taskfile.yml --
version: '3'
tasks: {env: {cmd: env}}
`))
	r, err := run(t, p, taskfile.Request{Task: "env"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GOGC=50\n", "GIVEN=yes\n"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("the task does not see %s", want)
		}
	}
	for _, bad := range []string{"GOTRACEBACK", "HANDRAIL_RUNNER"} {
		if strings.Contains(r.Stdout, bad) {
			t.Errorf("the task sees %s, which is the runner's own", bad)
		}
	}
}

func TestOnlyTheLatestRunsKeepTheirLogs(t *testing.T) {
	t.Parallel()
	posix(t)
	dir := t.TempDir()
	p := open(t, taskfile.Options{LogDir: dir, KeptRuns: 3, LogBytes: 100}, write(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: 'for i in $(seq 1 100); do echo number $i; done'}}\n"))
	var ids []string
	for range 5 {
		r, err := run(t, p, taskfile.Request{Task: "t"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.RunID)
	}
	if got := p.Runs(); strings.Join(got, " ") != strings.Join(ids[2:], " ") {
		t.Errorf("runs %v, want the last three of %v", got, ids)
	}
	if files, _ := os.ReadDir(dir); len(files) != 6 {
		t.Errorf("%d files, want two for each of three runs", len(files))
	}
	log, err := p.Log(ids[4], taskfile.Stdout)
	if err != nil || !strings.HasPrefix(string(log), "number 1\n") || !strings.Contains(string(log), "[the log ends here: 100 bytes are kept]") || len(log) > 200 {
		t.Errorf("the log: %q, %v", log, err)
	}
	if _, err := p.Log(ids[0], taskfile.Stdout); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a forgotten run: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, ids[4]+".stdout")); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read the log: %v, %v", info.Mode(), err)
	}
	quiet := open(t, taskfile.Options{LogDir: "-"}, write(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: echo hi}}\n"))
	if r, err := run(t, quiet, taskfile.Request{Task: "t"}); err != nil || r.StdoutLog || r.Stdout != "hi\n" {
		t.Errorf("without logs: %+v, %v", r, err)
	}
}
