package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"handrail/internal/store/sqlite"
	"handrail/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		path := filepath.Join(t.TempDir(), "tasks.db")
		return breakable{open(t, path, sqlite.Options{}), path}
	})
}

// breakable is a database whose record can be made to fail from outside.
type breakable struct {
	*sqlite.DB
	path string
}

func (b breakable) BreakRecord(tb testing.TB) {
	execFile(tb, b.path, `CREATE TRIGGER no_more BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
}

func (b breakable) Another(tb testing.TB) storetest.Store {
	return breakable{open(tb, b.path, sqlite.Options{}), b.path}
}

// open opens a database that must open, and closes it with the test.
func open(tb testing.TB, path string, opt sqlite.Options) *sqlite.DB {
	tb.Helper()
	db, err := sqlite.Open(context.Background(), path, opt)
	if err != nil {
		tb.Fatalf("opening %q: %v", path, err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("closing %q: %v", path, err)
		}
	})
	return db
}

// raw opens the file as any other program would.
func raw(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", path+"?_busy_timeout=10000")
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// execFile runs statements on the file as any other program would, and lets go
// of it.
func execFile(tb testing.TB, path string, statements ...string) {
	tb.Helper()
	db := raw(tb, path)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
}
