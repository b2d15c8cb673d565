package taskfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

func TestLongOutputKeepsHeadAndTailAndTheExitCode(t *testing.T) {
	t.Parallel()
	posix(t)
	dir := write(t, `
-- Taskfile.yml --
version: '3'
tasks:
  t: {cmd: "echo first line; head -c 5000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo last line; exit 9"}
  both: {cmd: "head -c 5000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo short >&2"}
  wide: {cmd: "head -c 200000 /dev/zero | tr '\\0' 'x'; echo; yes 漢字 | head -n 50000; true"}
`)
	for _, budget := range []int{1 << 10, 16 << 10, 64 << 10} {
		p := open(t, taskfile.Options{OutputBytes: budget}, dir)
		r, err := run(t, p, taskfile.Request{Task: "t"})
		if fault.CodeOf(err) != fault.TaskFailed || r.ExitCode == nil || *r.ExitCode != 9 {
			t.Errorf("exit code %v, %v", r.ExitCode, err)
		}
		if !strings.HasPrefix(r.Stdout, "first line\n") || !strings.HasSuffix(r.Stdout, "last line\n") {
			t.Errorf("head or tail is lost: %.40q … %q", r.Stdout, r.Stdout[max(0, len(r.Stdout)-40):])
		}
		if !r.Truncated || !strings.Contains(r.Stdout, " bytes left out …]") || len(r.Stdout)+len(r.Stderr) > budget {
			t.Errorf("%d bytes of %d, truncated %v", len(r.Stdout)+len(r.Stderr), budget, r.Truncated)
		}
		if want := int64(len("first line\nlast line\n") + 5000000 + 5000000/99); r.StdoutBytes < want || r.StdoutBytes > want+1 {
			t.Errorf("%d bytes are said to be printed, want %d", r.StdoutBytes, want)
		}
		r, err = run(t, p, taskfile.Request{Task: "both"})
		if err != nil || r.Stderr != "short\n" || len(r.Stdout)+len(r.Stderr) > budget || len(r.Stdout) < budget/2 {
			t.Errorf("one budget for both: %d and %q, %v", len(r.Stdout), r.Stderr, err)
		}
		r, err = run(t, p, taskfile.Request{Task: "wide"})
		if err != nil || !utf8.ValidString(r.Stdout) || strings.ContainsRune(r.Stdout, utf8.RuneError) || len(r.Stdout) > budget {
			t.Errorf("a cut character, or too much: %d bytes, %v", len(r.Stdout), err)
		}
	}
}

func TestAHundredMegabytesOfOutputCostLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		testenv.LeftOut(t, "memory is read from /proc")
	}
	p := project(t, `
-- Taskfile.yml --
version: '3'
tasks:
  print: {cmd: "head -c {{.N}} /dev/zero | tr '\\0' 'x' | fold -w 99", vars: {N: '{{.N | default "1000"}}'}}
  wait: {cmd: 'echo waiting; sleep 0.3'}
`)
	// Both programs have done such work before: what is measured is the growth.
	for range 2 {
		if _, err := run(t, p, taskfile.Request{Task: "print", Vars: map[string]any{"N": "2000000"}}); err != nil {
			t.Fatal(err)
		}
	}
	idle := peak(t, p, taskfile.Request{Task: "wait"})
	debug.FreeOSMemory()
	before := resident(t, "self")
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		testenv.LeftOut(t, "the high-water mark of memory cannot be reset here")
	}
	busy := peak(t, p, taskfile.Request{Task: "print", Vars: map[string]any{"N": "104857600"}})
	const most = 8 << 10 // KiB
	if grown := highWater(t, "self") - before; grown > most {
		t.Errorf("the server grew by %d KiB", grown)
	} else {
		t.Logf("the server grew by %d KiB", grown)
	}
	if grown := busy - idle; grown > most {
		t.Errorf("the runner grew by %d KiB", grown)
	} else {
		t.Logf("the runner grew by %d KiB, from %d", grown, idle)
	}
}

// A server that collects its garbage seldom, as ours does, grows by what it
// throws away.
func TestAHundredMegabytesOfOutputMakeLittleGarbage(t *testing.T) {
	posix(t)
	p := project(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {print: {cmd: \"head -c 104857600 /dev/zero | tr '\\\\0' 'x' | fold -w 99\"}}\n")
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	lines, reports := 0, 0
	r, err := run(t, p, taskfile.Request{Task: "print",
		Line:     func(string, string) { lines++; time.Sleep(time.Millisecond) }, // slower than the task
		Progress: func(string) { reports++ },
	})
	runtime.ReadMemStats(&end)
	if err != nil || r.StdoutBytes < 100<<20 {
		t.Fatalf("%d bytes, %v", r.StdoutBytes, err)
	}
	if made := (end.TotalAlloc - start.TotalAlloc) >> 10; made > 4<<10 {
		t.Errorf("%d KiB were allocated; %d lines and %d reports were told", made, lines, reports)
	}
	if reports == 0 || reports > 5+int(r.Duration/(50*time.Millisecond)) {
		t.Errorf("%d reports of progress in %s", reports, r.Duration)
	}
}

// peak runs a task and returns the most memory that its runner had, in KiB.
func peak(t *testing.T, p *taskfile.Project, req taskfile.Request) (most int) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r, err := p.Run(t.Context(), req); err != nil {
			t.Errorf("%+v, %v", r, err)
		}
	}()
	for {
		select {
		case <-done:
			return most
		case <-time.After(time.Millisecond):
		}
		for _, pid := range taskfile.Descendants(os.Getpid()) {
			exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
			if err == nil && strings.HasPrefix(filepath.Base(exe), "handrail-runner") {
				most = max(most, highWater(nil, strconv.Itoa(pid)))
			}
		}
	}
}

func resident(t *testing.T, pid string) int  { return status(t, pid, "VmRSS:") }
func highWater(t *testing.T, pid string) int { return status(t, pid, "VmHWM:") }

// status is a figure of /proc/PID/status in KiB; 0 where the process is gone.
func status(t *testing.T, pid, name string) int {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil && t != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n
}

func TestATaskCannotReachTheProtocol(t *testing.T) {
	posix(t)
	p := project(t, `
-- Taskfile.yml --
version: '3'
tasks:
  stdout: {cmd: 'echo garbage > /dev/stdout; echo garbage > /dev/stderr'}
  fd: {cmd: 'echo garbage > /proc/self/fd/1'}
  three: {cmd: "bash -c 'echo garbage >&3'", ignore_error: true}
  all: {cmd: "bash -c 'for f in /proc/$PPID/fd/*; do [ -S $f ] && echo garbage > $f; done; true'"}
  read: {cmd: "cat; cat /dev/stdin; read x || echo nothing"}
  json: {cmd: 'printf "{\"done\":{}}\n{\"runner\":\"handrail-runner\",\"protocol\":1}\n"'}
  fds: {cmd: "bash -c 'ls /proc/self/fd'"}
`)
	for _, c := range []struct{ task, out, err string }{
		{"stdout", "garbage\n", "garbage\n"},
		{"fd", "garbage\n", ""},
		{"read", "nothing\n", ""},
		{"json", "{\"done\":{}}\n{\"runner\":\"handrail-runner\",\"protocol\":1}\n", ""},
	} {
		if r, _ := run(t, p, taskfile.Request{Task: c.task}); r.Stdout != c.out || r.Stderr != c.err {
			t.Errorf("%s: %q and %q", c.task, r.Stdout, r.Stderr)
		}
	}
	for _, task := range []string{"three", "all"} {
		if r, err := run(t, p, taskfile.Request{Task: task}); err != nil {
			t.Errorf("%s: %+v, %v", task, r, err)
		}
	}
	if r, _ := run(t, p, taskfile.Request{Task: "fds"}); runtime.GOOS == "linux" && r.Stdout != "0\n1\n2\n3\n" {
		t.Errorf("a command inherits %q; want its three streams and the folder that ls reads", r.Stdout)
	}
}
