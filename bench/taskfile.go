package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"handrail/bench/wire"
	"handrail/internal/taskfile"
)

// releasedTask is the version of the command that people type.
const releasedTask = "github.com/go-task/task/v3/cmd/task@v3.54.0"

// floodBytes is what the task prints that must not fill memory.
const floodBytes = 100_000_000

// buildTask installs the released command with the dependencies of its own
// release. Where that cannot be had, and in a short run, the one of our tools
// stands in, which name then says.
func (l *lab) buildTask() (path, name string, err error) {
	path = filepath.Join(l.dir, "task")
	if !l.short {
		cmd := exec.CommandContext(l.ctx, "go", "install", "-trimpath", "-ldflags=-s -w", releasedTask)
		cmd.Dir = l.dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+l.dir, "GOFLAGS=")
		if cmd.Run() == nil {
			return path, "task 3.54.0", nil
		}
	}
	path, err = l.build("github.com/go-task/task/v3/cmd/task")
	return path, "task 3.54.0, with newer dependencies", err
}

// project writes a Taskfile of n tasks, with a trivial one and one that floods.
func (l *lab) project(n, edit int) (string, error) {
	var b strings.Builder
	b.WriteString("version: '3'\n\nvars:\n  NAME: world\n\ntasks:\n")
	b.WriteString("  hi:\n    desc: Say hi\n    cmd: echo hi\n")
	fmt.Fprintf(&b, "  flood:\n    desc: Print much\n    cmd: head -c %d /dev/zero | tr '\\0' 'x' | fold -w 99\n", floodBytes)
	for i := range n - 2 {
		fmt.Fprintf(&b, "  part%d:step%d:\n    desc: Do step %d of part %d, edit %d\n    vars:\n      WHO: '{{.WHO | default \"you\"}}'\n    cmds:\n      - echo '{{.NAME}} {{.WHO}} %d'\n", i/10, i%10, i%10, i/10, edit, i)
	}
	dir := filepath.Join(l.dir, fmt.Sprintf("project-%d", n))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "Taskfile.yml"), []byte(b.String()), 0o644)
}

func measureTaskfile(l *lab) ([]row, error) {
	// The runner is found beside the program.
	runner, err := l.build("./cmd/handrail-runner")
	if err != nil {
		return nil, err
	}
	released, name, err := l.buildTask()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(runner)
	if err != nil {
		return nil, err
	}
	rows := []row{{what: "handrail-runner, stripped", unit: "MB", ours: series{float64(info.Size()) / 1e6}}}
	for _, n := range []int{10, 100, 1000} {
		r, err := l.listing(n, runner, released, name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	more, err := l.running(released, name)
	return append(rows, more...), err
}

// listing compares reading a project that was just edited.
func (l *lab) listing(n int, runner, released, name string) (row, error) {
	edits := 0
	dir, err := l.project(n, edits)
	if err != nil {
		return row{}, err
	}
	edit := func() error {
		edits++
		_, err := l.project(n, edits)
		return err
	}
	ours := func() (float64, error) {
		if err := edit(); err != nil {
			return 0, err
		}
		begun := time.Now()
		p, err := taskfile.OpenRoots(l.ctx, []string{dir}, taskfile.Options{Runner: runner, Now: time.Now, LogDir: "-", Env: os.Environ()})
		if err != nil {
			return 0, err
		}
		defer p.Close()
		plan := p.Plan()
		took := time.Since(begun).Seconds() * 1e3
		if len(plan.Tasks) != n {
			return 0, fmt.Errorf("%d tasks instead of %d", len(plan.Tasks), n)
		}
		return took, nil
	}
	theirs := func() (float64, error) {
		if err := edit(); err != nil {
			return 0, err
		}
		begun := time.Now()
		cmd := exec.CommandContext(l.ctx, released, "--list-all", "--json")
		cmd.Dir = dir
		out, err := cmd.Output()
		took := time.Since(begun).Seconds() * 1e3
		var list struct {
			Tasks []struct{ Name string }
		}
		if err == nil {
			err = json.Unmarshal(out, &list)
		}
		if err == nil && len(list.Tasks) != n {
			err = fmt.Errorf("task lists %d tasks instead of %d", len(list.Tasks), n)
		}
		return took, err
	}
	got, err := l.turns(l.pick(9, 1), ours, theirs)
	if err != nil {
		return row{}, err
	}
	r := row{what: fmt.Sprintf("listing %s tasks after an edit", number(float64(n))), beside: name + " --list-all --json", unit: "ms", ours: got[0], base: got[1]}
	if n == 1000 {
		r.target = atMost(1)
	}
	return r, nil
}

// running compares a call with the command, and watches memory while a task
// prints much.
func (l *lab) running(released, name string) ([]row, error) {
	dir, err := l.project(10, 0)
	if err != nil {
		return nil, err
	}
	ours := contender{name: "handrail taskfile", command: l.handrail, args: []string{"taskfile", "--root", dir, "--audit-db", filepath.Join(l.dir, "runs.db"), "--log-level", "error"}}
	c, err := ours.start(wire.Modern)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	call := func() (float64, error) { return timed(c, wire.Call("hi", `{}`), `"exitCode":0`) }
	if _, err := call(); err != nil {
		return nil, err
	}
	var cost [2]series // processor time
	got, err := l.turns(l.pick(41, 2), func() (float64, error) {
		before, known := childrenTime(c.PID())
		took, err := call()
		if after, still := childrenTime(c.PID()); known && still {
			cost[0] = append(cost[0], after-before)
		}
		return took, err
	}, func() (float64, error) {
		begun := time.Now()
		cmd := exec.CommandContext(l.ctx, released, "--silent", "hi")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err == nil && string(out) != "hi\n" {
			err = fmt.Errorf("task prints %q", out)
		}
		if err == nil {
			used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			cost[1] = append(cost[1], used.Seconds()*1e3)
		}
		return time.Since(begun).Seconds() * 1e3, err
	})
	if err != nil {
		return nil, err
	}
	what, beside := "a call of a task that runs echo hi", name+", started for the same"
	rows := []row{{what: what, beside: beside, unit: "ms", ours: got[0], base: got[1], target: atMost(0.7)}}
	if len(cost[0]) > 0 {
		// A call's own is told in hundredths of a second: only the sum says something.
		rows = append(rows, row{what: what + ", processor time of its processes", beside: beside, unit: "ms", ours: series{cost[0].mean()}, base: series{cost[1].mean()}})
	}

	server := row{what: "growth of the server's memory while a task prints 100 MB", unit: "MB", target: figureAtMost(8)}
	child := row{what: "growth of the runner's memory while a task prints 100 MB", unit: "MB", target: figureAtMost(8)}
	for range l.pick(3, 1) {
		one, two, err := l.flooded(ours)
		if errors.Is(err, errNoProc) {
			server.missing, child.missing = err.Error(), err.Error()
			break
		}
		if err != nil {
			return nil, err
		}
		server.ours, child.ours = append(server.ours, one), append(child.ours, two)
	}
	return append(rows, server, child), nil
}

// flooded is how much more memory a new server and its runner have at most
// while a task prints much than while one prints nearly nothing, in MB.
func (l *lab) flooded(ours contender) (server, runner float64, err error) {
	c, err := ours.start(wire.Modern)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	quietServer, quietRunner, err := memoryDuring(l.ctx, c, wire.Call("hi", `{}`))
	if err != nil {
		return 0, 0, err
	}
	loudServer, loudRunner, err := memoryDuring(l.ctx, c, wire.Call("flood", `{}`))
	return loudServer - quietServer, loudRunner - quietRunner, err
}

// memoryDuring is the most memory that a server and its runner have during a
// call, in MB.
func memoryDuring(ctx context.Context, c *wire.Client, call string) (server, runner float64, err error) {
	if _, err := residentOf(c.PID()); err != nil {
		return 0, 0, err
	}
	ctx, over := context.WithCancel(ctx)
	var most [2]atomic.Uint64 // bytes
	note := func(i, pid int) {
		// A process that has ended has none.
		if mb, err := residentOf(pid); err == nil && uint64(mb*1e6) > most[i].Load() {
			most[i].Store(uint64(mb * 1e6))
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			note(0, c.PID())
			for _, pid := range childrenOf(c.PID()) {
				note(1, pid)
			}
			<-tick.C
		}
	}()
	_, err = timed(c, call, `"exitCode":0`)
	over()
	<-done
	if err == nil && most[1].Load() == 0 {
		err = errors.New("the runner was not seen")
	}
	return float64(most[0].Load()) / 1e6, float64(most[1].Load()) / 1e6, err
}

// childrenTime is the processor time of the processes that a process started and
// saw the end of, in milliseconds, as Linux tells it.
func childrenTime(pid int) (ms float64, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	// The name of the program, in brackets, may have spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return 0, false
	}
	user, err1 := strconv.Atoi(fields[13])
	system, err2 := strconv.Atoi(fields[14])
	return float64(user+system) * 10, err1 == nil && err2 == nil // hundredths of a second
}

// childrenOf lists the processes that a process started, as Linux tells it.
func childrenOf(pid int) (pids []int) {
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	if err != nil {
		return nil
	}
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
