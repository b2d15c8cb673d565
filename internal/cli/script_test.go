package cli_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"handrail/internal/testenv"
)

// The scripts in testdata/script run the built program. Beside testscript's own
// commands they have:
//
//	status N PROGRAM ARGS…   run a program that must end with this status
//	forge FILE OLD NEW       change every OLD in a file to NEW, of the same length
//	poke FILE OFFSET HEX     write bytes into a file
//	without TEXT FROM TO     copy a file without the lines that contain TEXT
//	jsonrpc N                stdout is N lines, each a JSON-RPC 2.0 message
//	mode FILE OCTAL          the file's permissions (not on Windows)
//
// $REPOSITORY is this repository, and $NORUNNER a PATH without handrail-runner.
func TestTheCommandLine(t *testing.T) {
	bin, runner := programs(t), filepath.Dir(testenv.Runner(t))
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			list := string(os.PathListSeparator)
			e.Setenv("NORUNNER", bin+list+e.Getenv("PATH"))
			e.Setenv("PATH", bin+list+runner+list+e.Getenv("PATH"))
			e.Setenv("REPOSITORY", repository)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_STATE_HOME", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "forge": forge, "poke": poke, "without": without, "jsonrpc": jsonrpc, "mode": mode,
		},
	})
}

// programs is a folder with the built program under its own name.
func programs(t *testing.T) string {
	t.Helper()
	built := testenv.Binary(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "handrail")
	if runtime.GOOS != "windows" {
		if err := os.Symlink(built, name); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	b, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(name+".exe", b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with status %d, not %d", strings.Join(args[1:], " "), got, want)
	}
}

func forge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || len(args[1]) != len(args[2]) {
		ts.Fatalf("usage: forge FILE OLD NEW, OLD as long as NEW")
	}
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	if !bytes.Contains(b, []byte(args[1])) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, bytes.ReplaceAll(b, []byte(args[1]), []byte(args[2])), 0o600))
}

func without(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: without TEXT FROM TO")
	}
	var kept strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if !strings.Contains(line, args[0]) {
			kept.WriteString(line)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(kept.String()), 0o600))
}

func poke(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: poke FILE OFFSET HEX")
	}
	at, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, at)
	ts.Check(errors.Join(err, f.Close()))
}

func jsonrpc(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jsonrpc N")
	}
	n := 0
	for dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout"))); ; n++ {
		var m struct{ JSONRPC string }
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || m.JSONRPC != "2.0" {
			ts.Fatalf("stdout has something else than JSON-RPC: %v", err)
		}
	}
	if strconv.Itoa(n) != args[0] || strings.Count(ts.ReadFile("stdout"), "\n") != n {
		ts.Fatalf("stdout has %d messages, not %s on a line each", n, args[0])
	}
}

func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode FILE OCTAL")
	}
	if runtime.GOOS == "windows" {
		return
	}
	want, err := strconv.ParseUint(args[1], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Mode().Perm() != fs.FileMode(want) {
		ts.Fatalf("%s has mode %o, not %o", args[0], info.Mode().Perm(), want)
	}
}
