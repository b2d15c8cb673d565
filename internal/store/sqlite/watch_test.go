package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

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
