//go:build unix

package note

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a FIFO.
const openFlags = syscall.O_NONBLOCK

func isNameTooLong(err error) bool { return errors.Is(err, unix.ENAMETOOLONG) }
func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

// isBusy reports an error that goes away when somebody else closes a file.
func isBusy(error) bool { return false }

// mayBeLink reports whether info could be a link that Readlink understands.
func mayBeLink(info fs.FileInfo) bool { return info.Mode()&fs.ModeSymlink != 0 }

// splitTarget cuts a relative link target into names.
func splitTarget(target string) []string { return splitSlash(target) }

// underRoot returns the names of an absolute link target beneath real, as they
// are written, and whether it lies there at all.
func underRoot(real, target string) ([]string, bool) {
	return cutRoot(real, target, func(a, b string) bool { return a == b })
}

// isAbsolute reports whether a link target starts from the top of the system.
func isAbsolute(target string) bool { return target != "" && target[0] == '/' }

// aliases reports whether name may be another name for a file whose own name
// was never checked. Only Windows has such names.
func aliases(*os.Root, string) bool { return false }

// keepOwner gives f the owner and group of the file it replaces, where that is
// allowed; where it is not, the file belongs to whoever wrote it.
func keepOwner(f *os.File, old fs.FileInfo) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid))
	}
}

// syncFolder makes renames in a folder last. Some file systems cannot sync a
// folder and say EINVAL; there is nothing more to do then.
func syncFolder(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
