package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
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

// lock holds the file's write lock as another process would, until the
// returned function is called.
func lock(t *testing.T, path string) (release func()) {
	t.Helper()
	db := raw(t, path)
	if _, err := db.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if _, err := db.Exec(`ROLLBACK`); err != nil {
			t.Error(err)
		}
	})
}

func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	if err := raw(t, path).QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestTheWriterSyncsEveryCommitIntoAWriteAheadLog(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "tasks.db"), sqlite.Options{})
	synchronous, journal, err := db.Durability(t.Context())
	if err != nil || synchronous != 2 || journal != "wal" {
		t.Errorf("synchronous %d (2 is FULL), journal %q, %v", synchronous, journal, err)
	}
}

func TestAConnectionForReadingCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"t"})
	if err := db.WriteAsReader(t.Context()); err == nil || count(t, path, `SELECT count(*) FROM users`) != 1 {
		t.Errorf("it wrote: %v", err)
	}
}

func TestChangesThatWaitShareOneTransactionAndFailAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"first"})
	release := lock(t, path)

	const adds = 20
	added := make([]task.Task, adds)
	var wg sync.WaitGroup
	for i := range adds {
		wg.Go(func() {
			ctx := audit.With(context.Background(), audit.NewPending("ann", "add_task", "", nil, time.Now))
			var err error
			if added[i], err = db.AddTask(ctx, "ann", draft(t, "t", "tag")); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := db.DeleteTask(context.Background(), "ann", 1, "not its title"); fault.CodeOf(err) != fault.Declined {
				t.Error(err)
			}
			if _, err := db.CompleteTask(context.Background(), "ann", 1<<40); fault.CodeOf(err) != fault.NotFound {
				t.Error(err)
			}
		})
	}
	gaveUp, giveUp := context.WithCancel(t.Context())
	wg.Go(func() {
		if _, err := db.AddTask(gaveUp, "ann", draft(t, "given up")); fault.CodeOf(err) != fault.Cancelled {
			t.Errorf("a call that was given up while it waited: %v", err)
		}
	})
	time.Sleep(100 * time.Millisecond)
	giveUp()
	time.Sleep(20 * time.Millisecond)
	release()
	wg.Wait()

	// The time of a change is that of its transaction.
	together := map[time.Time]int{}
	ids := map[int64]bool{}
	for _, a := range added {
		together[a.CreatedAt]++
		ids[a.ID] = true
	}
	if len(together) > 2 || len(ids) != adds {
		t.Errorf("%d changes took %d transactions and %d ids", adds, len(together), len(ids))
	}
	if n := count(t, path, `SELECT count(*) FROM tasks WHERE title = 'given up'`); n != 0 {
		t.Error("the call that was given up was made")
	}
	if n := count(t, path, `SELECT count(*) FROM audit_log`); n != adds {
		t.Errorf("%d entries, want %d", n, adds)
	}
	verified(t, db)
}

func verified(t *testing.T, db *sqlite.DB) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), db)
	if err != nil || len(r.Breaks) > 0 {
		t.Errorf("the chain: %v, %v", r.Breaks, err)
	}
	return r
}

func TestAFileThatStaysLockedIsUnavailableAndUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{BusyTimeout: 200 * time.Millisecond})
	addMany(t, db, "ann", []string{"t"})
	release := lock(t, path)
	began := time.Now()
	_, err := db.AddTask(t.Context(), "ann", draft(t, "t"))
	if fault.CodeOf(err) != fault.Unavailable || time.Since(began) < 200*time.Millisecond {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if strings.Contains(fault.Of(err).Message, "locked") || strings.Contains(fault.Of(err).Message, path) {
		t.Errorf("the caller is told %q", fault.Of(err).Message)
	}
	if list, _, err := db.Tasks(t.Context(), "ann", task.Filter{}, task.Page{}); err != nil || len(list) != 1 {
		t.Errorf("reading beside a writer: %v, %v", list, err)
	}
	release()
	if _, err := db.AddTask(t.Context(), "ann", draft(t, "t")); err != nil {
		t.Error(err)
	}
	if n := count(t, path, `SELECT count(*) FROM tasks`); n != 2 {
		t.Errorf("%d tasks, want 2", n)
	}
}

func TestAFullDiskIsUnavailableAndChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"t"})
	if err := db.FillDisk(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	before := count(t, path, `SELECT count(*) FROM tasks`)
	failed := 0
	for range 200 {
		ctx := audit.With(t.Context(), audit.NewPending("ann", "add_task", "", []byte(strings.Repeat("x", 4000)), time.Now))
		_, err := db.AddTask(ctx, "ann", draft(t, strings.Repeat("a long title ", 15)))
		switch {
		case err == nil:
			before++
		case fault.CodeOf(err) == fault.Unavailable:
			failed++
		default:
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Error("the disk was never full")
	}
	if n := count(t, path, `SELECT count(*) FROM tasks`); n != before {
		t.Errorf("%d tasks, %d acknowledged", n, before)
	}
	if err := db.FillDisk(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddTask(t.Context(), "ann", draft(t, "room again")); err != nil {
		t.Error(err)
	}
	verified(t, db)
}

func TestAFileThatWasRemovedOrReplacedTakesNoChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"t"})
	if err := os.Rename(path, path+".away"); err != nil {
		testenv.LeftOut(t, "this platform does not move open files")
	}
	for _, what := range []string{"removed", "replaced"} {
		if _, err := db.AddTask(t.Context(), "ann", draft(t, "t")); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddTask(t.Context(), "ann", draft(t, "t")); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

func TestTheLastIDIsGivenOutAndNoneAfterIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"t"})
	execFile(t, path, `UPDATE users SET last_id = 9007199254740990`)
	if last, err := db.AddTask(t.Context(), "ann", draft(t, "t")); err != nil || last.ID != task.MaxID {
		t.Errorf("got id %d, %v", last.ID, err)
	}
	_, err := db.AddTask(t.Context(), "ann", draft(t, "t"))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Of(err).Message, "every task id") {
		t.Errorf("after the last id: %v", err)
	}
	if other, err := db.AddTask(t.Context(), "bob", draft(t, "t")); err != nil || other.ID != 1 {
		t.Errorf("another user: %d, %v", other.ID, err)
	}
}

func TestAClosedDatabaseRefusesAndKeepsWhatWasQueued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	var told []error
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Report: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		db.Queue(audit.Entry{At: time.Now(), User: "ann", Tool: "read", Outcome: audit.OK})
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := count(t, path, `SELECT count(*) FROM audit_log`); n != 100 || len(told) != 0 {
		t.Errorf("%d entries, want 100; told %v", n, told)
	}
	if _, err := db.AddTask(t.Context(), "ann", draft(t, "t")); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if _, err := db.Task(t.Context(), "ann", 1); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	db.Queue(audit.Entry{User: "ann", Tool: "late"})
	if len(told) != 1 {
		t.Errorf("an entry after the end: told %v", told)
	}
}

func TestTwoOpenDatabasesOnOneFileContinueEachOthersChains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	dbs := []*sqlite.DB{open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})}
	for i := range 60 {
		ctx := audit.With(t.Context(), audit.NewPending("ann", "add_task", "", nil, time.Now))
		if added, err := dbs[i/2%2].AddTask(ctx, "ann", draft(t, "t")); err != nil || added.ID != int64(i+1) {
			t.Fatalf("id %d, %v", added.ID, err)
		}
	}
	if r := verified(t, dbs[0]); r.Entries != 60 {
		t.Errorf("%d entries", r.Entries)
	}
}

func TestTheRecordRefusesEveryChangeButAnAddition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	for range 3 {
		if err := db.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Tool: "t", Outcome: audit.OK}); err != nil {
			t.Fatal(err)
		}
	}
	other := raw(t, path)
	const columns = ` INTO audit_log (seq, at, user_id, pos, call_id, tool, outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash) `
	for _, recursive := range []string{"OFF", "ON"} {
		if _, err := other.Exec(`PRAGMA recursive_triggers = ` + recursive); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{
			`UPDATE audit_log SET outcome = 'ok' WHERE seq = 2`,
			`UPDATE audit_log SET seq = seq + 100`,
			`UPDATE OR REPLACE audit_log SET pos = 1 WHERE seq = 2`,
			`DELETE FROM audit_log WHERE seq = 3`,
			`DELETE FROM audit_log`,
			`INSERT OR REPLACE` + columns + `SELECT 2, at, user_id, pos, call_id, 'forged', outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash FROM audit_log WHERE seq = 2`,
			`REPLACE` + columns + `SELECT 9, at, user_id, pos, call_id, 'forged', outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash FROM audit_log WHERE seq = 2`,
			`INSERT` + columns + `SELECT 0, at, user_id, 9, call_id, 'forged', outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash FROM audit_log WHERE seq = 2`,
			`INSERT` + columns + `SELECT 2, at, user_id, pos, call_id, tool, outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash FROM audit_log WHERE seq = 2 ON CONFLICT DO UPDATE SET tool = 'forged'`,
		} {
			if _, err := other.Exec(s); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("recursive triggers %s: %s: %v", recursive, s, err)
			}
		}
	}
	if r := verified(t, db); r.Entries != 3 {
		t.Errorf("%d entries", r.Entries)
	}
}

func TestARecordChangedBehindTheTriggersIsFound(t *testing.T) {
	for what, change := range map[string]string{
		"an outcome":  `UPDATE audit_log SET outcome = 'ok' WHERE seq = 3`,
		"a time":      `UPDATE audit_log SET at = '2020-01-01T00:00:00.000000Z' WHERE seq = 3`,
		"no time":     `UPDATE audit_log SET at = 'yesterday' WHERE seq = 3`,
		"a duration":  `UPDATE audit_log SET duration_us = duration_us + 1 WHERE seq = 3`,
		"arguments":   `UPDATE audit_log SET args = '{}' WHERE seq = 3`,
		"bytes":       `UPDATE audit_log SET args = CAST('x' AS BLOB) WHERE seq = 3`,
		"a number":    `UPDATE audit_log SET args = 17 WHERE seq = 3`,
		"a user":      `UPDATE audit_log SET user_id = 'bob' WHERE seq = 3`,
		"a hash":      `UPDATE audit_log SET hash = 'x' WHERE seq = 3`,
		"a removal":   `DELETE FROM audit_log WHERE seq = 3`,
		"a beginning": `DELETE FROM audit_log WHERE seq < 3`,
	} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tasks.db")
			db := open(t, path, sqlite.Options{})
			for range 5 {
				e := audit.Entry{At: time.Now(), User: "ann", Tool: "t", Outcome: audit.Rejected, Duration: time.Second}
				e.SetArgs([]byte(`{"a":1}`))
				if err := db.Append(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			execFile(t, path, `DROP TRIGGER audit_log_no_update`, `DROP TRIGGER audit_log_no_delete`, change)
			if err := db.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.OK}); err != nil {
				t.Errorf("the store must go on: %v", err)
			}
			r, err := audit.Verify(t.Context(), db)
			if err != nil || len(r.Breaks) == 0 {
				t.Errorf("not found: %+v, %v", r, err)
			}
		})
	}
}

func TestQueueWaitsWhereTooMuchWaitsAndLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	release := lock(t, path)
	const all = 3*sqlite.MaxQueued + 10
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range all {
			db.Queue(audit.Entry{At: time.Now(), User: "ann", Tool: "read", Outcome: audit.OK})
		}
	}()
	select {
	case <-done:
		t.Error("nothing bounds what waits in memory")
	case <-time.After(200 * time.Millisecond):
	}
	release()
	<-done
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, db); r.Entries != all {
		t.Errorf("%d entries of %d", r.Entries, all)
	}
}

func TestEntriesThatCannotBeKeptAreReportedAndTheCallerGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	told := make(chan error, 10)
	db := open(t, path, sqlite.Options{BusyTimeout: 50 * time.Millisecond, Report: func(err error) { told <- err }})
	release := lock(t, path)
	for range 7 {
		db.Queue(audit.Entry{At: time.Now(), User: "ann", Tool: "read", Outcome: audit.OK})
	}
	if err := <-told; !strings.Contains(err.Error(), "7 calls were not recorded") {
		t.Errorf("told %v", err)
	}
	release()
	breakable{db, path}.BreakRecord(t)
	db.Queue(audit.Entry{At: time.Now(), User: "ann", Tool: "read", Outcome: audit.OK})
	if err := <-told; !strings.Contains(err.Error(), "a call of read was not recorded") {
		t.Errorf("told %v", err)
	}
}

func TestManyUsersShareOneDatabaseWithoutSeeingEachOther(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "tasks.db"), sqlite.Options{})
	const users, each = 40, 15
	var wg sync.WaitGroup
	for u := range users {
		wg.Go(func() {
			for i := range each {
				if _, err := db.AddTask(context.Background(), fmt.Sprint("user", u), draft(t, fmt.Sprintf("task %d of %d", i, u))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	q, _ := task.ParseQuery("task ")
	for u := range users {
		list, err := db.SearchScanning(t.Context(), fmt.Sprint("user", u), q, 1000, 0)
		if err != nil || len(list) != each {
			t.Fatalf("user %d finds %d, %v", u, len(list), err)
		}
		for i, found := range list {
			if found.Title != fmt.Sprintf("task %d of %d", i, u) {
				t.Errorf("user %d finds %q", u, found.Title)
			}
		}
	}
}

func TestTheFileIsWhatTheIntegrityCheckExpects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"one two three", "two three four", "five"})
	if err := db.DeleteTask(t.Context(), "ann", 2, ""); err != nil {
		t.Fatal(err)
	}
	// Changes that fail at their end leave nothing in the index either.
	breakable{db, path}.BreakRecord(t)
	ctx := audit.With(t.Context(), audit.NewPending("ann", "add_task", "", nil, time.Now))
	if _, err := db.AddTask(ctx, "ann", draft(t, "six seven eight")); err == nil {
		t.Error("added without a record")
	}
	if err := db.DeleteTask(ctx, "ann", 1, ""); err == nil {
		t.Error("deleted without a record")
	}
	sound(t, raw(t, path))
}

// sound asks SQLite and the search index whether the file is in order.
func sound(t *testing.T, db *sql.DB) {
	t.Helper()
	var answer string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&answer); err != nil || answer != "ok" {
		t.Errorf("integrity_check: %s, %v", answer, err)
	}
	if _, err := db.Exec(`INSERT INTO task_titles (task_titles, rank) VALUES ('integrity-check', 1)`); err != nil {
		t.Errorf("the search index does not agree with the tasks: %v", err)
	}
}
