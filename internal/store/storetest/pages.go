package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"handrail/internal/task"
)

var pageSentences = []sentence{
	{"due bounds are inclusive, and an undated task never matches one", func(t *testing.T, s Store) {
		for _, due := range []string{"2026-03-01", "2026-03-02", "2026-03-03", "", "0001-01-01", "9999-12-31"} {
			add(t, s, "ann", "due "+due, due)
		}
		for _, c := range []struct {
			after, before string
			want          []int64
		}{
			{"", "2026-03-02", []int64{1, 2, 5}},
			{"2026-03-02", "", []int64{2, 3, 6}},
			{"2026-03-02", "2026-03-02", []int64{2}},
			{"2026-03-03", "2026-03-02", []int64{}},
			{"0001-01-01", "9999-12-31", []int64{1, 2, 3, 5, 6}},
			{"", "", []int64{1, 2, 3, 4, 5, 6}},
		} {
			for _, status := range []task.Status{"", task.Open} {
				f := task.Filter{Status: status}
				if c.after != "" {
					f.DueAfter = date(t, c.after)
				}
				if c.before != "" {
					f.DueBefore = date(t, c.before)
				}
				if got := ids(list(t, s, "ann", f)); !slices.Equal(got, c.want) {
					t.Errorf("%q to %q, status %q: %v, want %v", c.after, c.before, status, got, c.want)
				}
			}
		}
	}},
	{"a tag matches exactly", func(t *testing.T, s Store) {
		tags := []string{"work", "Work", "wor", "work ", `wo"rk`, "wo%k", `["work"]`, "wörk", "work,home"}
		for _, tag := range tags {
			add(t, s, "ann", "t", "", tag, "shared")
		}
		for i, tag := range tags {
			if got := ids(list(t, s, "ann", task.Filter{Tag: tag})); !slices.Equal(got, []int64{int64(i + 1)}) {
				t.Errorf("%q chooses %v, want only %d", tag, got, i+1)
			}
		}
		if got := list(t, s, "ann", task.Filter{Tag: "shared"}); len(got) != len(tags) {
			t.Errorf("shared chooses %d of %d", len(got), len(tags))
		}
		if got := list(t, s, "ann", task.Filter{Tag: "home"}); len(got) != 0 {
			t.Errorf("home chooses %v", ids(got))
		}
	}},
	{"filters work together", func(t *testing.T, s Store) {
		for i := range 24 {
			added := add(t, s, "ann", "t", []string{"", "2026-01-01", "2026-06-01"}[i%3], []string{"a", "b"}[i%2])
			if i%4 < 2 {
				if _, err := s.CompleteTask(t.Context(), "ann", added.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		all := list(t, s, "ann", task.Filter{})
		for _, f := range []task.Filter{
			{Status: task.Done}, {Status: task.Open}, {Status: task.Done, Tag: "a"}, {Tag: "b", DueAfter: date(t, "2026-02-01")},
			{Status: task.Open, Tag: "a", DueBefore: date(t, "2026-02-01")}, {Status: task.Done, DueAfter: date(t, "2026-01-01"), DueBefore: date(t, "2026-01-01")},
		} {
			var want []int64
			for _, x := range all {
				if chooses(f, x) {
					want = append(want, x.ID)
				}
			}
			if got := ids(list(t, s, "ann", f)); !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("%+v chooses %v, want %v", f, got, want)
			}
		}
	}},
	{"pages follow each other by id without a gap, whatever the filter", func(t *testing.T, s Store) {
		for i := range 37 {
			added := add(t, s, "ann", fmt.Sprintf("title %d", i), "2026-01-01", "x")
			if i%5 == 0 {
				if err := s.DeleteTask(t.Context(), "ann", added.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := ids(list(t, s, "ann", task.Filter{}))
		for name, page := range pagers(t, s) {
			for _, limit := range []int{1, 7, len(want), len(want) + 1} {
				var got []int64
				for after := int64(0); ; {
					part, more := page(after, limit)
					if len(part) > limit || (more && len(part) != limit) {
						t.Fatalf("%s: %d tasks on a page of %d, more %v", name, len(part), limit, more)
					}
					got = append(got, ids(part)...)
					if !more {
						break
					}
					after = got[len(got)-1]
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s by %d: %v, want %v", name, limit, got, want)
				}
			}
		}
	}},
	{"pages stay right while others add and delete", func(t *testing.T, s Store) {
		const kept = 60
		for range kept {
			add(t, s, "ann", "i kept", "2026-01-01", "x")
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				added := add(t, s, "ann", "passing by", "2026-01-01", "x")
				if err := s.DeleteTask(t.Context(), "ann", added.ID, ""); err != nil {
					t.Error(err)
				}
			}
		})
		for name, page := range pagers(t, s) {
			for range 3 {
				var got []int64
				for after := int64(0); after < kept; {
					part, _ := page(after, 7)
					for _, x := range part {
						if x.ID <= after {
							t.Errorf("%s: task %d came after %d", name, x.ID, after)
						}
						after = x.ID
						if x.Title == "i kept" {
							got = append(got, x.ID)
						}
					}
					if len(part) == 0 {
						break
					}
				}
				if len(got) != kept {
					t.Errorf("%s: saw %d of %d tasks", name, len(got), kept)
				}
			}
		}
		close(stop)
		wg.Wait()
	}},
}

// pagers are the ways to list every task of ann that has the due date and the
// tag that the tests above give.
func pagers(t *testing.T, s Store) map[string]func(after int64, limit int) ([]task.Task, bool) {
	lister := func(f task.Filter) func(int64, int) ([]task.Task, bool) {
		return func(after int64, limit int) ([]task.Task, bool) {
			part, more, err := s.Tasks(t.Context(), "ann", f, task.Page{After: after, Limit: limit})
			if err != nil {
				t.Error(err)
			}
			return part, more
		}
	}
	searcher := func(text string) func(int64, int) ([]task.Task, bool) {
		return func(after int64, limit int) ([]task.Task, bool) {
			part, more, err := s.SearchTasks(t.Context(), "ann", query(t, text), task.Page{After: after, Limit: limit})
			if err != nil {
				t.Error(err)
			}
			return part, more
		}
	}
	return map[string]func(int64, int) ([]task.Task, bool){
		"all":    lister(task.Filter{}),
		"open":   lister(task.Filter{Status: task.Open}),
		"tagged": lister(task.Filter{Tag: "x"}),
		"due":    lister(task.Filter{DueBefore: date(t, "2026-01-01")}),
		"search": searcher("i"),
	}
}

// chooses says what a filter means, in as few words as possible.
func chooses(f task.Filter, t task.Task) bool {
	due := t.Due.String()
	return (f.Status == "" || f.Status == t.Status) &&
		(f.Tag == "" || slices.Contains(t.Tags, f.Tag)) &&
		(f.DueAfter.IsZero() || due != "" && due >= f.DueAfter.String()) &&
		(f.DueBefore.IsZero() || due != "" && due <= f.DueBefore.String())
}
