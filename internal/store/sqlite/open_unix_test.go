//go:build unix

package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"handrail/internal/fault"
	"handrail/internal/store/sqlite"
)

func TestAFIFOIsRefusedWithoutWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if fault.CodeOf(err) != fault.InvalidStore || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}

func TestALinkToADatabaseIsFollowedAndOneToNowhereRefused(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.db")
	addMany(t, open(t, real, sqlite.Options{}), "ann", []string{"t"})
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink("real.db", link); err != nil {
		t.Fatal(err)
	}
	addMany(t, open(t, link, sqlite.Options{}), "ann", []string{"t"})
	if n := count(t, real, `SELECT count(*) FROM tasks`); n != 2 {
		t.Errorf("%d tasks behind the link", n)
	}
	nowhere := filepath.Join(dir, "nowhere.db")
	if err := os.Symlink("gone.db", nowhere); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), nowhere, sqlite.Options{}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a link to nowhere: %v", err)
	}
}
