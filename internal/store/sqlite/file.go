package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"handrail/internal/fault"
)

// file is where the database lies: as the user gave it, for messages, and
// absolute, for the driver.
type file struct {
	given, abs string
}

// locate takes the path literally and proves that its folder is there and that
// nothing but a regular file stands in its place. It never opens the file: to
// close a descriptor of a database drops the locks that this process has on it.
func locate(path string) (file, error) {
	if path == "" {
		return file{}, fault.New(fault.InvalidInput, "the path of the database must not be empty")
	}
	if strings.ContainsRune(path, 0) {
		return file{}, fault.New(fault.InvalidInput, "the path of the database must not contain a NUL character")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return file{}, fault.Wrap(err, fault.Unavailable, "the path of the database %q cannot be resolved", path)
	}
	f := file{given: path, abs: abs}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, f.checkFolder()
	case err != nil:
		return f, fault.Wrap(err, fault.Unavailable, "the database %q cannot be reached: %v", path, reason(err))
	case info.IsDir():
		return f, fault.New(fault.InvalidStore, "the database %q is a folder", path)
	case !info.Mode().IsRegular():
		return f, fault.New(fault.InvalidStore, "the database %q is no regular file", path)
	}
	return f, nil
}

func (f file) checkFolder() error {
	// A link to nowhere would be created at its far end; say what is wrong instead.
	// A file that is there now was made by a process that starts beside this one.
	if info, err := os.Lstat(f.abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fault.New(fault.Unavailable, "the database %q is a link to a file that is not there", f.given)
	}
	info, err := os.Stat(filepath.Dir(f.abs))
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the folder of the database %q cannot be used: %v", f.given, reason(err))
	}
	if !info.IsDir() {
		return fault.New(fault.Unavailable, "the folder of the database %q is no folder", f.given)
	}
	return nil
}

// reason is the error of a file operation without the path it repeats.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// create makes the empty file, readable by its owner alone. One that another
// process made in the meantime is fine.
func (f file) create() error {
	made, err := os.OpenFile(f.abs, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "the database %q cannot be created: %v", f.given, reason(err))
	}
	return nil
}

// writable reports whether both the file and its folder, which holds the
// write-ahead log, can be written.
func (f file) writable() bool {
	return mayWrite(f.abs) && mayWrite(filepath.Dir(f.abs))
}

// mark is what a file looks like from outside; a change of it means that
// somebody wrote.
type mark struct {
	size    int64
	changed time.Time
	wal     bool
	journal bool
}

func (f file) mark() (mark, error) {
	info, err := os.Stat(f.abs)
	if err != nil {
		return mark{}, err
	}
	return mark{size: info.Size(), changed: info.ModTime(), wal: f.beside("-wal"), journal: f.beside("-journal")}, nil
}

// beside reports whether one of SQLite's own files lies beside the database.
func (f file) beside(suffix string) bool {
	_, err := os.Lstat(f.abs + suffix)
	return err == nil
}

// The ways to open the file.
const (
	// readWrite never creates the file.
	readWrite = "mode=rw"
	// readShared reads beside a writer: it takes part in the locks.
	readShared = "mode=ro"
	// readStill reads a file that nobody has open: no lock, no file beside it.
	readStill = "mode=ro&immutable=1"
)

// dsn names the file for the driver as a URI in which every byte of the path
// stands for itself. busy is how long SQLite itself waits for a lock.
func (f file) dsn(mode string, busy time.Duration) string {
	path := filepath.ToSlash(f.abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	var b strings.Builder
	b.WriteString("file://")
	for i := 0; i < len(path); i++ {
		if c := path[i]; plainByte(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	fmt.Fprintf(&b, "?%s&_busy_timeout=%d&_defensive=1&_dqs=0&_pragma=trusted_schema(0)", mode, busy.Milliseconds())
	return b.String()
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '/' || c == '.' || c == '_' || c == '-' || (c == ':' && runtime.GOOS == "windows")
}
