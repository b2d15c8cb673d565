package main_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	main "handrail/internal/testenv/gotest"
)

// said is an event in which a test says something.
func said(test, output string) string {
	return `{"Action":"output","Package":"p","Test":"` + test + `","Output":"` + output + `\n"}`
}

// ended is an event in which a test, or the package, comes to its end.
func ended(test, action string) string {
	if test == "" {
		return `{"Action":"` + action + `","Package":"p"}`
	}
	return `{"Action":"` + action + `","Package":"p","Test":"` + test + `"}`
}

func TestEveryPackageIsTestedOnceAndThoseThatShareMemoryWithRace(t *testing.T) {
	t.Chdir("../../..")
	raced, plain, err := main.Split()
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.CommandContext(t.Context(), "go", "list", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	both := slices.Sorted(slices.Values(slices.Concat(raced, plain)))
	if want := strings.Fields(string(list)); !slices.Equal(both, slices.Sorted(slices.Values(want))) {
		t.Errorf("tested: %q, want %q", both, want)
	}
	for _, pkg := range []string{"handrail/internal/mcpserver", "handrail/internal/store/sqlite", "handrail/internal/cli"} {
		if !slices.Contains(raced, pkg) {
			t.Errorf("%s is tested without -race", pkg)
		}
	}
	for _, pkg := range []string{"handrail", "handrail/e2e", "handrail/internal/testenv/gotest"} {
		if !slices.Contains(plain, pkg) {
			t.Errorf("%s is tested with -race", pkg)
		}
	}
}

func TestTheSummary(t *testing.T) {
	tests := map[string]struct {
		lines  []string
		all    bool
		failed bool
		has    []string
		hasNot []string
	}{
		"what passes is quiet": {
			lines: []string{
				said("TestA", "=== RUN   TestA"), said("TestA", "    a_test.go:1: chatter"), ended("TestA", "pass"),
				`{"Action":"output","Package":"p","Output":"PASS\n"}`,
				`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`, ended("", "pass"),
			},
			has:    []string{"ok  \tp\t0.1s\n", "\n1 passed, 0 failed, 0 skipped\n"},
			hasNot: []string{"chatter", "=== RUN", "PASS", "LEFT OUT"},
		},
		"what fails is shown": {
			lines: []string{
				said("TestA", "    a_test.go:1: one is not two"), ended("TestA", "fail"),
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}`, ended("", "fail"),
			},
			failed: true,
			has:    []string{"one is not two", "FAIL\tp\t0.1s\n", "\n0 passed, 1 failed, 0 skipped\n"},
		},
		"what is left out is told with its reason": {
			lines:  []string{said("TestA", "    a_test.go:1: LEFT OUT: no Node on PATH"), said("TestA", "--- SKIP: TestA (0.00s)"), ended("TestA", "skip"), ended("", "pass")},
			has:    []string{"LEFT OUT of this run, 1:\n  - p: TestA\n      because: no Node on PATH\n", "\n0 passed, 0 failed, 1 skipped\n"},
			hasNot: []string{"a_test.go"},
		},
		"nothing may be left out of a whole run": {
			lines:  []string{ended("TestA", "pass"), said("TestB", "    b_test.go:9: later"), ended("TestB", "skip"), ended("", "pass")},
			all:    true,
			failed: true,
			has:    []string{"because: later", "HANDRAIL_TEST_ALL=1 allows nothing to be left out", "\n1 passed, 0 failed, 1 skipped\n"},
		},
		"a test that never ended has failed": {
			lines:  []string{said("TestA", "panic: boom"), ended("", "fail")},
			failed: true,
			has:    []string{"panic: boom", "\n0 passed, 1 failed, 0 skipped\n"},
		},
		"a package that does not build has failed": {
			lines: []string{
				`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p/a.go:1: undefined: x\n"}`,
				`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`, ended("", "fail"),
			},
			failed: true,
			has:    []string{"undefined: x", "FAIL\tp [build failed]\n", "\n0 passed, 1 failed, 0 skipped\n"},
		},
		"what is no event is shown as it is": {
			lines: []string{"go: no such tool", ended("TestA", "pass")},
			has:   []string{"go: no such tool\n"},
		},
		"a package without tests is no skipped test": {
			lines: []string{`{"Action":"output","Package":"p","Output":"?   \tp\t[no test files]\n"}`, ended("", "skip")},
			all:   true,
			has:   []string{"\n0 passed, 0 failed, 0 skipped\n"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if failed := main.Report(&out, tt.all, tt.lines...); failed != tt.failed {
				t.Errorf("failed = %v, want %v", failed, tt.failed)
			}
			for _, want := range tt.has {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report lacks %q:\n%s", want, out.String())
				}
			}
			for _, unwanted := range tt.hasNot {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("the report has %q:\n%s", unwanted, out.String())
				}
			}
		})
	}
}
