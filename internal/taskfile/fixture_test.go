package taskfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// write puts the files of an archive ("-- name --" before each) into a new folder.
func write(t testing.TB, archive string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, dir, archive)
	return dir
}

func unpack(t testing.TB, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		put(t, filepath.Join(dir, f.Name), string(f.Data))
	}
}

// put writes a file as editors do: whole, and in the place of the one before.
func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"~", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

// environ is what runs get in tests: nothing that differs from machine to
// machine.
func environ() []string {
	env := []string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH")}
	if runtime.GOOS == "windows" {
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"), "PATHEXT="+os.Getenv("PATHEXT"))
	}
	return env
}

// open opens folders with the runner of this tree, and closes them with the test.
func open(t testing.TB, o taskfile.Options, dirs ...string) *taskfile.Project {
	t.Helper()
	if o.Runner == "" && o.Self == "" {
		o.Runner = testenv.Runner(t)
	}
	if o.Env == nil {
		o.Env = environ()
	}
	if o.LogDir == "" {
		o.LogDir = t.TempDir()
	}
	o.Now = time.Now
	p, err := taskfile.OpenRoots(t.Context(), dirs, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// project opens one folder that holds the files of an archive.
func project(t testing.TB, archive string) *taskfile.Project {
	t.Helper()
	return open(t, taskfile.Options{}, write(t, archive))
}

// posix leaves a test out where its tasks would miss the programs they start.
func posix(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		testenv.LeftOut(t, "its tasks start programs of a Unix system")
	}
}

// toolNames are the names of a plan's tools, in its order.
func toolNames(p *taskfile.Plan) []string {
	names := []string{}
	for _, tool := range p.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// info is a task of a plan.
func info(t testing.TB, p *taskfile.Plan, task string) taskfile.TaskInfo {
	t.Helper()
	for _, i := range p.Tasks {
		if i.Decl.Task == task {
			return i
		}
	}
	t.Fatalf("the plan has no task %q; roots %+v", task, p.Roots)
	return taskfile.TaskInfo{}
}

// oneLine is a text in which line breaks can be seen.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "⏎")
}
