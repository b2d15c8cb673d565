package cli_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"handrail/internal/cli"
)

// full is an output that takes nothing.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// Whoever did not get the output must not take it for done: a disk is full, or a
// pipe closed.
func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	db := filepath.Join(t.TempDir(), "a.db")
	key := filepath.Join(t.TempDir(), "key")
	run(t, 0, "", "call", "--db", db, "add_task", `{"title":"x"}`)
	run(t, 0, "", "audit", "keygen", key)
	for _, words := range [][]string{
		{}, {"--help"}, {"--version"}, {"version"}, {"help", "tasks"}, {"tools"}, {"tools", "basic", "--json"}, {"completion", "bash"},
		{"call", "--db", db, "list_tasks"}, {"audit", "list", "--db", db}, {"audit", "list", "--db", db, "--json"},
		{"audit", "verify", "--db", db}, {"audit", "export", "--db", db}, {"audit", "checkpoint", "--db", db, "--key", key},
	} {
		for _, err := range []error{errors.New("the disk is full"), syscall.EPIPE} {
			var complaint strings.Builder
			status := cli.Main(t.Context(), words, cli.Env{
				In: strings.NewReader(""), Out: full{err}, Err: &complaint, Now: time.Now,
				Getenv: func(string) string { return "" },
			})
			if status != cli.ExitFailed {
				t.Errorf("handrail %s: status %d when its output fails with %v", strings.Join(words, " "), status, err)
			}
			// The reader of a pipe that closed it has enough, and needs no words.
			if said := complaint.String(); strings.Contains(said, "disk is full") == errors.Is(err, syscall.EPIPE) {
				t.Errorf("handrail %s: on %v it said %q", strings.Join(words, " "), err, said)
			}
		}
	}
}

// What goes wrong while a server runs does not cost the record.
func TestAServerWhoseClientIsGoneHasRecordedWhatItDid(t *testing.T) {
	for name, out := range map[string]io.Writer{"full": full{errors.New("the disk is full")}, "closed": full{os.ErrClosed}, "pipe": full{syscall.EPIPE}} {
		db := filepath.Join(t.TempDir(), "a.db")
		in := modern(t, 1, "tools/call", map[string]any{"name": "add_task", "arguments": map[string]any{"title": "kept"}})
		var log strings.Builder
		status := cli.Main(t.Context(), []string{"tasks", "--db", db}, cli.Env{
			In: strings.NewReader(in), Out: out, Err: &log, Now: time.Now, Getenv: func(string) string { return "" },
		})
		if status != cli.ExitFailed {
			t.Errorf("%s: status %d\n%s", name, status, log.String())
		}
		if text, _ := run(t, 0, "", "audit", "list", "--db", db); !strings.Contains(text, "kept") {
			t.Errorf("%s: the call is not on the record:\n%s", name, text)
		}
	}
}

// A client that is done closes its end; an input that breaks off is a failure,
// after what was read has its replies.
func TestAnInputThatBreaksOffIsAFailure(t *testing.T) {
	db := filepath.Join(t.TempDir(), "a.db")
	call := modern(t, 1, "tools/call", map[string]any{"name": "add_task", "arguments": map[string]any{"title": "kept"}})
	for _, c := range []struct {
		end    error
		status int
	}{{io.EOF, 0}, {syscall.EIO, 1}, {io.ErrUnexpectedEOF, 1}} {
		var out, log strings.Builder
		status := cli.Main(t.Context(), []string{"tasks", "--db", db}, cli.Env{
			In: io.MultiReader(strings.NewReader(call), iotest.ErrReader(c.end)), Out: &out, Err: &log, Now: time.Now,
			Getenv: func(string) string { return "" },
		})
		if status != c.status || strings.Contains(log.String(), "handrail: the input broke off") != (c.status == 1) {
			t.Errorf("%v: status %d\n%s", c.end, status, log.String())
		}
		if !strings.Contains(out.String(), `"title":"kept"`) {
			t.Errorf("%v: what was read has no reply: %s", c.end, out.String())
		}
	}
}
