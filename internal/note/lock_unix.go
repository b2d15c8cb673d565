//go:build unix

package note

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"handrail/internal/fault"
)

// lockFile is locked in the place of a folder that cannot be, or whose lock would
// not reach the other machines that share it (NFS, SMB, FUSE). It stays when it
// is there: taking it away would take it from under somebody's lock.
const lockFile = ".handrail.lock"

// tryLock takes the advisory lock of the folder dir, or returns false at once.
// The kernel drops the lock with the last descriptor, so no crash leaves one
// behind. The folder itself is locked, unless shared says that other machines
// would not know: nothing new lies in it, and servers on nested roots meet at the
// same lock.
func tryLock(dir *os.Root, shared func(*os.File) bool) (unlock func(), ok bool, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	if shared(f) {
		f.Close()
		return tryLockFile(dir)
	}
	switch err := flock(f); {
	case err == nil:
		return func() { f.Close() }, true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, false, nil
	}
	f.Close()
	return tryLockFile(dir)
}

func tryLockFile(dir *os.Root) (unlock func(), ok bool, err error) {
	f, err := dir.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|openFlags, 0o666)
	if err != nil {
		return nil, false, err
	}
	switch err = flock(f); {
	case err == nil:
		return func() { f.Close() }, true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, false, nil
	}
	f.Close()
	return nil, false, fault.Wrap(err, fault.Unavailable,
		"this file system has no locks, so notes cannot be changed safely; nothing was changed")
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			return err
		}
	}
}
