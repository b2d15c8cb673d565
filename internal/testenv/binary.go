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

// build runs once in a test process: the program does not change under it.
var build = sync.OnceValues(buildHandrail)

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

func buildHandrail() (string, error) {
	if path := os.Getenv(binaryVar); path != "" {
		return path, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	if err := noteSources(root); err != nil {
		return "", err
	}
	// The build id of the main package changes exactly when the code of any
	// package below it does, and asking for it compiles but does not link.
	id, err := goCommand(root, "list", "-export", "-f", "{{.BuildID}}", "./cmd/handrail")
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	name := hex.EncodeToString(sum[:8])
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(cache, name)
	now := time.Now()
	if os.Chtimes(path, now, now) == nil { // there, and marked as used
		return path, nil
	}
	prune(cache, now.Add(-keepBinaries))
	// Another process may be building the same: each writes its own file, and
	// the rename makes it appear whole.
	part, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	built := filepath.Join(part, name)
	if _, err := goCommand(root, "build", "-o", built, "./cmd/handrail"); err != nil {
		return "", err
	}
	if err := os.Rename(built, path); err != nil {
		// Windows refuses to replace a program that runs; then it is there.
		if _, missing := os.Stat(path); missing != nil {
			return "", err
		}
	}
	return path, nil
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
