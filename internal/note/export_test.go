package note

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"
)

// SetLockWait makes the vault give up on a locked folder after d.
func (v *Vault) SetLockWait(d time.Duration) { v.lockWait = d }

// Settle waits until nothing runs in the background.
func (v *Vault) Settle() { v.index.wg.Wait() }

// IndexBytes is the memory that searches remember things in.
func (v *Vault) IndexBytes() int {
	if c := v.index.folders.Load(); c != nil {
		return c.size()
	}
	return 0
}

// TryLock takes a folder's lock, as any process does.
func TryLock(dir *os.Root) (unlock func(), ok bool, err error) { return tryLock(dir, isShared) }

// TryLockShared takes the lock of a folder that other machines may share.
func TryLockShared(dir *os.Root) (unlock func(), ok bool, err error) {
	return tryLock(dir, func(*os.File) bool { return true })
}

// WatchByPolling is Watch where the system has no file events.
func (v *Vault) WatchByPolling(ctx context.Context) (<-chan Change, error) {
	return v.watch(ctx, func() (*fsnotify.Watcher, error) { return nil, errors.ErrUnsupported }, 100*time.Millisecond)
}
