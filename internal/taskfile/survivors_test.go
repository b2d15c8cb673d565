package taskfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// stubborn are tasks that leave processes behind where they can. Each prints
// "started" when all of them are there.
const stubborn = `
-- Taskfile.yml --
version: '3'
tasks:
  background: {cmd: 'sleep 300 & echo started; sleep 300'}
  many: {cmd: 'for i in 1 2 3 4 5 6 7 8; do sleep 300 & done; echo started; wait'}
  bash: {cmd: "bash -c 'sleep 300 & echo started; wait'"}
  nested: {cmd: "bash -c 'bash -c \"sleep 300 & sleep 300 & echo started; wait\" & wait'"}
  piped: {cmd: "bash -c 'echo started >&2; sleep 300' | cat | cat"}
  setsid: {cmd: "setsid bash -c 'echo started; sleep 300' & sleep 300"}
  daemon: {cmd: "bash -c '(setsid sleep 300 </dev/null >/dev/null 2>&1 &) ; echo started'; sleep 300"}
  orphan: {cmd: "setsid bash -c 'sleep 300 >/dev/null 2>&1 & echo started'; sleep 300"}
  nohup: {cmd: 'nohup sleep 300 >/dev/null 2>&1 & echo started; sleep 300'}
  fast: {cmd: "bash -c 'trap exit TERM; echo started; while :; do sleep 0.01; done'"}
  dependency: {deps: [background, bash]}
  called: {cmds: [{task: background}]}
  deferred: {cmds: [{defer: 'echo cleaned'}, 'echo started; sleep 300']}
  variable: {vars: {V: {sh: 'echo started >&2; sleep 300'}}, cmd: 'echo {{.V}}'}
  status: {status: ['sleep 300'], cmd: 'sleep 300'}
  ignored: {ignore_error: true, cmds: ['echo started; sleep 300', 'sleep 300']}
  trapped: {cmd: "bash -c 'trap \"\" TERM INT HUP; echo started; sleep 300'"}
  trapping-children: {cmd: "bash -c 'trap \"\" TERM; (trap \"\" TERM; sleep 300) & echo started; wait; sleep 300'"}
  late: {cmds: [{defer: 'sleep 300'}, 'echo started; sleep 300']}
  breeding: {cmd: "bash -c 'trap \"setsid sleep 300 & \" TERM; echo started; while :; do sleep 0.05; done'"}
  quick-end: {cmd: 'sleep 300 >/dev/null 2>&1 & echo started'}
`

// quick are those that end as soon as they are asked to.
var quick = strings.Fields("background many bash nested piped setsid daemon orphan nohup fast called deferred ignored")

// stubbornProject opens the tasks above, with a mark in every process of them.
func stubbornProject(t *testing.T, o taskfile.Options) (p *taskfile.Project, alive func() []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		testenv.LeftOut(t, "survivors are looked for in /proc, and setsid is Linux's")
	}
	mark := fmt.Sprintf("SURVIVOR=%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), time.Now().UnixNano())
	o.Env = append(environ(), mark)
	return open(t, o, write(t, stubborn)), func() []string { return marked(t, mark) }
}

// marked are the living processes that carry a mark in their environment.
func marked(t *testing.T, mark string) (all []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environs {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains("\x00"+string(text), "\x00"+mark+"\x00") {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		all = append(all, filepath.Base(filepath.Dir(path))+" "+strings.ReplaceAll(string(command), "\x00", " "))
	}
	return all
}

// cancelWhenStarted runs a task and cancels it when it says that it has started.
func cancelWhenStarted(t *testing.T, p *taskfile.Project, task string) (taskfile.Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return p.Run(ctx, taskfile.Request{Task: task, Line: func(_, line string) {
		if line == "started" {
			cancel()
		}
	}})
}

func TestACancelledRunLeavesNothingAlive(t *testing.T) {
	t.Parallel()
	p, alive := stubbornProject(t, taskfile.Options{Queue: 100, MaxRuns: 6})
	var wg sync.WaitGroup
	for i := range 100 {
		task := quick[i%len(quick)]
		wg.Go(func() {
			r, err := cancelWhenStarted(t, p, task)
			if fault.CodeOf(err) != fault.Cancelled || !r.Cancelled || r.TimedOut || r.ExitCode != nil {
				t.Errorf("%s: %+v, %v", task, r, err)
			}
			if !strings.Contains(r.Stdout+r.Stderr, "started") {
				t.Errorf("%s: what it printed is lost: %+v", task, r)
			}
			if task == "deferred" && !strings.Contains(r.Stdout, "cleaned") {
				t.Errorf("its deferred command did not run: %+v", r)
			}
		})
	}
	wg.Wait()
	if left := alive(); len(left) > 0 {
		t.Errorf("alive afterwards: %q", left)
	}
}

func TestACancelledRunIsKilledWhenItDoesNotEnd(t *testing.T) {
	t.Parallel()
	p, alive := stubbornProject(t, taskfile.Options{})
	var wg sync.WaitGroup
	for _, task := range []string{"trapped", "trapping-children", "late", "breeding", "variable"} {
		wg.Go(func() {
			began := time.Now()
			r, err := cancelWhenStarted(t, p, task)
			if fault.CodeOf(err) != fault.Cancelled || !r.Cancelled {
				t.Errorf("%s: %+v, %v", task, r, err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("%s: it took %s to end", task, took)
			}
		})
	}
	wg.Wait()
	if left := alive(); len(left) > 0 {
		t.Errorf("alive afterwards: %q", left)
	}
}

func TestARunThatTakesTooLongIsEndedAndKeepsWhatItPrinted(t *testing.T) {
	t.Parallel()
	p, alive := stubbornProject(t, taskfile.Options{Timeout: 1500 * time.Millisecond})
	for _, task := range []string{"background", "setsid", "dependency", "status"} {
		r, err := p.Run(t.Context(), taskfile.Request{Task: task})
		if fault.CodeOf(err) != fault.Timeout || !r.TimedOut || r.Cancelled || r.ExitCode != nil {
			t.Errorf("%s: %+v, %v", task, r, err)
		}
		if task != "status" && !strings.Contains(r.Stdout, "started") || !strings.Contains(r.Status(), "failed: it took longer than 1.5s and was ended") {
			t.Errorf("%s: %q, %q", task, r.Stdout, r.Status())
		}
	}
	if left := alive(); len(left) > 0 {
		t.Errorf("alive afterwards: %q", left)
	}
}

func TestARunThatEndsLeavesNothingAlive(t *testing.T) {
	t.Parallel()
	p, alive := stubbornProject(t, taskfile.Options{})
	r, err := p.Run(t.Context(), taskfile.Request{Task: "quick-end"})
	if err != nil || r.Stdout != "started\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if left := alive(); len(left) > 0 {
		t.Errorf("alive afterwards: %q", left)
	}
}

func TestACancelledRunThatWasNeverStartedIsCancelled(t *testing.T) {
	t.Parallel()
	p, alive := stubbornProject(t, taskfile.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := p.Run(ctx, taskfile.Request{Task: "background"}); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	for wait := range 20 { // at any moment of its start
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(wait)*8*time.Millisecond)
		_, err := p.Run(ctx, taskfile.Request{Task: "background"})
		cancel()
		if code := fault.CodeOf(err); code != fault.Cancelled && code != fault.Timeout {
			t.Errorf("after %d ms: %v", wait*8, err)
		}
	}
	if left := alive(); len(left) > 0 {
		t.Errorf("alive afterwards: %q", left)
	}
}

func TestARunnerThatIsKilledTakesEverythingWithIt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testenv.LeftOut(t, "survivors are looked for in /proc")
	}
	mark := fmt.Sprintf("SURVIVOR=killed-%d", time.Now().UnixNano())
	p := open(t, taskfile.Options{Env: append(environ(), mark)}, write(t, `
-- Taskfile.yml --
version: '3'
tasks:
  parent: {cmd: "sleep 300 & setsid sleep 300 & bash -c 'kill -9 $PPID; sleep 300'"}
  segv: {cmd: "bash -c 'kill -SEGV $PPID; sleep 300'"}
  stop: {cmd: "sleep 300 & bash -c 'kill -TERM $PPID; sleep 300'"}
  after: {cmd: echo fine}
`))
	for _, task := range []string{"parent", "segv"} {
		r, err := p.Run(t.Context(), taskfile.Request{Task: task})
		if fault.CodeOf(err) != fault.Internal || r.Err == "" || strings.Contains(r.Stderr+fault.Of(err).Message, "goroutine") {
			t.Errorf("%s: %+v, %v", task, r, err)
		}
	}
	r, err := p.Run(t.Context(), taskfile.Request{Task: "stop"})
	if err == nil || r.ExitCode != nil && *r.ExitCode == 0 {
		t.Errorf("a task that ends its own runner: %+v, %v", r, err)
	}
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("alive afterwards: %q", left)
	}
	if r, err := p.Run(t.Context(), taskfile.Request{Task: "after"}); err != nil || r.Stdout != "fine\n" {
		t.Errorf("the next call: %+v, %v", r, err)
	}
}
