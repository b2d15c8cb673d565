//go:build unix

package note_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/note"
)

// lockAsAnother takes a folder's lock as another process would.
func lockAsAnother(t testing.TB, dir string) (unlock func()) {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

func TestALockedFolderIsWaitedForAndThenUnavailable(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.md", "x\n")
	v := openVault(t, root, note.Limits{})
	v.SetLockWait(100 * time.Millisecond)
	unlock := lockAsAnother(t, root)
	_, err := v.Append(ctx, "a.md", "y")
	wantCode(t, err, fault.Unavailable, "try again")
	if c, err := v.Read(ctx, "a.md"); err != nil || c.Content != "x\n" {
		t.Fatalf("a read waits for no lock: %+v, %v", c, err)
	}
	time.AfterFunc(50*time.Millisecond, unlock)
	if _, err := v.Append(ctx, "a.md", "y"); err != nil {
		t.Fatal(err)
	}
}

func TestServersOnNestedRootsMeetAtTheSameLock(t *testing.T) {
	root := t.TempDir()
	put(t, root, "sub/a.md", "x\n")
	outer, inner := openVault(t, root, note.Limits{}), openVault(t, filepath.Join(root, "sub"), note.Limits{})
	outer.SetLockWait(50 * time.Millisecond)
	inner.SetLockWait(50 * time.Millisecond)
	unlock := lockAsAnother(t, filepath.Join(root, "sub"))
	_, err := outer.Append(ctx, "sub/a.md", "y")
	wantCode(t, err, fault.Unavailable)
	_, err = inner.Append(ctx, "a.md", "y")
	wantCode(t, err, fault.Unavailable)
	unlock()
	if _, err := inner.Append(ctx, "a.md", "y"); err != nil {
		t.Fatal(err)
	}
}

// TestALockFileLocksWhereAFolderCannotBe is the lock of NFS and its like.
func TestALockFileLocksWhereAFolderCannotBe(t *testing.T) {
	root := t.TempDir()
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	unlock, ok, err := note.TryLockShared(dir)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := note.TryLockShared(dir); ok || err != nil {
		t.Fatal("locked twice", err)
	}
	unlock()
	if unlock, ok, err = note.TryLockShared(dir); !ok || err != nil {
		t.Fatal(ok, err)
	}
	unlock()
	v := openVault(t, root, note.Limits{})
	if n, err := v.Sweep(ctx); n != 0 || err != nil || len(list(t, v)) != 0 {
		t.Fatal("the lock file is taken for something else", n, err)
	}
	// A link in its place leads nowhere.
	os.Remove(filepath.Join(root, ".handrail.lock"))
	link(t, filepath.Join(t.TempDir(), "outside"), filepath.Join(root, ".handrail.lock"))
	if _, ok, err := note.TryLockShared(dir); ok || err == nil {
		t.Fatal("a link was followed out of the folder")
	}
}
