//go:build unix

package note

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// folder is an open folder of a scan. It reaches its files and folders by single
// names from its own descriptor and never follows a link, which is what os.Root
// does below, without the cost of an os.File for each of many thousand notes.
type folder struct {
	handle
	f *os.File
}

// openTop opens the folder dir for a scan.
func openTop(dir *os.Root) (*folder, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	return &folder{f: f}, nil
}

// openSub opens the folder name of d; a link is an error.
func (d *folder) openSub(name string) (*folder, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &folder{f: os.NewFile(uintptr(fd), name)}, nil
}

func (d *folder) fd() int { return int(d.f.Fd()) }

func (d *folder) entries() ([]fs.DirEntry, error) { return d.f.ReadDir(-1) }

func (d *folder) close() { d.f.Close() }

// stat returns the version of the file name, without following a link.
func (d *folder) stat(name string) (version, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return version{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return versionOf(&st), nil
}

func (d *folder) read(name string, buf *buffer, whole bool) ([]byte, version, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, version{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, version{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	seen := versionOf(&st)
	room, err := buf.room(seen, whole)
	if err != nil {
		return nil, seen, err
	}
	n := 0
	for n < len(room) {
		got, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, room[n:]) })
		if err != nil {
			return nil, seen, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		if got == 0 {
			break
		}
		n += got
	}
	return room[:n], seen, nil
}

func versionOf(st *unix.Stat_t) version {
	return version{
		regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
		size:    st.Size,
		mtime:   st.Mtim.Nano(),
		ctime:   st.Ctim.Nano(),
		file:    uint64(st.Ino),
		device:  uint64(st.Dev),
	}
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
