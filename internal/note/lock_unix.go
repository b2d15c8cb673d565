//go:build unix

package note

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"handrail/internal/fault"
)

// lockFile is used on file systems that cannot lock a folder itself (NFS).
const lockFile = ".handrail.lock"

// tryLock takes the advisory lock of the folder dir, or returns false at once.
// The kernel drops the lock with the last descriptor, so no crash leaves one
// behind. The folder itself is locked: nothing new lies in it, and servers on
// nested roots meet at the same lock.
func tryLock(dir *os.Root) (unlock func(), ok bool, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	err = flock(f)
	if errors.Is(err, unix.EBADF) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) ||
		errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOLCK) {
		f.Close()
		if f, err = dir.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|openFlags, 0o666); err != nil {
			return nil, false, err
		}
		err = flock(f)
	}
	switch {
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
