package note_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/note"
	"handrail/internal/testenv"
)

// child starts this test binary as another process that does what.
func child(t testing.TB, root, what string, more ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append(more, "HANDRAIL_NOTE_CHILD="+what, "HANDRAIL_NOTE_ROOT="+root)...)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestThreeProcessesAppendToOneNoteAndNoLineIsLost(t *testing.T) {
	root := t.TempDir()
	const each = 500
	var wg sync.WaitGroup
	for p := range 3 {
		cmd := child(t, root, "append", fmt.Sprintf("HANDRAIL_NOTE_NAME=p%d", p), fmt.Sprintf("HANDRAIL_NOTE_COUNT=%d", each))
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("process %d: %v", p, err)
			}
		})
	}
	// Reads go on beside, and each sees whole lines only.
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	v := openVault(t, root, note.Limits{MaxReadBytes: 1 << 20})
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
		if c, err := v.Read(ctx, "log.md"); err == nil && !strings.HasSuffix(c.Content, "\n") {
			t.Fatalf("half a line: %q", c.Content[max(0, len(c.Content)-40):])
		}
	}
	lines := strings.Split(strings.TrimSuffix(get(t, filepath.Join(root, "log.md")), "\n"), "\n")
	next := map[string]int{}
	for _, line := range lines {
		var name string
		var i int
		if _, err := fmt.Sscanf(line, "%s %d", &name, &i); err != nil || next[name] != i {
			t.Fatalf("line %q, want number %d", line, next[name])
		}
		next[name]++
	}
	if len(lines) != 3*each {
		t.Errorf("%d lines, want %d", len(lines), 3*each)
	}
	noTemporaryFiles(t, root)
}

func TestManyCallersInOneProcessAppendAndNoLineIsLost(t *testing.T) {
	root := t.TempDir()
	v := openVault(t, root, note.Limits{})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if _, err := v.Append(ctx, "log.md", fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(get(t, filepath.Join(root, "log.md")), "\n"); n != 100 {
		t.Errorf("%d lines", n)
	}
}

func noTemporaryFiles(t testing.TB, root string) {
	t.Helper()
	for name := range tree(t, root) {
		if strings.HasPrefix(filepath.Base(name), ".handrail") {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestAKilledWriterLeavesWholeNotesAndItsRemainsAreSwept kills a writer at
// whatever it does just then.
func TestAKilledWriterLeavesWholeNotesAndItsRemainsAreSwept(t *testing.T) {
	root := t.TempDir()
	put(t, root, "kept.md", strings.Repeat("z", 20_000)+"\n")
	leftovers := 0
	rounds := 50
	if testenv.Long() {
		rounds = 500
	}
	for i := range rounds {
		cmd := child(t, root, "rewrite")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatal(line, err)
		}
		time.Sleep(time.Duration(i*37%23) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		for name := range tree(t, root) {
			if strings.HasPrefix(filepath.Base(name), ".handrail") {
				leftovers++
			}
		}
		v, err := note.Open(root, note.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		v.Close()
		notes := 0
		for name, content := range tree(t, root) {
			if strings.HasPrefix(filepath.Base(name), ".handrail") {
				t.Fatalf("round %d: %s was left behind", i, name)
			}
			if strings.HasSuffix(name, ".md") {
				notes++
				if len(content) < 20_001 || strings.Trim(content, content[:1]) != "\n" {
					t.Fatalf("round %d: %s is half-written: %d bytes", i, name, len(content))
				}
			}
		}
		if notes == 0 {
			t.Fatalf("round %d: kept.md is gone", i)
		}
	}
	t.Logf("%d of %d kills left a temporary file to sweep", leftovers, rounds)
}

func TestALiveWritersTemporaryFileIsNotSwept(t *testing.T) {
	root := t.TempDir()
	put(t, root, "f/.handrail-0123456789abcdef.tmp", "being written")
	v := openVault(t, root, note.Limits{})
	unlock := lockAsAnother(t, filepath.Join(root, "f"))
	if n, err := v.Sweep(ctx); n != 0 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	unlock()
	put(t, root, ".handrail-note.md", "a person's hidden note")
	if n, err := v.Sweep(ctx); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
}

func TestAFoldersLockHasOneHolderAtATime(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	unlock, ok, err := note.TryLock(dir)
	if !ok || err != nil {
		t.Fatalf("the first is refused: %v", err)
	}
	second := make(chan bool)
	go func() { // another thread: on Windows the same one would be let in again
		_, ok, err := note.TryLock(dir)
		second <- ok || err != nil
	}()
	if <-second {
		t.Error("a second is let in")
	}
	unlock()
	unlock, ok, err = note.TryLock(dir)
	if !ok || err != nil {
		t.Fatalf("after the first has gone the next is refused: %v", err)
	}
	unlock()
}
