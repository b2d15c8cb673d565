// Package storetest owns the sentences that every store must make true, as one
// suite of tests. It knows no database: a store hands it an open one.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/task"
)

// Store is what the suite drives.
type Store interface {
	task.Store
	task.Watcher
	audit.Log
	audit.Reader
	// Spend marks a confirmation as used until a time, and reports whether it was
	// not before.
	Spend(ctx context.Context, nonce string, until time.Time) (fresh bool, err error)
	// BreakRecord makes every later entry of the record fail to be written, from
	// outside, as a full disk would.
	BreakRecord(tb testing.TB)
	// Another opens the same data once more, as another process has it, and
	// closes it with the test's Cleanup.
	Another(tb testing.TB) Store
}

// Run proves the sentences. open gives a new, empty store for each of them and
// closes it with the test's Cleanup.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, group := range [][]sentence{taskSentences, pageSentences, searchSentences, recordSentences, changeSentences, spendSentences} {
		for _, s := range group {
			t.Run(s.says, func(t *testing.T) { s.proof(t, open(t)) })
		}
	}
}

// sentence is a fact about every store and the test that proves it.
type sentence struct {
	says  string
	proof func(*testing.T, Store)
}

// draft parses what a test writes as literals.
func draft(tb testing.TB, title, due string, tags ...string) task.Draft {
	tb.Helper()
	var d task.Draft
	var err error
	if d.Title, err = task.ParseTitle(title); err != nil {
		tb.Fatal(err)
	}
	if due != "" {
		d.Due = date(tb, due)
	}
	if d.Tags, err = task.ParseTags(tags); err != nil {
		tb.Fatal(err)
	}
	return d
}

func date(tb testing.TB, s string) task.Date {
	tb.Helper()
	d, err := task.ParseDate("due", s)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func query(tb testing.TB, s string) task.Query {
	tb.Helper()
	q, err := task.ParseQuery(s)
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

func add(tb testing.TB, s Store, user, title, due string, tags ...string) task.Task {
	tb.Helper()
	added, err := s.AddTask(tb.Context(), user, draft(tb, title, due, tags...))
	if err != nil {
		tb.Fatalf("adding %q: %v", title, err)
	}
	return added
}

// list is everything of the user that the filter chooses, in one page.
func list(tb testing.TB, s Store, user string, f task.Filter) []task.Task {
	tb.Helper()
	found, more, err := s.Tasks(tb.Context(), user, f, task.Page{Limit: task.MaxLimit})
	if err != nil || more {
		tb.Fatalf("listing: more %v, %v", more, err)
	}
	return found
}

func ids(list []task.Task) []int64 {
	found := make([]int64, len(list))
	for i, t := range list {
		found[i] = t.ID
	}
	return found
}

func mustFail(tb testing.TB, err error, want fault.Code) {
	tb.Helper()
	if got := fault.CodeOf(err); got != want {
		tb.Errorf("got %q (%v), want %q", got, err, want)
	}
}

// calling is the context of a running call, as the door makes it.
func calling(tb testing.TB, user, tool, id string) (context.Context, *audit.Pending) {
	p := audit.NewPending(user, tool, id, fmt.Appendf(nil, `{"call":%q}`, id), time.Now)
	return audit.With(tb.Context(), p), p
}

func entries(tb testing.TB, s Store, f audit.Filter) []audit.Entry {
	tb.Helper()
	var all []audit.Entry
	for e, err := range s.Entries(tb.Context(), f) {
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// intact verifies the chains and returns how many entries there are.
func intact(tb testing.TB, s Store) int64 {
	tb.Helper()
	r, err := audit.Verify(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	for _, b := range r.Breaks {
		tb.Errorf("the chain of %s is broken: %s", b.User, b.Why)
	}
	return r.Entries
}
