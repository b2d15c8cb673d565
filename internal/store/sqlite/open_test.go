package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
	"handrail/internal/testenv"
)

func TestAPathIsTakenLiterallyWhateverCharactersItHas(t *testing.T) {
	names := []string{"plain.db", "with space.db", "what?.db", "a?mode=memory", "x#frag.db", "100%.db", "%41.db", "%00.db", "a&b=c;d.db", "it's.db", `quo"te.db`,
		":memory:", "file:x", "file::memory:?cache=shared", "ünïcödé 日本.db", "🎉", "-leading", "--flag=x", "new\nline.db", "tab\t", `back\slash`, "~", "$HOME", "*", "no-extension", ".hidden", "a+b", "[1]"}
	if runtime.GOOS == "windows" {
		names = []string{"plain.db", "with space.db", "x#frag.db", "100%.db", "%41.db", "a&b=c;d.db", "it's.db", "ünïcödé 日本.db", "-leading", "~", "a+b", "[1]"}
	}
	for _, name := range names {
		for _, how := range []string{"relative", "absolute"} {
			t.Run(how+" "+strings.ToValidUTF8(name, ""), func(t *testing.T) {
				dir := t.TempDir()
				t.Chdir(dir)
				path := name
				if how == "absolute" {
					path = filepath.Join(dir, name)
				}
				for want := 1; want <= 2; want++ {
					db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
					if err != nil {
						t.Fatal(err)
					}
					addMany(t, db, "ann", []string{"t"})
					if list, _, err := db.Tasks(t.Context(), "ann", task.Filter{}, task.Page{}); err != nil || len(list) != want {
						t.Errorf("%d tasks, want %d, %v", len(list), want, err)
					}
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				}
				if got := strings.Join(namesIn(t, dir), "|"); got != name {
					t.Errorf("the folder holds %q, want only %q", got, name)
				}
			})
		}
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// contents is every file of a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range namesIn(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			b = []byte(err.Error())
		}
		all[name] = string(b)
	}
	return all
}

// refused opens a file that must be refused with one sentence, and proves that
// it and its folder stay as they were.
func refused(t *testing.T, path string, code fault.Code, says string) {
	t.Helper()
	before := contents(t, filepath.Dir(path))
	for _, opt := range []sqlite.Options{{}, {ReadOnly: true}} {
		db, err := sqlite.Open(t.Context(), path, opt)
		if err == nil {
			_ = db.Close()
			t.Fatal("opened")
		}
		f := fault.Of(err)
		if f.Code != code || !strings.Contains(f.Message, says) || strings.Contains(f.Message, "\n") || f.Message == "" {
			t.Errorf("got %q: %q, want %q with %q", f.Code, f.Message, code, says)
		}
	}
	after := contents(t, filepath.Dir(path))
	for name := range after {
		if before[name] != after[name] {
			t.Errorf("%s was changed or made", name)
		}
	}
	if len(before) != len(after) {
		t.Errorf("the folder held %d files and holds %d", len(before), len(after))
	}
}

func TestAFileThatCannotBeUsedIsRefusedUntouched(t *testing.T) {
	ours := filepath.Join(t.TempDir(), "ours.db")
	db := open(t, ours, sqlite.Options{})
	for range 40 {
		addMany(t, db, "ann", []string{strings.Repeat("long title ", 18)})
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	intact, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		bytes []byte
		code  fault.Code
		says  string
	}{
		{"text", []byte("these are my notes, no database at all\n"), fault.InvalidStore, "not an intact SQLite database"},
		{"one byte", []byte("x"), fault.InvalidStore, "not an intact SQLite database"},
		{"the first half of a page", intact[:2000], fault.InvalidStore, "not an intact SQLite database"},
		{"a header", intact[:100], fault.InvalidStore, "not an intact SQLite database"},
		{"half of a database", intact[:len(intact)/2/4096*4096], fault.InvalidStore, "not an intact SQLite database"},
		{"a broken schema", append(append(bytes.Clone(intact[:100]), bytes.Repeat([]byte{0xA5}, 3996)...), intact[4096:]...), fault.InvalidStore, "not an intact SQLite database"},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, path, c.code, c.says)
		})
	}
	for _, c := range []struct {
		what, sql string
		says      string
	}{
		{"another program's tables", `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)`, `a table "customers"`},
		{"another program's tasks", `CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT, priority INTEGER)`, `a column "priority"`},
		{"tasks without a status", `CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT)`, "no table tasks with"},
		{"two columns for one thing", `CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT, due TEXT, due_date TEXT)`, "two columns"},
		{"a further table", `CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT); CREATE TABLE notes (x)`, `a table "notes"`},
		{"a view", `CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT); CREATE VIEW open_tasks AS SELECT * FROM tasks`, `a view "open_tasks"`},
		{"a record that is not understood", `CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT); CREATE TABLE audit_log (id INTEGER PRIMARY KEY, what TEXT)`, `a column "what"`},
		{"another program's version", `CREATE TABLE t (x); PRAGMA user_version = 1`, "another program"},
		{"another program's mark", `CREATE TABLE t (x); PRAGMA application_id = 7`, "another program"},
		{"a newer version", `CREATE TABLE t (x); PRAGMA user_version = 99`, "schema version 99"},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			execFile(t, path, c.sql)
			refused(t, path, fault.InvalidStore, c.says)
		})
		t.Run(c.what+" with a write-ahead log", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			execFile(t, path, `PRAGMA journal_mode = WAL`, c.sql)
			refused(t, path, fault.InvalidStore, c.says)
		})
	}
	t.Run("our own of a newer version", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tasks.db")
		if err := os.WriteFile(path, intact, 0o600); err != nil {
			t.Fatal(err)
		}
		execFile(t, path, `PRAGMA user_version = 2`)
		refused(t, path, fault.InvalidStore, "use a newer one")
	})
	t.Run("a newer version that still is in the write-ahead log", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tasks.db")
		other := raw(t, path)
		for _, s := range []string{`PRAGMA journal_mode = WAL`, `CREATE TABLE t (x)`, `PRAGMA user_version = 7`} {
			if _, err := other.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		refusedBesideWriter(t, path, "schema version 7")
	})
	t.Run("a folder", func(t *testing.T) { refused(t, t.TempDir(), fault.InvalidStore, "is a folder") })
	t.Run("no folder", func(t *testing.T) {
		dir := t.TempDir()
		_, err := sqlite.Open(t.Context(), filepath.Join(dir, "a", "tasks.db"), sqlite.Options{})
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "folder") || len(namesIn(t, dir)) > 0 {
			t.Errorf("got %v, and %v", err, namesIn(t, dir))
		}
	})
	t.Run("an empty path", func(t *testing.T) {
		if _, err := sqlite.Open(t.Context(), "", sqlite.Options{}); fault.CodeOf(err) != fault.InvalidInput {
			t.Error(err)
		}
	})
}

// refusedBesideWriter leaves out -shm, which SQLite's readers share.
func refusedBesideWriter(t *testing.T, path, says string) {
	t.Helper()
	read := func() []byte {
		var all []byte
		for _, suffix := range []string{"", "-wal"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, info.ModTime().String()...)
		}
		return all
	}
	before := read()
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); fault.CodeOf(err) != fault.InvalidStore || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v", err)
	}
	if !bytes.Equal(before, read()) {
		t.Error("the file was written")
	}
}

func TestAnEmptyFileIsANewDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	addMany(t, open(t, path, sqlite.Options{}), "ann", []string{"t"})
}

func TestANewDatabaseIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	addMany(t, open(t, path, sqlite.Options{}), "ann", []string{"t"})
	if runtime.GOOS == "windows" {
		return // Windows has no such bits
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", suffix, info, err)
		}
	}
}

func TestManyProcessesMayStartOnANewFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := db.AddTask(context.Background(), "ann", draft(t, "t")); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := count(t, path, `SELECT max(id) FROM tasks`); n != 12 {
		t.Errorf("the last id is %d", n)
	}
}

func TestAStartWaitsForAWriterAndSaysSoWhereItWaitedInVain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	execFile(t, path, originalTasks)
	release := lock(t, path)
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: 100 * time.Millisecond})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Of(err).Message, "busy") {
		t.Errorf("got %v", err)
	}
	time.AfterFunc(200*time.Millisecond, release)
	open(t, path, sqlite.Options{})
}

func TestAStartDoesNotWaitForAWriterWhereNothingIsToBeDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	addMany(t, open(t, path, sqlite.Options{}), "ann", []string{"t"})
	defer lock(t, path)()
	db := open(t, path, sqlite.Options{BusyTimeout: time.Millisecond})
	if list, _, err := db.Tasks(t.Context(), "ann", task.Filter{}, task.Page{}); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestAReadOnlyFileStillListsAndSearches(t *testing.T) {
	if testenv.Unprivileged(t) {
		return
	}
	for what, protect := range map[string]func(dir, path string) error{
		"a read-only file":   func(_, path string) error { return os.Chmod(path, 0o400) },
		"a read-only folder": func(dir, _ string) error { return os.Chmod(dir, 0o500) },
		"both": func(dir, path string) error {
			if err := os.Chmod(path, 0o400); err != nil {
				return err
			}
			return os.Chmod(dir, 0o500)
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "tasks.db")
			db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			addMany(t, db, "ann", []string{"one thing", "another thing"})
			if err := db.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.OK}); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := protect(dir, path); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o700)
			before := contents(t, dir)

			var told []string
			db = open(t, path, sqlite.Options{Report: func(err error) { told = append(told, err.Error()) }})
			if !db.ReadOnly() {
				t.Error("opened for writing")
			}
			list, _, err := db.Tasks(t.Context(), "ann", task.Filter{}, task.Page{})
			if err != nil || len(list) != 2 {
				t.Errorf("lists %v, %v", list, err)
			}
			q, _ := task.ParseQuery("ANOTHER")
			if found, _, err := db.SearchTasks(t.Context(), "ann", q, task.Page{}); err != nil || len(found) != 1 {
				t.Errorf("finds %v, %v", found, err)
			}
			if r := verified(t, db); r.Entries != 1 {
				t.Errorf("%d entries", r.Entries)
			}
			if _, err := db.AddTask(t.Context(), "ann", draft(t, "t")); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("adds: %v", err)
			}
			if err := db.DeleteTask(t.Context(), "ann", 1, ""); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("deletes: %v", err)
			}
			if err := db.Append(t.Context(), audit.Entry{User: "ann"}); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("appends: %v", err)
			}
			for range 3 {
				db.Queue(audit.Entry{User: "ann"})
			}
			if err := db.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			if len(told) != 1 || !strings.Contains(told[0], "not recorded") {
				t.Errorf("told %q", told)
			}
			if after := contents(t, dir); len(after) != len(before) || after["tasks.db"] != before["tasks.db"] {
				t.Errorf("the folder changed: %v", namesIn(t, dir))
			}
		})
	}
}

func TestAReaderOfAStillFileSeesWhatAWriterDoesMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	first := open(t, path, sqlite.Options{})
	addMany(t, first, "ann", []string{"t"})
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	reader := open(t, path, sqlite.Options{ReadOnly: true})
	for want := 1; want < 6; want++ {
		if list, _, err := reader.Tasks(t.Context(), "ann", task.Filter{}, task.Page{}); err != nil || len(list) != want {
			t.Fatalf("sees %d of %d tasks, %v", len(list), want, err)
		}
		writer, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		addMany(t, writer, "ann", []string{"t"})
		if list, _, err := reader.Tasks(t.Context(), "ann", task.Filter{}, task.Page{}); err != nil || len(list) != want+1 {
			t.Fatalf("beside the writer: sees %d of %d tasks, %v", len(list), want+1, err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadOnlyNeverCreatesOrMigrates(t *testing.T) {
	dir := t.TempDir()
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "none.db"), sqlite.Options{ReadOnly: true}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a file that is not there: %v", err)
	}
	execFile(t, filepath.Join(dir, "old.db"), originalTasks)
	before := contents(t, dir)
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "old.db"), sqlite.Options{ReadOnly: true}); fault.CodeOf(err) != fault.InvalidStore {
		t.Errorf("an original: %v", err)
	}
	if after := contents(t, dir); len(after) != 1 || after["old.db"] != before["old.db"] {
		t.Error("something was written")
	}
}

func TestAFileThatMayNotBeReadIsUnavailable(t *testing.T) {
	if testenv.Unprivileged(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "tasks.db")
	addMany(t, open(t, path, sqlite.Options{}), "ann", []string{"t"})
	closed := filepath.Join(t.TempDir(), "tasks.db")
	execFile(t, closed, `CREATE TABLE t (x)`)
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	refused(t, closed, fault.Unavailable, "cannot be opened")

	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o700)
	if _, err := sqlite.Open(t.Context(), filepath.Join(folder, "new.db"), sqlite.Options{}); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "cannot be created") {
		t.Errorf("a new file in a read-only folder: %v", err)
	}
}
