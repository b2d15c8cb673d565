package testenv_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

// told is a test that only listens.
type told struct {
	testing.TB
	failed, skipped string
}

func (f *told) Helper()                      {}
func (f *told) Fatalf(form string, a ...any) { f.failed = fmt.Sprintf(form, a...) }
func (f *told) Skip(a ...any)                { f.skipped = fmt.Sprint(a...) }

func TestWhatIsLeftOutIsSkippedUnlessNothingMayBe(t *testing.T) {
	t.Setenv("HANDRAIL_TEST_ALL", "")
	var some told
	testenv.LeftOut(&some, "no Node")
	if some.failed != "" || some.skipped != "LEFT OUT: no Node" {
		t.Errorf("skipped %q, failed %q; want only a skip", some.skipped, some.failed)
	}
	t.Setenv("HANDRAIL_TEST_ALL", "1")
	var all told
	testenv.LeftOut(&all, "no Node")
	if all.skipped != "" || !strings.HasPrefix(all.failed, "LEFT OUT: no Node") {
		t.Errorf("skipped %q, failed %q; want only a failure", all.skipped, all.failed)
	}
}

func TestUnprivilegedBindsFilePermissions(t *testing.T) {
	if testenv.Unprivileged(t) {
		return
	}
	checkBound(t)
}

func TestUnprivilegedReachesASubtestWithAnOddName(t *testing.T) {
	t.Run("it's a+b (c) [d]", func(t *testing.T) {
		if testenv.Unprivileged(t) {
			return
		}
		checkBound(t)
	})
}

// checkBound fails where a file without permissions can be opened.
func checkBound(t *testing.T) {
	t.Helper()
	if os.PathSeparator == '\\' {
		return // Windows has access lists instead, and its chmod knows only read-only.
	}
	path := filepath.Join(t.TempDir(), "closed")
	if err := os.WriteFile(path, []byte("x"), 0o000); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Fatal("a file of mode 000 can be opened: the test still runs as root")
	}
	if _, err := os.Stat(filepath.Join("testdata", "here.txt")); err != nil {
		t.Fatalf("testdata did not come along: %v", err)
	}
}

func TestBinaryIsBuiltOnceAndRuns(t *testing.T) {
	path := testenv.Binary(t)
	if again := testenv.Binary(t); again != path {
		t.Fatalf("two paths in one process: %s and %s", path, again)
	}
	if out, err := exec.CommandContext(t.Context(), path, "version").CombinedOutput(); err != nil {
		t.Fatalf("handrail version: %v\n%s", err, out)
	}
}

// The inside of a function far below changes no other package's compilation,
// and must still make another program.
func TestEveryChangeOfAProgramsCodeIsSeen(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":       "module probe\n\ngo 1.26\n",
		"main.go":      "package main\n\nimport \"probe/a\"\n\nfunc main() { a.Do() }\n",
		"a/a.go":       "package a\n\nimport \"probe/b\"\n\n//go:noinline\nfunc Do() { b.Do() }\n",
		"b/b.go":       "package b\n\n//go:noinline\nfunc Do() { println(1) }\n",
		"b/b_test.go":  "package b\n",
		"b/README.txt": "x",
	}
	code := func(name, text string) string {
		t.Helper()
		files[name] = text
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		id, err := testenv.CodeOf(dir, ".")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := code("b/README.txt", "y")
	if code("b/b_test.go", "package b\n\nvar x = 1\n") != first {
		t.Error("a change that is in no program is taken for one")
	}
	if code("b/b.go", strings.ReplaceAll(files["b/b.go"], "1", "2")) == first {
		t.Error("a change inside a function is not seen")
	}
}

func TestBinaryIsHandedToTheUnprivilegedRun(t *testing.T) {
	path := testenv.Binary(t)
	if testenv.Unprivileged(t) {
		return
	}
	if out, err := exec.CommandContext(t.Context(), path, "version").CombinedOutput(); err != nil {
		t.Fatalf("handrail version: %v\n%s", err, out)
	}
}

func TestNodeAnswers(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), testenv.Node(t), "-p", "1+1").Output()
	if err != nil || string(out) != "2\n" {
		t.Fatalf("node -p 1+1 = %q, %v", out, err)
	}
}

func TestRunnerIsBuiltUnderItsOwnName(t *testing.T) {
	path := testenv.Runner(t)
	if name := strings.TrimSuffix(filepath.Base(path), ".exe"); name != "handrail-runner" {
		t.Fatalf("the runner is called %q", name)
	}
	out, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "by itself it does nothing") {
		t.Fatalf("handrail-runner by itself: %v\n%s", err, out)
	}
}
