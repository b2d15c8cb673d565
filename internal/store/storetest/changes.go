package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/task"
)

// patience is how long a test waits for what must be announced within a second:
// it decides only when silence is called silence.
const patience = 30 * time.Second

var changeSentences = []sentence{
	{"the count is of open and done tasks, and follows every change", func(t *testing.T, s Store) {
		want := func(user string, open, done int64) {
			t.Helper()
			if o, d, err := s.CountTasks(t.Context(), user); err != nil || o != open || d != done {
				t.Errorf("%s has %d open and %d done, want %d and %d, %v", user, o, d, open, done, err)
			}
		}
		want("ann", 0, 0)
		for range 5 {
			add(t, s, "ann", "t", "2026-01-01", "x")
		}
		add(t, s, "bob", "t", "")
		want("ann", 5, 0)
		for _, id := range []int64{1, 2, 2} {
			if _, err := s.CompleteTask(t.Context(), "ann", id); err != nil {
				t.Fatal(err)
			}
		}
		want("ann", 3, 2)
		for _, id := range []int64{2, 5} {
			if err := s.DeleteTask(t.Context(), "ann", id, ""); err != nil {
				t.Fatal(err)
			}
		}
		mustFail(t, s.DeleteTask(t.Context(), "ann", 2, ""), fault.NotFound)
		want("ann", 2, 1)
		want("bob", 1, 0)
		want("nobody", 0, 0)
	}},
	{"a watcher hears of its own user's changes, in order, whoever made them", func(t *testing.T, s Store) {
		other := s.Another(t)
		add(t, s, "ann", "before anybody watched", "")
		ear := listenTo(t, s, "ann")
		first := add(t, s, "ann", "by this process", "").ID
		second := add(t, other, "ann", "by another", "").ID
		add(t, other, "bob", "of nobody's concern", "")
		for _, step := range []error{
			failed(other.CompleteTask(t.Context(), "ann", first)), failed(s.CompleteTask(t.Context(), "ann", second)),
			other.DeleteTask(t.Context(), "ann", first, ""),
		} {
			if step != nil {
				t.Fatal(step)
			}
		}
		want := []task.Change{
			{ID: first, Kind: task.Added}, {ID: second, Kind: task.Added},
			{ID: first, Kind: task.Completed}, {ID: second, Kind: task.Completed}, {ID: first, Kind: task.Deleted},
		}
		if diff := cmp.Diff(want, ear.take(t, len(want))); diff != "" {
			t.Errorf("heard otherwise (-made +heard):\n%s", diff)
		}
	}},
	{"what changes nothing is not announced", func(t *testing.T, s Store) {
		added := add(t, s, "ann", "t", "")
		if _, err := s.CompleteTask(t.Context(), "ann", added.ID); err != nil {
			t.Fatal(err)
		}
		ear := listenTo(t, s, "ann")
		if _, err := s.CompleteTask(t.Context(), "ann", added.ID); err != nil {
			t.Fatal(err)
		}
		mustFail(t, s.DeleteTask(t.Context(), "ann", 99, ""), fault.NotFound)
		mustFail(t, s.DeleteTask(t.Context(), "ann", added.ID, "another title"), fault.Declined)
		if err := s.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.OK}); err != nil {
			t.Fatal(err)
		}
		last := add(t, s, "ann", "the only change", "").ID
		if diff := cmp.Diff([]task.Change{{ID: last, Kind: task.Added}}, ear.take(t, 1)); diff != "" {
			t.Error(diff)
		}
	}},
	{"a change that is rolled back is not announced", func(t *testing.T, s Store) {
		kept := add(t, s, "ann", "kept", "").ID
		ear := listenTo(t, s, "ann")
		s.BreakRecord(t)
		ctx, _ := calling(t, "ann", "tool", "c")
		_, err := s.AddTask(ctx, "ann", draft(t, "gone", ""))
		mustFail(t, err, fault.Unavailable)
		mustFail(t, s.DeleteTask(ctx, "ann", kept, ""), fault.Unavailable)
		if _, err := s.CompleteTask(t.Context(), "ann", kept); err != nil { // a call without a record of its own
			t.Fatal(err)
		}
		if diff := cmp.Diff([]task.Change{{ID: kept, Kind: task.Completed}}, ear.take(t, 1)); diff != "" {
			t.Error(diff)
		}
	}},
	{"every watcher hears everything, until it is stopped", func(t *testing.T, s Store) {
		one, two, bobs := listenTo(t, s, "ann"), listenTo(t, s, "ann"), listenTo(t, s, "bob")
		first := task.Change{ID: add(t, s, "ann", "t", "").ID, Kind: task.Added}
		for _, ear := range []*ear{one, two} {
			if got := ear.take(t, 1); got[0] != first {
				t.Errorf("heard %v", got)
			}
		}
		one.stop()
		one.stop() // twice is fine
		add(t, s, "ann", "t", "")
		two.take(t, 1)
		two.stop()
		bobs.stop()
		add(t, s, "ann", "nobody listens", "")
		again := listenTo(t, s, "ann")
		last := task.Change{ID: add(t, s, "ann", "somebody does again", "").ID, Kind: task.Added}
		if got := again.take(t, 1); got[0] != last {
			t.Errorf("who began again heard %v, want %v", got, last)
		}
		if n := len(one.heard) + len(two.heard) + len(bobs.heard); n != 0 {
			t.Errorf("%d changes were told to those who had stopped, or to another user", n)
		}
	}},
	{"in a burst by two processes no change is lost or told twice", func(t *testing.T, s Store) {
		const writers, each = 8, 25
		other := s.Another(t)
		ear := listenTo(t, s, "ann")
		var wg sync.WaitGroup
		for n := range writers {
			wg.Go(func() {
				by := []Store{s, other}[n%2]
				for range each {
					id := add(t, by, "ann", "t", "").ID
					if _, err := by.CompleteTask(t.Context(), "ann", id); err != nil {
						t.Error(err)
					}
					if err := by.DeleteTask(t.Context(), "ann", id, ""); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		byID := map[int64][]task.ChangeKind{}
		for _, c := range ear.take(t, 3*writers*each) {
			byID[c.ID] = append(byID[c.ID], c.Kind)
		}
		for id, kinds := range byID {
			if !slices.Equal(kinds, []task.ChangeKind{task.Added, task.Completed, task.Deleted}) {
				t.Errorf("of task %d was heard %v", id, kinds)
			}
		}
		if len(byID) != writers*each {
			t.Errorf("heard of %d tasks of %d", len(byID), writers*each)
		}
	}},
}

func failed[T any](_ T, err error) error { return err }

// ear keeps what a watcher is told.
type ear struct {
	heard chan task.Change
	stop  func()
}

func listenTo(tb testing.TB, s Store, user string) *ear {
	tb.Helper()
	e := &ear{heard: make(chan task.Change, 10_000)}
	stop, err := s.WatchTasks(tb.Context(), user, func(changes []task.Change) {
		for _, c := range changes {
			e.heard <- c
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	e.stop = stop
	tb.Cleanup(stop)
	return e
}

// take waits for n changes.
func (e *ear) take(tb testing.TB, n int) []task.Change {
	tb.Helper()
	var got []task.Change
	give := time.After(patience)
	for len(got) < n {
		select {
		case c := <-e.heard:
			got = append(got, c)
		case <-give:
			tb.Fatalf("heard %d changes of %d: %v", len(got), n, got)
		}
	}
	return got
}
