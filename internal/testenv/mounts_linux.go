package testenv

import (
	"os"
	"syscall"
	"testing"
)

// Mounting makes sure that the test may mount file systems of its own, such as a
// small tmpfs that can be filled. For root it returns false at once and the test
// goes on. For any other user it runs the same test once more, in a child process
// that is root of its own user and mount namespaces, and returns true when the
// child has passed: the caller then returns. Use it first:
//
//	if testenv.Mounting(t) {
//		return
//	}
//
// Where the system allows neither, the test is left out. What the child mounts is
// gone with it.
func Mounting(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		if err := mountable(t.TempDir()); err != nil {
			LeftOut(t, "this machine lets nobody mount a file system: "+err.Error())
		}
		return false
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := again(t, self)
	// The child's root is the only user there is in it: it cannot become nobody.
	cmd.Env = append(os.Environ(), childVar+"=1", "GOCOVERDIR=")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	judge(t, cmd, "in a user namespace")
	return true
}

// mountable tells whether a file system can be mounted on dir. A container's root
// may be no more than its name.
func mountable(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return err
	}
	return syscall.Unmount(dir, syscall.MNT_DETACH)
}
