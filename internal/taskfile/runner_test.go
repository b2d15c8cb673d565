package taskfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

const simple = "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: echo fine}}\n"

// impostor is a program in the place of the runner.
func impostor(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		testenv.LeftOut(t, "the programs that stand in for a runner are shell scripts")
	}
	path := filepath.Join(t.TempDir(), taskfile.RunnerName)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func hello(protocol int) string {
	return fmt.Sprintf(`printf '{"runner":"handrail-runner","protocol":%d}\n' >&3`, protocol)
}

func TestARunnerThatWillNotDoGivesOneClearSentence(t *testing.T) {
	t.Parallel()
	notAProgram := filepath.Join(t.TempDir(), taskfile.RunnerName)
	put(t, notAProgram, "this is no program")
	for _, c := range []struct{ name, runner, says string }{
		{"missing", filepath.Join(t.TempDir(), "nothing"), "cannot be started: no such file"},
		{"no program", notAProgram, "cannot be started: permission denied"},
		{"older", impostor(t, hello(taskfile.ProtocolVersion-1)), "is older than this handrail (protocol 0, not 1); install both from one release"},
		{"newer", impostor(t, hello(taskfile.ProtocolVersion+1)), "is newer than this handrail (protocol 2, not 1); install both from one release"},
		{"another program", impostor(t, `echo "usage: something"; exit 2`), "does not answer as one; install handrail and handrail-runner together"},
		{"another protocol", impostor(t, `echo '{"jsonrpc":"2.0"}' >&3; sleep 1`), "does not answer as one"},
		{"endless line", impostor(t, `head -c 100000 /dev/zero | tr '\0' x >&3; sleep 1`), "does not answer as one"},
		{"crash", impostor(t, hello(taskfile.ProtocolVersion)+`; read order <&3; echo "panic: oops" >&2; exit 2`), "ended without an answer"},
		{"rubbish for an answer", impostor(t, hello(taskfile.ProtocolVersion)+`; read order <&3; echo '{"listing":' >&3`), "ended without an answer"},
		{"nothing for an answer", impostor(t, hello(taskfile.ProtocolVersion)+`; read order <&3; echo '{}' >&3`), "gave no listing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, taskfile.Options{Runner: c.runner}, write(t, simple))
			root := p.Plan().Roots[0]
			if !strings.Contains(root.Error, c.says) || strings.Contains(root.Error, "\n") || strings.Contains(root.Error, "panic") || strings.Contains(root.Error, filepath.Dir(c.runner)) {
				t.Errorf("%q; want one line with %q", root.Error, c.says)
			}
			if len(p.Plan().Tools) != 0 {
				t.Errorf("tools: %v", toolNames(p.Plan()))
			}
		})
	}
}

func TestARunnerThatIsExchangedIsNoticedWithTheNextCall(t *testing.T) {
	dir := write(t, simple)
	runner := filepath.Join(t.TempDir(), filepath.Base(testenv.Runner(t)))
	if err := os.Symlink(testenv.Runner(t), runner); err != nil {
		testenv.LeftOut(t, "this user may not make symbolic links")
	}
	p := open(t, taskfile.Options{Runner: runner}, dir)
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(runner); err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), taskfile.Request{Task: "t"})
	if fault.CodeOf(err) != fault.Unavailable || r.RunID != "" {
		t.Errorf("without a runner: %+v, %v", r, err)
	}
	if err := os.Symlink(impostor(t, hello(9)), runner); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "newer") {
		t.Errorf("with a newer runner: %v", err)
	}
	if _, err := p.Status(t.Context(), p.Plan().Roots[0].Name); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("status with a newer runner: %v", err)
	}
}

func TestARunnerThatHangsIsEndedWithItsDeadline(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\nvars: {V: v}\ntasks: {t: {env: {E: '{{.V}}'}, cmd: 'true'}}\n")
	runner := filepath.Join(t.TempDir(), taskfile.RunnerName)
	if err := os.Symlink(testenv.Runner(t), runner); err != nil {
		testenv.LeftOut(t, "this user may not make symbolic links")
	}
	for _, script := range []string{"; sleep 300", "; trap '' TERM; read order <&3; sleep 300", "; exec 3<&-; sleep 300"} {
		p := open(t, taskfile.Options{Runner: runner, Timeout: 300 * time.Millisecond}, dir)
		if err := os.Rename(impostor(t, hello(taskfile.ProtocolVersion)+script), runner); err != nil {
			t.Fatal(err)
		}
		// More than a socket holds: the runner has to read it.
		r, err := p.Run(t.Context(), taskfile.Request{Task: "t", Vars: map[string]any{"V": strings.Repeat("x", 60<<10)}})
		if code := fault.CodeOf(err); code != fault.Timeout && code != fault.Internal {
			t.Errorf("%q: %+v, %v", script, r, err)
		}
		if err := os.Remove(runner); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(testenv.Runner(t), runner); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheRunnerIsFoundBesideTheProgramThenOnThePath(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	name := filepath.Base(testenv.Runner(t))
	beside := filepath.Join(dir, name)
	t.Setenv("PATH", other)
	if _, err := taskfile.FindRunner(filepath.Join(dir, "handrail")); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "neither beside handrail nor on PATH") {
		t.Errorf("nowhere: %v", err)
	}
	for _, path := range []string{filepath.Join(other, name), beside} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := taskfile.FindRunner(filepath.Join(dir, "handrail")); err != nil || got != path {
			t.Errorf("%s, %v; want %s", got, err, path)
		}
	}
	link := filepath.Join(other, "elsewhere")
	if err := os.WriteFile(filepath.Join(dir, "handrail"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "handrail"), link); err != nil {
		testenv.LeftOut(t, "this user may not make symbolic links")
	}
	if err := os.Remove(filepath.Join(other, name)); err != nil {
		t.Fatal(err)
	}
	if got, err := taskfile.FindRunner(link); err != nil || filepath.Base(got) != name {
		t.Errorf("through a link: %s, %v", got, err)
	}
}

func TestTheRunnerByItselfDoesNothing(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), testenv.Runner(t))
	cmd.Dir = write(t, simple)
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "by itself it does nothing") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestATaskfileThatGoTaskDoesNotSurviveHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	p := project(t, `
-- Taskfile.yml --
version: '3'
tasks:
  c++: {cmd: echo compiled}
  w:*: {cmds: ['echo {{index .MATCH 0}}']}
  needs: {deps: [c++, nowhere]}
  both: {deps: [c++, 'w:x']}
  typed: {vars: {L: [1, 2]}, cmd: 'echo {{index .L 7}}'}
  bad-template: {cmd: 'echo {{.X | nofunction}}'}
  recursive: {cmds: [{task: recursive}]}
  fine: {cmd: echo fine}
`)
	for _, c := range []struct {
		task string
		code fault.Code
	}{
		{"c++", ""}, {"both", fault.InvalidInput}, {"needs", fault.InvalidInput}, {"typed", fault.TaskFailed}, {"bad-template", fault.TaskFailed}, {"recursive", fault.TaskFailed},
	} {
		r, err := p.Run(t.Context(), taskfile.Request{Task: c.task})
		if code := fault.CodeOf(err); err != nil && code != c.code || err == nil && c.code != "" {
			t.Errorf("%s: %+v, %v; want %s", c.task, r, err, c.code)
		}
		if strings.Contains(r.Stderr+r.Err, "goroutine ") || strings.Contains(r.Stderr, "panic:") {
			t.Errorf("%s tells of a crash: %+v", c.task, r)
		}
		if after, err := p.Run(t.Context(), taskfile.Request{Task: "fine"}); err != nil || after.Stdout != "fine\n" {
			t.Errorf("after %s: %+v, %v", c.task, after, err)
		}
	}
	if r, err := run(t, p, taskfile.Request{Task: "w:*", Match: []string{"x"}}); err != nil || r.Stdout != "x\n" {
		t.Errorf("a wildcard beside c++: %+v, %v", r, err)
	}
}

func TestAServerThatDiesTakesItsRunsWithIt(t *testing.T) {
	if runtime.GOOS != "linux" {
		testenv.LeftOut(t, "survivors are looked for in /proc")
	}
	if dir := os.Getenv("TASKFILE_TEST_SERVER"); dir != "" { // the server that is killed below
		p := open(t, taskfile.Options{Runner: os.Getenv("TASKFILE_TEST_RUNNER"), Env: os.Environ()}, dir)
		_, _ = p.Run(t.Context(), taskfile.Request{Task: "t"})
		return
	}
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: 'sleep 300 & setsid sleep 300 & touch started; sleep 300'}}\n")
	mark := fmt.Sprintf("SURVIVOR=died-%d", time.Now().UnixNano())
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAServerThatDiesTakesItsRunsWithIt$")
	cmd.Env = append(os.Environ(), mark, "TASKFILE_TEST_SERVER="+dir, "TASKFILE_TEST_RUNNER="+testenv.Runner(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { _, err := os.Stat(filepath.Join(dir, "started")); return err == nil })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	await(t, func() bool { return len(marked(t, mark)) == 0 })
}
