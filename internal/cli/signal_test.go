//go:build unix

package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/internal/testenv"
)

// begun is a server over stdio in which a long call has begun, and its output.
func begun(t *testing.T, db, call string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Binary(t), "basic", "--db", db)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	request := strings.Replace(modern(t, 1, "tools/call", map[string]any{"name": "process_steps", "arguments": map[string]any{"steps": 100, "delayMs": 77}}), `{"delayMs":77,"steps":100}`, call, 1)
	request = strings.Replace(request, `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)
	if _, err := io.WriteString(in, request); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"progress":1`) {
			return cmd, lines
		}
	}
	t.Fatal("the call did not begin")
	return nil, nil
}

func TestASignalLetsACallThatRunsFinish(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		db := filepath.Join(t.TempDir(), "a.db")
		cmd, lines := begun(t, db, `{"steps":5,"delayMs":100}`)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		last := ""
		for lines.Scan() {
			last = lines.Text()
		}
		if err := cmd.Wait(); err != nil || !strings.Contains(last, `"completed":5`) {
			t.Errorf("%v: it ended with %v, and said last %s", sig, err, last)
		}
		if text, _ := run(t, 0, "", "audit", "list", "--db", db); !strings.Contains(text, "process_steps  ok") {
			t.Errorf("%v: the record says\n%s", sig, text)
		}
	}
}

func TestASecondSignalEndsTheServerAtOnce(t *testing.T) {
	db := filepath.Join(t.TempDir(), "a.db")
	cmd, lines := begun(t, db, `{"steps":100,"delayMs":1000}`)
	over := make(chan struct{})
	go func() {
		// The first is heard at some moment; the next one after that counts.
		for {
			select {
			case <-over:
				return
			case <-time.After(50 * time.Millisecond):
				_ = cmd.Process.Signal(os.Interrupt)
			}
		}
	}()
	for lines.Scan() {
	}
	err := cmd.Wait()
	close(over)
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("it ended with %v, and not by the signal", err)
	}
	if text, _ := run(t, 0, "", "audit", "verify", "--db", db); !strings.Contains(text, "0 entries") && !strings.Contains(text, "whole") {
		t.Errorf("the record is not whole:\n%s", text)
	}
}
