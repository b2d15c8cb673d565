package note

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keepAttributes gives f the access list and the user attributes of old, where
// the file system has them and allows it.
func keepAttributes(f, old *os.File) {
	from, to := int(old.Fd()), int(f.Fd())
	size, err := unix.Flistxattr(from, nil)
	if err != nil || size <= 0 {
		return
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(from, list); err != nil {
		return
	}
	for name := range strings.SplitSeq(string(list[:size]), "\x00") {
		if name != "system.posix_acl_access" && !strings.HasPrefix(name, "user.") {
			continue
		}
		value := make([]byte, 64<<10) // the most that Linux allows
		if n, err := unix.Fgetxattr(from, name, value); err == nil {
			_ = unix.Fsetxattr(to, name, value[:n], 0)
		}
	}
}
