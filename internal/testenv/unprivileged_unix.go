//go:build unix

package testenv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const (
	// nobody is the user and group id that root's tests become. No account with
	// that number has to exist.
	nobody = 65534
	// childVar marks the process that runs the test again as nobody.
	childVar = "HANDRAIL_TEST_UNPRIVILEGED"
)

// Unprivileged makes sure that the test runs as a user whom file permissions
// bind. For any user but root it returns false at once and the test goes on. For
// root it runs the same test once more, in a child process that is nobody, and
// returns true when the child has passed: the caller then returns. Use it first:
//
//	if testenv.Unprivileged(t) {
//		return
//	}
//
// The child starts in a folder that it owns, which holds a copy of the package's
// testdata, and has TMPDIR and HOME below it. It cannot read the source and
// cannot build: call Binary before Unprivileged where the test needs both.
func Unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv(childVar) != "" {
		return false
	}
	dir := ownedByNobody(t)
	env := append(os.Environ(), childVar+"=1", "GOCOVERDIR=",
		"HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"))
	if path := built.Load(); path != nil {
		copyFile(t, *path, filepath.Join(dir, "handrail"))
		env = append(env, binaryVar+"="+filepath.Join(dir, "handrail"))
	}
	hand(t, dir)
	cmd := again(t, filepath.Join(dir, "test"))
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	judge(t, cmd, fmt.Sprintf("as user %d", nobody))
	return true
}

// ownedByNobody is a new folder with this test program, a copy of its testdata,
// and empty folders for temporary files and a home. t.TempDir will not do: its
// parents are closed to other users.
func ownedByNobody(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "handrail-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"tmp", "home"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, self, filepath.Join(dir, "test"))
	if _, err := os.Stat("testdata"); err == nil {
		if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hand gives dir and all in it to nobody.
func hand(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copyFile copies a program.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Close()); err != nil {
		t.Fatal(err)
	}
}
