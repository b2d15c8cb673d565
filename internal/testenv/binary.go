package testenv

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// binaryVar hands a built program on to child processes that cannot build
	// one themselves, such as a test run again without root's rights.
	binaryVar = "HANDRAIL_TEST_BINARY"
	// keepBinaries is how long a built program stays in the cache unused.
	keepBinaries = 24 * time.Hour
)

// Each is built once in a test process: the programs do not change under it.
var (
	build       = sync.OnceValues(buildHandrail)
	buildRunner = sync.OnceValues(func() (string, error) { return buildProgram("handrail-runner") })
)

// built is what Binary returned, for Unprivileged to hand on.
var built atomic.Pointer[string]

// Binary is the path of the handrail program built from this tree, without cgo
// as releases are. Test processes share one file for each state of the source,
// in the user's cache folder, and the first to need it builds it. A test that
// uses it is not served from go test's cache once the source has changed.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("cannot build ./cmd/handrail: %v", err)
	}
	built.Store(&path)
	return path
}

// Runner is the path of the program handrail-runner, built and shared as Binary
// is. It stands alone in a folder, under its own name, so that a test may put the
// folder on PATH, or link it beside another program. It takes a minute to build
// where nobody has yet: it holds all of go-task.
func Runner(t testing.TB) string {
	t.Helper()
	path, err := buildRunner()
	if err != nil {
		t.Fatalf("cannot build ./cmd/handrail-runner: %v", err)
	}
	return path
}

func buildHandrail() (string, error) {
	if path := os.Getenv(binaryVar); path != "" {
		return path, nil
	}
	return buildProgram("handrail")
}

// buildProgram builds one of the programs under cmd and returns its path.
func buildProgram(name string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	if err := noteSources(root); err != nil {
		return "", err
	}
	id, err := codeOf(root, "./cmd/"+name)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	dir := filepath.Join(cache, hex.EncodeToString(sum[:8])+".d")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	now := time.Now()
	if _, err := os.Stat(path); err == nil && os.Chtimes(dir, now, now) == nil { // there, and marked as used
		return path, nil
	}
	prune(cache, now.Add(-keepBinaries))
	// Another process may be building the same: each writes its own folder, and
	// the rename makes it appear whole.
	part, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := os.Chmod(part, 0o755); err != nil {
		return "", err
	}
	program := "./cmd/" + strings.TrimSuffix(name, ".exe")
	if _, err := goCommand(root, "build", "-o", filepath.Join(part, name), program); err != nil {
		return "", err
	}
	if err := os.Rename(part, dir); err != nil {
		// It refuses to replace a folder that another process has put there.
		if _, missing := os.Stat(path); missing != nil {
			return "", err
		}
	}
	return path, nil
}

// codeOf changes exactly when the code of a program does, and asking for it
// compiles but does not link. It is the build ids of all its packages: that of
// the main package alone stays as it was where a function below changes that
// nobody's compilation looks into.
func codeOf(dir, program string) (string, error) {
	return goCommand(dir, "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.BuildID}}", program)
}

// goCommand runs the go command without cgo and returns what it printed.
func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
		}
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// moduleRoot is the folder of this module, from any folder inside it, also from
// one that is a module of its own.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module handrail\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside the handrail module", start)
		}
	}
}

// noteSources lists every folder that the program is built from. go test takes
// note of each folder that a test lists, with the size and time of every file in
// it, and runs the test again when one of them differs: without this, a test
// that only starts the program would be answered from the cache for ever.
func noteSources(root string) error {
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err := os.ReadFile(filepath.Join(root, "go.sum"))
	return err
}

// cacheDir is where built programs are shared, made if it is not there.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "handrail-test")
	return dir, os.MkdirAll(dir, 0o755)
}

// prune removes what nobody has used since before. Failing to is harmless.
func prune(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
