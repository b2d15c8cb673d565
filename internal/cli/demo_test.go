package cli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/internal/cli"
	"handrail/internal/testenv"
)

// demo plays the demo with a server that is started by a script.
func demo(t *testing.T, ctx context.Context, script string) (out string, left []string, err error) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		testenv.LeftOut(t, "no sh on PATH to stand in for the server with")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	server := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(server, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = cli.RunDemo(ctx, cli.Env{Out: &b, Err: &b, Getenv: func(string) string { return "" }, Now: time.Now}, server, false)
	entries, reading := os.ReadDir(dir)
	if reading != nil {
		t.Fatal(reading)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	return b.String(), left, err
}

func TestTheDemoFailsWhereTheServerDoesSomethingElse(t *testing.T) {
	handrail := testenv.Binary(t)
	for name, c := range map[string]struct{ script, why string }{
		"tools are missing": {`exec '` + handrail + `' "$@" --read-only`, "stopped at step 1: the server offers 2 tools"},
		"another database":  {`exec '` + handrail + `' "$@" --db other.db`, "stopped at step 6"},
		"it does not start": {`echo no such thing >&2; exit 1`, "no such thing"},
	} {
		t.Run(name, func(t *testing.T) {
			out, left, err := demo(t, t.Context(), c.script)
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("got %v, not %q; it printed:\n%s", err, c.why, out)
			}
			if strings.Contains(out, "steps did what they say") {
				t.Error("it says that all went well")
			}
			for _, name := range left {
				if strings.HasPrefix(name, "handrail-demo-") {
					t.Errorf("it left %s behind", name)
				}
			}
		})
	}
}

func TestTheDemoEndsWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, left, err := demo(t, ctx, "exec sleep 60")
	if err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("it ended after %v with %v", time.Since(began), err)
	}
	if len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
}
