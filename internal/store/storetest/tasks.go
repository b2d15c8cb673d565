package storetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/task"
)

var taskSentences = []sentence{
	{"an added task is read back as it was answered", func(t *testing.T, s Store) {
		want := add(t, s, "ann", "  Büro; DROP TABLE tasks--\n", "2026-02-28", "a", "B b", "ünï")
		got, err := s.Task(t.Context(), "ann", want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compareDates); diff != "" {
			t.Errorf("read back otherwise (-answered +read):\n%s", diff)
		}
		if got.Title != "  Büro; DROP TABLE tasks--\n" || got.Due.String() != "2026-02-28" || got.Status != task.Open {
			t.Errorf("not what was sent: %+v", got)
		}
		if !got.CompletedAt.IsZero() || got.CreatedAt.Location() != time.UTC || got.CreatedAt.Truncate(time.Millisecond) != got.CreatedAt {
			t.Errorf("times must be UTC and whole milliseconds, and an open task has no end: %+v", got)
		}
	}},
	{"a task without tags has an empty list of them", func(t *testing.T, s Store) {
		added := add(t, s, "ann", "bare", "")
		got, err := s.Task(t.Context(), "ann", added.ID)
		if err != nil || got.Tags == nil || len(got.Tags) != 0 || !got.Due.IsZero() {
			t.Errorf("got %+v, %v", got, err)
		}
	}},
	{"ids count from 1 for each user", func(t *testing.T, s Store) {
		for want := int64(1); want <= 3; want++ {
			for _, user := range []string{"ann", "bob"} {
				if got := add(t, s, user, "t", ""); got.ID != want {
					t.Errorf("%s got id %d, want %d", user, got.ID, want)
				}
			}
		}
	}},
	{"an id is never used again, also not the last one", func(t *testing.T, s Store) {
		for range 3 {
			last := add(t, s, "ann", "t", "")
			if err := s.DeleteTask(t.Context(), "ann", last.ID, ""); err != nil {
				t.Fatal(err)
			}
			if next := add(t, s, "ann", "t", ""); next.ID != last.ID+1 {
				t.Errorf("after deleting %d came %d", last.ID, next.ID)
			}
		}
	}},
	{"a user sees and changes nobody else's tasks", func(t *testing.T, s Store) {
		add(t, s, "ann", "secret plan", "2026-01-01", "x")
		add(t, s, "ann", "second", "")
		add(t, s, "bob", "other", "")
		_, err := s.Task(t.Context(), "bob", 2)
		mustFail(t, err, fault.NotFound)
		_, err = s.CompleteTask(t.Context(), "bob", 2)
		mustFail(t, err, fault.NotFound)
		mustFail(t, s.DeleteTask(t.Context(), "bob", 2, ""), fault.NotFound)
		for _, f := range []task.Filter{{}, {Status: task.Open}, {Tag: "x"}, {DueAfter: date(t, "2000-01-01")}} {
			for _, found := range list(t, s, "bob", f) {
				if found.Title != "other" {
					t.Errorf("bob sees %+v with %+v", found, f)
				}
			}
		}
		found, _, err := s.SearchTasks(t.Context(), "bob", query(t, "secret"), task.Page{Limit: 10})
		if err != nil || len(found) != 0 {
			t.Errorf("bob finds %+v, %v", found, err)
		}
		if got := len(list(t, s, "nobody", task.Filter{})); got != 0 {
			t.Errorf("a user without tasks sees %d", got)
		}
		if got := list(t, s, "ann", task.Filter{}); len(got) != 2 || got[1].Status != task.Open {
			t.Errorf("ann's tasks changed: %+v", got)
		}
	}},
	{"users whose tasks have the same ids change only their own", func(t *testing.T, s Store) {
		for _, user := range []string{"ann", "bob"} {
			add(t, s, user, "first of "+user, "", "x")
			add(t, s, user, "second of "+user, "", "x")
		}
		if _, err := s.CompleteTask(t.Context(), "bob", 1); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteTask(t.Context(), "bob", 2, ""); err != nil {
			t.Fatal(err)
		}
		if got := list(t, s, "ann", task.Filter{Status: task.Open, Tag: "x"}); len(got) != 2 || got[0].Title != "first of ann" || got[1].Title != "second of ann" {
			t.Errorf("ann's tasks changed: %+v", got)
		}
		if got := list(t, s, "bob", task.Filter{}); len(got) != 1 || got[0].Status != task.Done || got[0].Title != "first of bob" {
			t.Errorf("bob's tasks are %+v", got)
		}
	}},
	{"completing marks the time, and completing again changes nothing", func(t *testing.T, s Store) {
		open := add(t, s, "ann", "t", "")
		first, err := s.CompleteTask(t.Context(), "ann", open.ID)
		if err != nil {
			t.Fatal(err)
		}
		if first.Status != task.Done || first.CompletedAt.IsZero() || first.UpdatedAt != first.CompletedAt || first.CreatedAt != open.CreatedAt {
			t.Errorf("completed as %+v", first)
		}
		time.Sleep(5 * time.Millisecond)
		again, err := s.CompleteTask(t.Context(), "ann", open.ID)
		if diff := cmp.Diff(first, again, compareDates); err != nil || diff != "" {
			t.Errorf("changed by completing again: %v\n%s", err, diff)
		}
		if read, err := s.Task(t.Context(), "ann", open.ID); err != nil || !cmp.Equal(first, read, compareDates) {
			t.Errorf("read back as %+v, %v", read, err)
		}
	}},
	{"a deleted task is gone from every list", func(t *testing.T, s Store) {
		add(t, s, "ann", "alpha beta", "2026-01-01", "x")
		gone := add(t, s, "ann", "alpha gamma", "2026-01-01", "x")
		if err := s.DeleteTask(t.Context(), "ann", gone.ID, ""); err != nil {
			t.Fatal(err)
		}
		_, err := s.Task(t.Context(), "ann", gone.ID)
		mustFail(t, err, fault.NotFound)
		mustFail(t, s.DeleteTask(t.Context(), "ann", gone.ID, ""), fault.NotFound)
		for _, f := range []task.Filter{{}, {Tag: "x"}, {Status: task.Open}, {DueBefore: date(t, "2027-01-01")}} {
			if got := ids(list(t, s, "ann", f)); !slices.Equal(got, []int64{1}) {
				t.Errorf("%+v lists %v", f, got)
			}
		}
		found, _, err := s.SearchTasks(t.Context(), "ann", query(t, "alpha"), task.Page{Limit: 10})
		if err != nil || !slices.Equal(ids(found), []int64{1}) {
			t.Errorf("search finds %v, %v", ids(found), err)
		}
	}},
	{"a deletion that was confirmed for a title happens only under that title", func(t *testing.T, s Store) {
		added := add(t, s, "ann", "the real title", "")
		mustFail(t, s.DeleteTask(t.Context(), "ann", added.ID, "another title"), fault.Declined)
		if got := list(t, s, "ann", task.Filter{}); len(got) != 1 {
			t.Fatal("deleted under another title")
		}
		if err := s.DeleteTask(t.Context(), "ann", added.ID, "the real title"); err != nil {
			t.Error(err)
		}
		mustFail(t, s.DeleteTask(t.Context(), "ann", added.ID, "the real title"), fault.NotFound)
	}},
	{"a call that was given up before it began changes nothing", func(t *testing.T, s Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.AddTask(ctx, "ann", draft(t, "t", ""))
		mustFail(t, err, fault.Cancelled)
		late, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer stop()
		_, err = s.AddTask(late, "ann", draft(t, "t", ""))
		mustFail(t, err, fault.Timeout)
		if got := list(t, s, "ann", task.Filter{}); len(got) != 0 {
			t.Errorf("added %+v", got)
		}
	}},
	{"sixteen callers at once lose nothing and share no id", func(t *testing.T, s Store) {
		const callers, each = 16, 25
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]map[int64]bool{"ann": {}, "bob": {}}
		for n := range callers {
			user := []string{"ann", "bob"}[n%2]
			wg.Go(func() {
				for i := range each {
					ctx, _ := calling(t, user, "add_task", "c")
					added, err := s.AddTask(ctx, user, draft(t, "some title", "", "tag"))
					if err != nil {
						t.Error(err)
						return
					}
					if i%3 == 0 {
						if _, err := s.CompleteTask(ctx, user, added.ID); err != nil {
							t.Error(err)
						}
					}
					if _, _, err := s.Tasks(ctx, user, task.Filter{Tag: "tag"}, task.Page{Limit: 5}); err != nil {
						t.Error(err)
					}
					mu.Lock()
					if seen[user][added.ID] {
						t.Errorf("%s got id %d twice", user, added.ID)
					}
					seen[user][added.ID] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for user, got := range seen {
			if want := callers / 2 * each; len(got) != want || len(list(t, s, user, task.Filter{})) != want {
				t.Errorf("%s has %d ids and %d tasks, want %d", user, len(got), len(list(t, s, user, task.Filter{})), want)
			}
		}
		if got, want := intact(t, s), int64(callers*each+callers*9); got != want {
			t.Errorf("%d entries on the record, want %d", got, want)
		}
	}},
}

var compareDates = cmp.Comparer(func(a, b task.Date) bool { return a == b })
