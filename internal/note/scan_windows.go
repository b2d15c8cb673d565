package note

import (
	"io"
	"io/fs"
	"os"
)

// folder is an open folder of a scan; it reaches its files and folders by single
// names through os.Root and never follows a link.
type folder struct {
	handle
	root *os.Root
}

func openTop(dir *os.Root) (*folder, error) {
	sub, err := dir.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &folder{root: sub}, nil
}

func (d *folder) openSub(name string) (*folder, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if mayBeLink(info) || !info.IsDir() {
		return nil, errSwapped
	}
	sub, err := openFolder(d.root, name, info)
	if err != nil {
		return nil, err
	}
	return &folder{root: sub}, nil
}

func (d *folder) entries() ([]fs.DirEntry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (d *folder) close() { d.root.Close() }

func (d *folder) stat(name string) (version, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return version{}, err
	}
	return versionOf(info), nil
}

func (d *folder) read(name string, buf *buffer, whole bool) ([]byte, version, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, version{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, versionOf(info), errNotRegular
	}
	f, got, err := openChecked(d.root, name, info, os.O_RDONLY)
	if err != nil {
		return nil, version{}, err
	}
	defer f.Close()
	room, err := buf.room(versionOf(got), whole)
	if err != nil {
		return nil, versionOf(got), err
	}
	n, err := io.ReadFull(f, room)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return room[:n], versionOf(got), err
}

func versionOf(info fs.FileInfo) version {
	return version{
		regular: info.Mode().IsRegular(), size: info.Size(), mtime: info.ModTime().UnixNano(),
	}
}
