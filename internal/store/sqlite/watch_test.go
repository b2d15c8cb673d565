package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"handrail/internal/store/sqlite"
	"handrail/internal/task"
)

func TestAWatcherHearsOfItsUsersChangesByThisAndByAnotherConnection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	open := func() *sqlite.DB {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	mine, other := open(), open() // two connections are as good as two processes
	title, err := task.ParseTitle("t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.AddTask(t.Context(), "ann", task.Draft{Title: title}); err != nil { // before anybody watches
		t.Fatal(err)
	}
	heard := make(chan task.Change, 100)
	stop, err := mine.WatchTasks(t.Context(), "ann", func(changes []task.Change) {
		for _, c := range changes {
			heard <- c
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	add := func(db *sqlite.DB, user string) int64 {
		added, err := db.AddTask(t.Context(), user, task.Draft{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		return added.ID
	}
	id := add(other, "ann")
	add(other, "bob")
	if _, err := mine.CompleteTask(t.Context(), "ann", id); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.CompleteTask(t.Context(), "ann", id); err != nil { // changes nothing
		t.Fatal(err)
	}
	if err := other.DeleteTask(t.Context(), "ann", id, ""); err != nil {
		t.Fatal(err)
	}
	var got []task.Change
	for range 3 {
		select {
		case c := <-heard:
			got = append(got, c)
		case <-time.After(20 * time.Second):
			t.Fatalf("heard only %v", got)
		}
	}
	want := []task.Change{{ID: id, Kind: task.Added}, {ID: id, Kind: task.Completed}, {ID: id, Kind: task.Deleted}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	stop()
	add(other, "ann") // nobody hears of this
	select {
	case c := <-heard:
		t.Errorf("heard %v too", c)
	default:
	}
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
