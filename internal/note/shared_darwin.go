package note

import (
	"os"

	"golang.org/x/sys/unix"
)

// isShared reports whether f lies on a file system that other machines may
// share. There a folder's lock is known to this machine only.
func isShared(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && st.Flags&unix.MNT_LOCAL == 0
}
