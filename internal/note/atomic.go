package note

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// A temporary file lies in the folder of the file it will become, is hidden,
// and is recognised by these two. It lives only while its folder is locked:
// one that is seen under the lock was left by a writer that died.
const (
	tempPrefix = ".handrail-"
	tempSuffix = ".tmp"
)

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// replace makes data the content of name in dir, whole or not at all: a
// temporary file, synced, then renamed, then the folder synced. old is the file
// it takes the place of, nil where there must be none. It says errSwapped if
// name is not what old says at the last moment. The folder's lock is held.
func replace(dir *os.Root, name string, old *os.File, info fs.FileInfo, data []byte) (err error) {
	var random [8]byte
	_, _ = rand.Read(random[:])
	temp := fmt.Sprintf("%s%x%s", tempPrefix, random, tempSuffix)
	mode := fs.FileMode(0o666)
	if info != nil {
		mode = 0o600 // nobody reads a private note while it is being written
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil {
			_ = dir.Remove(temp)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if info != nil {
		keepOwner(f, info)
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
		keepAttributes(f, old)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if info == nil {
		err = placeNew(dir, temp, name)
	} else {
		err = placeOver(dir, temp, name, info)
	}
	if err != nil {
		return err
	}
	return syncFolder(dir)
}

// placeNew gives temp its name only if nobody has it. A link cannot replace
// anything, even a file that an editor made this very moment; file systems
// without hard links are looked at before the rename instead.
func placeNew(dir *os.Root, temp, name string) error {
	err := dir.Link(temp, name)
	switch {
	case err == nil:
		return dir.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return errSwapped
	}
	if _, err := dir.Lstat(name); !isNotExist(err) {
		return errSwapped
	}
	return renamePatiently(dir, temp, name)
}

// placeOver renames temp over name, if name still is the file that info saw.
func placeOver(dir *os.Root, temp, name string, info fs.FileInfo) error {
	now, err := dir.Lstat(name)
	if err != nil || !sameVersion(info, now) {
		return errSwapped
	}
	return renamePatiently(dir, temp, name)
}

// renamePatiently outlasts a virus scanner or a reader that keeps the file open
// on Windows.
func renamePatiently(dir *os.Root, from, to string) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := dir.Rename(from, to)
		if err == nil || !isBusy(err) || pause > 500*time.Millisecond {
			return err
		}
		time.Sleep(pause)
	}
}

// sameVersion reports whether two looks at one name saw the same file with the
// same content, as far as the file system tells.
func sameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && b.Mode() == a.Mode()
}

// sweepFolder removes what a dead writer left in dir, whose lock is held.
func sweepFolder(dir *os.Root, names []string) (removed int) {
	for _, name := range names {
		if !isTemp(name) {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() && dir.Remove(name) == nil {
			removed++
		}
	}
	return removed
}

// Sweep removes the temporary files that crashed writers left anywhere in the
// root and returns how many those were. A folder in which somebody is writing
// is left alone, and so is a vault on a read-only file system. It reads folder
// names only; call it in the background after Open where writes are allowed.
// The first write of a vault does it as well.
func (v *Vault) Sweep(ctx context.Context) (removed int, err error) {
	err = v.walkFolders(ctx, func(dir *os.Root, names []string) {
		if !hasTemp(names) {
			return
		}
		unlock, ok, err := tryLock(dir, isShared)
		if err != nil || !ok {
			return
		}
		defer unlock()
		// Only what is there under the lock is known to be dead.
		if names, err := folderNames(dir); err == nil {
			removed += sweepFolder(dir, names)
		}
	})
	return removed, asFault(err, "")
}

func hasTemp(names []string) bool {
	for _, name := range names {
		if isTemp(name) {
			return true
		}
	}
	return false
}
