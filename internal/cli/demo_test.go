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
func demo(t *testing.T, ctx context.Context, all bool, script string) (out string, left []string, err error) {
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
	err = cli.RunDemo(ctx, cli.Env{Out: &b, Err: &b, Getenv: func(string) string { return "" }, Now: time.Now}, server, all, false)
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
			out, left, err := demo(t, t.Context(), false, c.script)
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

// Each case is a server that is right in everything but one.
func TestTheCourseFailsWhereTheServerDoesSomethingElse(t *testing.T) {
	t.Parallel()
	handrail := testenv.Binary(t)
	only := func(when, option string) string {
		return `case "$*" in ` + when + `) exec '` + handrail + `' "$@" ` + option + ` ;; *) exec '` + handrail + `' "$@" ;; esac`
	}
	const stdio, http = "*warn*", "*--http*"
	for name, c := range map[string]struct{ script, why string }{
		"nothing can be changed":        {only(stdio, "--read-only"), "stopped at step 2: the server does not offer create_task"},
		"nobody is asked":               {only(stdio, "--confirm argument"), "stopped at step 9: delete_task was not refused with declined"},
		"another database":              {only(stdio, "--db other.db"), "stopped at step 8: notifications/resources/updated of tasks://board did not come"},
		"nothing can be changed there":  {only(http, "--read-only"), "stopped at step 22: the server does not offer create_task"},
		"it does not listen":            {only(http, "--listen nowhere"), "is no HOST:PORT"},
		"it speaks no protocol at all":  {"echo hello; exec cat", "stopped at step 1"},
		"it says nothing and goes away": {"exit 0", "stopped at step 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := playCourse(t, c.script)
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("got %v, not %q; it ended with:\n%s", err, c.why, out[max(0, len(out)-3000):])
			}
			if strings.Contains(out, "steps did what they say") {
				t.Error("it says that all went well")
			}
		})
	}
}

// playCourse plays the course with a server that is started by a script.
func playCourse(t *testing.T, script string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		testenv.LeftOut(t, "no sh on PATH to stand in for the server with")
	}
	server := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(server, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := cli.RunDemo(t.Context(), cli.Env{Out: &b, Err: &b, Getenv: func(string) string { return "" }, Now: time.Now}, server, true, false)
	return b.String(), err
}

func TestTheDemoEndsWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, left, err := demo(t, ctx, false, "exec sleep 60")
	if err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("it ended after %v with %v", time.Since(began), err)
	}
	if len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
}
