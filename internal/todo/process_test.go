package todo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/note"
	"handrail/internal/todo"
)

// TestMain lets the test binary be the other processes of a test.
func TestMain(m *testing.M) {
	root := os.Getenv("HANDRAIL_TODO_ROOT")
	if root == "" {
		os.Exit(m.Run())
	}
	v, err := note.Open(root, note.Limits{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l := todo.New(v.SideFile("tasks.json"), time.Now)
	for i := range processAdds {
		task, err := l.Add(ctx, todo.Draft{Title: fmt.Sprintf("%s %d", os.Getenv("HANDRAIL_TODO_NAME"), i)})
		if err == nil && i%10 == 0 {
			_, err = l.Complete(ctx, task.ID)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(0)
}

const processAdds = 200

func TestThreeProcessesAddToOneFileAndNoTaskIsLost(t *testing.T) {
	root := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for p := range 3 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "HANDRAIL_TODO_ROOT="+root, fmt.Sprintf("HANDRAIL_TODO_NAME=p%d", p))
		cmd.Stderr = os.Stderr
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	v, err := note.Open(root, note.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	l := todo.New(v.SideFile("tasks.json"), time.Now)
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := l.List(ctx, todo.Query{}); err != nil {
			t.Fatalf("a reader beside the writers: %v", err)
		}
	}
	titles := map[string]bool{}
	completed, last := 0, int64(0)
	for q := (todo.Query{Status: "all", Limit: 200}); ; {
		page, err := l.List(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range page.Tasks {
			titles[task.Title] = true
			if task.ID != last+1 {
				t.Fatalf("id %d follows %d", task.ID, last)
			}
			if last = task.ID; task.Status == todo.Done {
				completed++
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	if len(titles) != 3*processAdds || completed != 3*processAdds/10 {
		t.Errorf("%d tasks, %d done", len(titles), completed)
	}
	if names, _ := filepath.Glob(filepath.Join(root, ".handrail*")); len(names) > 0 {
		t.Errorf("left behind: %s", strings.Join(names, ", "))
	}
}

func TestAnInvalidFileOnDiskIsLeftByteForByte(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "tasks.json")
	if err := os.WriteFile(path, []byte("[\n{\"id\":1 oops}"), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := note.Open(root, note.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	l := todo.New(v.SideFile("tasks.json"), noon)
	_, err = l.Add(ctx, todo.Draft{Title: "x"})
	wantCode(t, err, "invalid_store", "line 2")
	if got, _ := os.ReadFile(path); string(got) != "[\n{\"id\":1 oops}" {
		t.Errorf("became %q", got)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = l.Add(ctx, todo.Draft{Title: "x"})
	wantCode(t, err, "invalid_store")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../tasks.json", path); err == nil {
		_, err = l.Add(ctx, todo.Draft{Title: "x"})
		wantCode(t, err, "invalid_store", "out of the notes folder")
	}
}
