package note

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

const openFlags = 0

func isNameTooLong(err error) bool { return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) }
func isNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// isBusy reports an error that goes away when somebody else (a virus scanner, a
// reader) closes a file.
func isBusy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// mayBeLink includes junctions, which Go reports as irregular files.
func mayBeLink(info fs.FileInfo) bool { return info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

func splitTarget(target string) []string { return splitSlash(strings.ReplaceAll(target, `\`, "/")) }

func underRoot(real, target string) ([]string, bool) {
	return cutRoot(plainPath(real), plainPath(target), strings.EqualFold)
}

// plainPath writes a path with / and without the prefixes of the object manager.
func plainPath(path string) string {
	for _, prefix := range []string{`\\?\`, `\??\`, `\\.\`} {
		path = strings.TrimPrefix(path, prefix)
	}
	return strings.ReplaceAll(path, `\`, "/")
}

func isAbsolute(target string) bool {
	return target != "" && (target[0] == '\\' || target[0] == '/' || len(target) > 1 && target[1] == ':')
}

// aliases reports whether name is only the short (8.3) name of a file: GIT~1
// opens .git, and our rules never saw that name.
func aliases(dir *os.Root, name string) bool {
	tilde := strings.LastIndexByte(name, '~')
	if tilde < 0 || tilde+1 == len(name) || name[tilde+1] < '0' || name[tilde+1] > '9' {
		return false
	}
	names, err := folderNames(dir)
	if err != nil {
		return true
	}
	for _, have := range names {
		if strings.EqualFold(have, name) {
			return false
		}
	}
	return true
}

// keepOwner does nothing: a new file takes the access list of its folder.
func keepOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: Windows makes a rename last by itself.
func syncFolder(*os.Root) error { return nil }
