package testenv_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"handrail/internal/testenv"
)

func TestATestMayMountAFileSystemThatIsSoonFull(t *testing.T) {
	if testenv.Mounting(t) {
		return
	}
	checkFull(t)
}

func TestAUserWithoutRightsMayMountToo(t *testing.T) {
	if testenv.Unprivileged(t) || testenv.Mounting(t) {
		return
	}
	checkFull(t)
}

// checkFull fails where a small file system takes more than it has room for.
func checkFull(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("1 MiB into 64 KiB: %v", err)
	}
}
