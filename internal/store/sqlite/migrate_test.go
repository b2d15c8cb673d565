package sqlite_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
)

// originalTasks is a database as the replaced task server could have left it.
const originalTasks = `
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'done')),
  due TEXT, tags TEXT NOT NULL DEFAULT '[]', created_at TEXT NOT NULL, completed_at TEXT
);
CREATE INDEX tasks_open ON tasks (status);
CREATE INDEX idx_tasks_due ON tasks (due);
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tool TEXT NOT NULL, args TEXT NOT NULL, outcome TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log BEGIN SELECT RAISE(ABORT, 'append-only'); END;
INSERT INTO tasks VALUES (1, 'Buy ''milk''', 'open', '2026-02-03', '["home","Ünï, x"]', '2026-01-02T03:04:05.678Z', NULL);
INSERT INTO tasks VALUES (4, '  spaces  ', 'done', NULL, '[]', '2026-01-02T03:04:06.000Z', '2026-01-03T00:00:00.123Z');
INSERT INTO tasks VALUES (9, 'deleted later', 'open', NULL, '[]', '2026-01-02T03:04:05.678Z', NULL);
DELETE FROM tasks WHERE id = 9;
INSERT INTO audit_log (tool, args, outcome, created_at) VALUES
  ('add_task', '{"title":"Buy ''milk''"}', 'ok', '2026-01-02T03:04:05.678Z'),
  ('delete_task', '{"id":1,"x":true}', 'rejected', '2026-01-02T03:05:00.000Z'),
  ('delete_task', '{"id":9,"confirm":true}', 'ok', '2026-01-04T00:00:00.000Z');
`

func describe(list []task.Task) (lines []string) {
	for _, t := range list {
		done := "-"
		if !t.CompletedAt.IsZero() {
			done = t.CompletedAt.Format("2006-01-02T15:04:05.000Z")
		}
		lines = append(lines, fmt.Sprintf("%d %q %s %s %q %s %s %s", t.ID, t.Title, t.Status, cmp.Or(t.Due.String(), "-"), t.Tags,
			t.CreatedAt.Format("2006-01-02T15:04:05.000Z"), t.UpdatedAt.Format("2006-01-02T15:04:05.000Z"), done))
	}
	return lines
}

func tasksOf(t *testing.T, db *sqlite.DB, user string) []string {
	t.Helper()
	list, _, err := db.Tasks(t.Context(), user, task.Filter{}, task.Page{Limit: task.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return describe(list)
}

func TestTheOriginalsFileIsMigratedWithItsIDsAndItsRecord(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			execFile(t, path, `PRAGMA journal_mode = `+mode, originalTasks)
			var told []string
			db := open(t, path, sqlite.Options{Report: func(err error) { told = append(told, err.Error()) }})
			if diff := gocmp.Diff([]string{
				`1 "Buy 'milk'" open 2026-02-03 ["home" "Ünï, x"] 2026-01-02T03:04:05.678Z 2026-01-02T03:04:05.678Z -`,
				`4 "  spaces  " done - [] 2026-01-02T03:04:06.000Z 2026-01-03T00:00:00.123Z 2026-01-03T00:00:00.123Z`,
			}, tasksOf(t, db, "local")); diff != "" {
				t.Error(diff)
			}
			if len(told) != 1 || !strings.Contains(told[0], "2 tasks and 3 entries") {
				t.Errorf("told %q", told)
			}
			var got []string
			for e, err := range db.Entries(t.Context(), audit.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(e.Seq, " ", e.Pos, " ", e.User, " ", e.Tool, " ", e.Outcome, " ", string(e.Args), " ", e.At.Format("2006-01-02T15:04:05.000Z")))
			}
			if diff := gocmp.Diff([]string{
				`1 1 local add_task ok {"title":"Buy 'milk'"} 2026-01-02T03:04:05.678Z`,
				`2 2 local delete_task rejected {"id":1,"x":true} 2026-01-02T03:05:00.000Z`,
				`3 3 local delete_task ok {"id":9,"confirm":true} 2026-01-04T00:00:00.000Z`,
			}, got); diff != "" {
				t.Error(diff)
			}
			// The id of the task that was deleted before is not used again.
			added, err := db.AddTask(t.Context(), "local", draft(t, "new"))
			if err != nil || added.ID != 10 {
				t.Errorf("the next id is %d, %v", added.ID, err)
			}
			if list, _, err := db.Tasks(t.Context(), "local", task.Filter{Tag: "Ünï, x"}, task.Page{}); err != nil || len(list) != 1 {
				t.Errorf("by tag: %v, %v", list, err)
			}
			byIndex, err := db.SearchScanning(t.Context(), "local", mustQuery(t, "MILK"), 10, 0)
			if err != nil || len(byIndex) != 1 {
				t.Errorf("by the index: %v, %v", byIndex, err)
			}
			verified(t, db)
			other := raw(t, path)
			sound(t, other)
			if _, err := other.Exec(`DELETE FROM audit_log`); err == nil {
				t.Error("the record can be deleted")
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if again := tasksOf(t, open(t, path, sqlite.Options{}), "local"); len(again) != 3 {
				t.Errorf("opened again: %v", again)
			}
		})
	}
}

func mustQuery(t *testing.T, s string) task.Query {
	t.Helper()
	q, err := task.ParseQuery(s)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestOtherShapesOfTheOriginalsAreUnderstood(t *testing.T) {
	for what, c := range map[string]struct {
		sql  string
		want map[string][]string
	}{
		"before users": {
			`CREATE TABLE tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, completed INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
			 INSERT INTO tasks VALUES (2, 'a', 0, '2026-01-02 03:04:05'), (3, 'b', 1, '2026-01-02 03:04:05')`,
			map[string][]string{"local": {
				`2 "a" open - [] 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z -`,
				`3 "b" done - [] 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z -`,
			}},
		},
		"with users": {
			`CREATE TABLE tasks (id INTEGER PRIMARY KEY, user_id TEXT, title TEXT, done BOOLEAN, created_at INTEGER, updated_at INTEGER);
			 CREATE INDEX tasks_by_id ON tasks (user_id, id);
			 INSERT INTO tasks VALUES (1, 'alice', 'a', 0, 1767323045678, 1767323045678), (2, 'bob', 'b', 1, 1767323045, 1767323045678), (5, NULL, 'c', 0, 1767323045.5, NULL), (6, 'alice', 'd', 1, NULL, 0)`,
			map[string][]string{
				"alice": {`1 "a" open - [] 2026-01-02T03:04:05.678Z 2026-01-02T03:04:05.678Z -`, `6 "d" done - [] NOW 1970-01-01T00:00:00.000Z -`},
				"bob":   {`2 "b" done - [] 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.678Z -`},
				"local": {`5 "c" open - [] 2026-01-02T03:04:05.500Z 2026-01-02T03:04:05.500Z -`},
			},
		},
		"names in camel case, tags by commas": {
			`CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT, dueDate TEXT, tags TEXT, createdAt DATETIME, completedAt DATETIME);
			 INSERT INTO tasks VALUES (1, 'a', 'completed', '2026-02-03T00:00:00.000Z', 'x, y,x,', '2026-01-02T03:04:05+01:00', '2026-01-02T03:04:05Z')`,
			map[string][]string{"local": {`1 "a" done 2026-02-03 ["x" "y"] 2026-01-02T02:04:05.000Z 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z`}},
		},
		"tags in a table of their own": {
			`CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT, created_at TEXT);
			 CREATE TABLE task_tags (task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE, tag TEXT NOT NULL, PRIMARY KEY (task_id, tag));
			 INSERT INTO tasks VALUES (1, 'a', 'open', '2026-01-02'); INSERT INTO task_tags VALUES (1, 'x'), (1, 'y')`,
			map[string][]string{"local": {`1 "a" open - ["x" "y"] 2026-01-02T00:00:00.000Z 2026-01-02T00:00:00.000Z -`}},
		},
		"no task": {`CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT)`, map[string][]string{"local": nil}},
		"a lone surrogate and a NUL": {
			`CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT, created_at INTEGER);
			 INSERT INTO tasks VALUES (1, CAST(x'61eda08062' AS TEXT), 'open', 1767323045), (2, CAST(x'610062' AS TEXT), 'open', 1767323045)`,
			map[string][]string{"local": {
				`1 "a�b" open - [] 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z -`,
				`2 "a�b" open - [] 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z -`,
			}},
		},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			execFile(t, path, c.sql)
			db := open(t, path, sqlite.Options{})
			for user, want := range c.want {
				got := tasksOf(t, db, user)
				for i := range got {
					if i < len(want) && strings.Contains(want[i], "NOW") {
						before, after, _ := strings.Cut(want[i], "NOW")
						if !strings.HasPrefix(got[i], before) || !strings.HasSuffix(got[i], after) {
							t.Errorf("%s: %s, want %s", user, got[i], want[i])
						}
						got[i] = want[i]
					}
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%s:\n%s", user, diff)
				}
			}
			sound(t, raw(t, path))
		})
	}
}

func TestAnOriginalThatIsNotUnderstoodIsRefusedUntouched(t *testing.T) {
	const table = `CREATE TABLE tasks (id, title, status, due, tags, created_at, user_id); INSERT INTO tasks VALUES `
	for what, c := range map[string]struct{ sql, says string }{
		"an id that is no number": {table + `('a1', 't', 'open', NULL, NULL, NULL, NULL)`, "task a1 has an id"},
		"an id of zero":           {table + `(0, 't', 'open', NULL, NULL, NULL, NULL)`, "task 0 has an id"},
		"an id twice":             {table + `(3, 't', 'open', NULL, NULL, NULL, NULL), (3, 'u', 'open', NULL, NULL, NULL, NULL)`, "there twice"},
		"an id too large":         {table + `(9007199254740992, 't', 'open', NULL, NULL, NULL, NULL)`, "has an id"},
		"no title":                {table + `(1, NULL, 'open', NULL, NULL, NULL, NULL)`, "task 1 has a title"},
		"a status":                {table + `(1, 't', 'in review', NULL, NULL, NULL, NULL)`, "in review"},
		"a date":                  {table + `(1, 't', 'open', '2026-02-30', NULL, NULL, NULL)`, "2026-02-30"},
		"tags":                    {table + `(1, 't', 'open', NULL, '[1,2]', NULL, NULL)`, "tags"},
		"a time":                  {table + `(1, 't', 'open', NULL, NULL, 'last week', NULL)`, "last week"},
		"a user":                  {table + `(1, 't', 'open', NULL, NULL, NULL, 7)`, "a user"},
		"the second of two":       {`CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, status TEXT); INSERT INTO tasks VALUES (1, 't', 'open'), (2, 't', 'lost')`, "task 2"},
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			execFile(t, path, c.sql)
			before := contents(t, filepath.Dir(path))
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if fault.CodeOf(err) != fault.InvalidStore || !strings.Contains(fault.Of(err).Message, c.says) || strings.Contains(fault.Of(err).Message, "\n") {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if diff := gocmp.Diff(before, contents(t, filepath.Dir(path))); diff != "" {
				t.Error("the file changed")
			}
		})
	}
}

func TestProcessesThatStartDuringAMigrationWaitForIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	execFile(t, path, originalTasks, `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 3099)
		INSERT INTO tasks SELECT i, 'title ' || i, 'open', NULL, '["x"]', '2026-01-02T03:04:05.678Z', NULL FROM n`)
	var wg sync.WaitGroup
	migrated := make(chan error, 10)
	for range 6 {
		wg.Go(func() {
			db, err := sqlite.Open(context.Background(), path, sqlite.Options{Report: func(err error) { migrated <- err }})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if _, err := db.AddTask(context.Background(), "local", draft(t, "t")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(migrated) != 1 {
		t.Errorf("%d processes migrated", len(migrated))
	}
	if n := count(t, path, `SELECT count(*) FROM tasks`); n != 3002+6 {
		t.Errorf("%d tasks", n)
	}
	sound(t, raw(t, path))
}

func TestAJournalThatACrashLeftIsRolledBackFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	execFile(t, path, originalTasks)
	leaveHotJournal(t, path)
	db := open(t, path, sqlite.Options{})
	if got := tasksOf(t, db, "local"); len(got) != 2 || !strings.Contains(got[0], "milk") {
		t.Errorf("the interrupted change is there: %q", got)
	}
	sound(t, raw(t, path))
}

// leaveHotJournal makes the file and its journal what a crash in the middle of
// a change leaves: pages written, and the journal that undoes them.
func leaveHotJournal(t *testing.T, path string) {
	t.Helper()
	db := raw(t, path)
	for _, s := range []string{
		`PRAGMA cache_size = 1`, `BEGIN`, `UPDATE tasks SET title = 'half done'`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
			INSERT INTO tasks (title, created_at) SELECT 'half done ' || hex(randomblob(80)), '' FROM n`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	left := map[string][]byte{}
	for _, name := range []string{path, path + "-journal"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		left[name] = b
	}
	if !bytes.Contains(left[path], []byte("half done")) {
		t.Fatal("nothing of the change reached the file")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range left {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
