package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"handrail/internal/testenv"
)

// modules makes sure that node_modules is there. Where it is not, it is
// installed from the lock file; where that fails, the test is left out.
var modules = sync.OnceValue(func() string {
	if _, err := os.Stat(filepath.Join("node_modules", ".package-lock.json")); err == nil {
		return ""
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "e2e/node_modules is missing and there is no npm on PATH; run npm ci in e2e"
	}
	if out, err := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
		return "npm ci failed in e2e: " + err.Error() + "\n" + string(out)
	}
	return ""
})

// script runs one of clients/ against the binary and reports what it found.
func script(t *testing.T, name string, words ...string) {
	t.Helper()
	t.Parallel()
	node := testenv.Node(t)
	if why := modules(); why != "" {
		testenv.LeftOut(t, why)
	}
	args := append([]string{filepath.Join("clients", name)}, words...)
	cmd := exec.CommandContext(t.Context(), node, append(args, "--", testenv.Binary(t), "tasks")...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, runErr := cmd.Output()
	var report struct {
		Passed, Failed int
		Failures       []struct{ Name, Detail string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v, %v\nstdout: %s\nstderr: %s", runErr, err, out, &stderr)
	}
	for _, f := range report.Failures {
		t.Errorf("%s: %s", f.Name, f.Detail)
	}
	if report.Passed < 40 {
		t.Errorf("only %d checks passed: the script ended early", report.Passed)
	}
	if t.Failed() {
		t.Logf("stderr: %s", &stderr)
	}
}

func TestTypeScriptV2ClientLegacy(t *testing.T) { script(t, "typescript-v2.mjs", "legacy") }
func TestTypeScriptV2ClientModern(t *testing.T) { script(t, "typescript-v2.mjs", "modern") }
func TestTypeScriptV2ClientAuto(t *testing.T)   { script(t, "typescript-v2.mjs", "auto") }
func TestTypeScriptV1Client(t *testing.T)       { script(t, "typescript-v1.mjs") }
func TestInspectorLegacy(t *testing.T)          { script(t, "inspector.mjs", "legacy") }
func TestInspectorModern(t *testing.T)          { script(t, "inspector.mjs", "modern") }

func TestTheLockFileHoldsNoDownloadAddresses(t *testing.T) {
	t.Parallel()
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"resolved"`, "http://", ".tgz"} {
		if strings.Contains(string(lock), word) {
			t.Errorf("package-lock.json contains %s; run npm install with --omit-lockfile-registry-resolved", word)
		}
	}
}
