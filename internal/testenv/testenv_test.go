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
