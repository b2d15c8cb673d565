package sqlite_test

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"handrail/internal/store/sqlite"
	"handrail/internal/task"
)

// Two connections are nearly as good as two processes; this is the rest.
func TestAWatcherHearsOfTheChangesOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	heard := hear(t, db)
	for range 3 {
		cmd := child("change", path, 0)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := []task.Change{{ID: id, Kind: task.Added}, {ID: id, Kind: task.Completed}, {ID: id, Kind: task.Deleted}}
		if diff := cmp.Diff(want, take(t, heard, 3)); diff != "" {
			t.Error(diff)
		}
	}
}

// The list of changes is kept short: who comes so late that a part of it is
// gone is told that anything may have changed.
func TestAWatcherThatComesTooLateHearsThatItMissedChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	heard := hear(t, db)
	execFile(t, path, `
		BEGIN IMMEDIATE;
		INSERT INTO task_changes (user_id, id, kind) VALUES ('local', 1, 'added'), ('local', 2, 'added'), ('local', 3, 'added');
		DELETE FROM task_changes WHERE id < 3;
		COMMIT`)
	if diff := cmp.Diff([]task.Change{{}, {ID: 3, Kind: task.Added}}, take(t, heard, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestTheListOfChangesStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	open(t, path, sqlite.Options{})
	execFile(t, path, `
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30998)
		INSERT INTO task_changes (user_id, id, kind) SELECT 'local', i, 'added' FROM n`)
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "local", []string{"one", "two", "three"})
	if n := count(t, path, `SELECT count(*) FROM task_changes`); n > 20_010 || n < 20_000 {
		t.Errorf("%d changes are kept", n)
	}
}

// hear collects the changes of local.
func hear(t *testing.T, db *sqlite.DB) <-chan task.Change {
	t.Helper()
	heard := make(chan task.Change, 100)
	stop, err := db.WatchTasks(t.Context(), "local", func(changes []task.Change) {
		for _, c := range changes {
			heard <- c
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return heard
}

func take(t *testing.T, heard <-chan task.Change, n int) (got []task.Change) {
	t.Helper()
	give := time.After(20 * time.Second)
	for len(got) < n {
		select {
		case c := <-heard:
			got = append(got, c)
		case <-give:
			t.Fatalf("heard only %v", got)
		}
	}
	return got
}

// The doorbell rings when a change is written, and the change is visible only
// once it is synced: on a busy disk whoever looks at once sees nothing.
func TestAChangeIsHeardThatIsVisibleLongAfterItsDoorbell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	rings := make(chan fsnotify.Event)
	heard := make(chan task.Change, 10)
	over := make(chan struct{})
	go func() {
		defer close(over)
		db.HearOnly(ctx, "ann", rings, func(changes []task.Change) {
			for _, c := range changes {
				heard <- c
			}
		})
	}()
	defer func() { cancel(); <-over }()
	title, err := task.ParseTitle("t")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		rings <- fsnotify.Event{Name: path + "-wal", Op: fsnotify.Write}
		time.Sleep(50 * time.Millisecond) // the sync
		added, err := db.AddTask(t.Context(), "ann", task.Draft{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case c := <-heard:
			if c.ID != added.ID {
				t.Errorf("heard of %d, not of %d", c.ID, added.ID)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it was not heard")
		}
	}
}
