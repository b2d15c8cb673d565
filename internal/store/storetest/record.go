package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/task"
)

var recordSentences = []sentence{
	{"a change and its entry commit together, and the call is settled", func(t *testing.T, s Store) {
		ctx, p := calling(t, "ann", "add_task", "c1")
		added, err := s.AddTask(ctx, "ann", draft(t, "t", ""))
		if err != nil || !p.Settled() {
			t.Fatalf("settled %v, %v", p.Settled(), err)
		}
		ctx, p = calling(t, "ann", "complete_task", "c2")
		if _, err := s.CompleteTask(ctx, "ann", added.ID); err != nil || !p.Settled() {
			t.Fatalf("settled %v, %v", p.Settled(), err)
		}
		ctx, p = calling(t, "ann", "delete_task", "c3")
		if err := s.DeleteTask(ctx, "ann", added.ID, ""); err != nil || !p.Settled() {
			t.Fatalf("settled %v, %v", p.Settled(), err)
		}
		var got []string
		for _, e := range entries(t, s, audit.Filter{}) {
			got = append(got, fmt.Sprint(e.Pos, e.User, e.Tool, e.CallID, e.Outcome, string(e.Args), e.ArgsBytes))
		}
		want := []string{
			fmt.Sprint(1, "ann", "add_task", "c1", "ok", `{"call":"c1"}`, 13),
			fmt.Sprint(2, "ann", "complete_task", "c2", "ok", `{"call":"c2"}`, 13),
			fmt.Sprint(3, "ann", "delete_task", "c3", "ok", `{"call":"c3"}`, 13),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		intact(t, s)
	}},
	{"a change that fails leaves no entry and settles nothing", func(t *testing.T, s Store) {
		added := add(t, s, "ann", "t", "")
		ctx, p := calling(t, "ann", "delete_task", "c")
		mustFail(t, s.DeleteTask(ctx, "ann", 99, ""), fault.NotFound)
		mustFail(t, s.DeleteTask(ctx, "ann", added.ID, "other"), fault.Declined)
		_, err := s.CompleteTask(ctx, "ann", 99)
		mustFail(t, err, fault.NotFound)
		if p.Settled() || len(entries(t, s, audit.Filter{})) != 0 {
			t.Errorf("settled %v, entries %v", p.Settled(), entries(t, s, audit.Filter{}))
		}
	}},
	{"a change whose entry cannot be written does not happen", func(t *testing.T, s Store) {
		kept := add(t, s, "ann", "kept", "2026-01-01", "x")
		s.BreakRecord(t)
		ctx, p := calling(t, "ann", "tool", "c")
		_, err := s.AddTask(ctx, "ann", draft(t, "gone", "", "x"))
		mustFail(t, err, fault.Unavailable)
		_, err = s.CompleteTask(ctx, "ann", kept.ID)
		mustFail(t, err, fault.Unavailable)
		mustFail(t, s.DeleteTask(ctx, "ann", kept.ID, ""), fault.Unavailable)
		mustFail(t, s.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.Started}), fault.Unavailable)
		if got := list(t, s, "ann", task.Filter{}); p.Settled() || len(got) != 1 || !cmp.Equal(got[0], kept, compareDates) {
			t.Errorf("settled %v, tasks %+v", p.Settled(), got)
		}
		if found, _, err := s.SearchTasks(t.Context(), "ann", query(t, "gone"), task.Page{Limit: 5}); err != nil || len(found) != 0 {
			t.Errorf("search finds %v, %v", found, err)
		}
		// A call without a record of its own still works, and the id was not lost.
		if next := add(t, s, "ann", "next", ""); next.ID != kept.ID+1 {
			t.Errorf("id %d after %d", next.ID, kept.ID)
		}
	}},
	{"an entry is read back as it was written", func(t *testing.T, s Store) {
		zone := time.FixedZone("", 3600)
		var want []audit.Entry
		for i, raw := range [][]byte{nil, []byte(`{"a":"ü"}`), {0xff, 0xfe, 'x'}, []byte("nul\x00nul"), bytes.Repeat([]byte("ö"), audit.MaxArgs)} {
			e := audit.Entry{At: time.Date(2026, 1, 2, 3, 4, 5, 678901234, zone), User: "ann", Tool: "t", CallID: fmt.Sprint("c", i),
				Outcome: audit.Rejected, Code: "invalid_input", Duration: 1234567 * time.Nanosecond}
			e.SetArgs(raw)
			if err := s.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			e.Seq = int64(i + 1)
			if i == 0 {
				e.Chain(nil)
			} else {
				e.Chain(&want[i-1])
			}
			if len(e.Args) == 0 {
				e.Args = nil
			}
			want = append(want, e)
		}
		if diff := cmp.Diff(want, entries(t, s, audit.Filter{})); diff != "" {
			t.Errorf("read back otherwise (-written +read):\n%s", diff)
		}
		intact(t, s)
	}},
	{"each user has a chain of their own, in the order of the whole record", func(t *testing.T, s Store) {
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Go(func() {
				for i := range 12 {
					e := audit.Entry{At: time.Now(), User: []string{"ann", "bob", "cyd"}[n%3], Tool: "t", Outcome: audit.OK}
					if i%2 == 0 {
						s.Queue(e)
					} else if err := s.Append(t.Context(), e); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		last, pos := int64(0), map[string]int64{}
		for _, e := range entries(t, s, audit.Filter{}) {
			if e.Seq <= last || e.Pos != pos[e.User]+1 {
				t.Errorf("entry %d is number %d of %s, after %d and %d", e.Seq, e.Pos, e.User, last, pos[e.User])
			}
			last, pos[e.User] = e.Seq, e.Pos
		}
		if got := intact(t, s); got != 16*12 {
			t.Errorf("%d entries, want %d", got, 16*12)
		}
	}},
	{"a queued entry is committed within 50 ms, or at once by Flush", func(t *testing.T, s Store) {
		if err := s.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.OK}); err != nil {
			t.Fatal(err)
		}
		s.Queue(audit.Entry{At: time.Now(), User: "ann", Tool: "first", Outcome: audit.OK})
		if err := s.Flush(t.Context()); err != nil || len(entries(t, s, audit.Filter{Tool: "first"})) != 1 {
			t.Errorf("not there after Flush: %v", err)
		}
		s.Queue(audit.Entry{At: time.Now(), User: "ann", Tool: "second", Outcome: audit.OK})
		began := time.Now()
		for len(entries(t, s, audit.Filter{Tool: "second"})) == 0 {
			// The bound is 50 ms; a loaded machine is given more before the test fails.
			if time.Since(began) > 2*time.Second {
				t.Fatal("never committed")
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("committed after %v", time.Since(began))
	}},
	{"entries are chosen by user, tool, outcome, call, time and number", func(t *testing.T, s Store) {
		day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		var all []audit.Entry
		for i := range 60 {
			e := audit.Entry{At: day.Add(time.Duration(i) * time.Hour), User: []string{"ann", "bob"}[i%2], Tool: []string{"a", "b", "c"}[i%3],
				CallID: fmt.Sprint("c", i/2), Outcome: audit.Outcomes[i%len(audit.Outcomes)]}
			if err := s.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			e.Seq = int64(i + 1)
			all = append(all, e)
		}
		for name, f := range map[string]audit.Filter{
			"user": {User: "ann"}, "tool": {Tool: "b"}, "outcome": {Outcome: audit.Asked}, "call": {CallID: "c7"},
			"since": {Since: day.Add(50 * time.Hour)}, "until": {Until: day.Add(3 * time.Hour)}, "after": {AfterSeq: 55},
			"limit": {Limit: 7}, "newest": {Limit: 7, Newest: true}, "newest of ann": {User: "ann", Limit: 5, Newest: true},
			"many": {User: "bob", Tool: "a", Since: day.Add(9 * time.Hour), Until: day.Add(40 * time.Hour), Limit: 3, AfterSeq: 12},
		} {
			var want []int64
			for _, e := range all {
				if (f.User == "" || f.User == e.User) && (f.Tool == "" || f.Tool == e.Tool) && (f.Outcome == "" || f.Outcome == e.Outcome) &&
					(f.CallID == "" || f.CallID == e.CallID) && !e.At.Before(f.Since) && (f.Until.IsZero() || !e.At.After(f.Until)) && e.Seq > f.AfterSeq {
					want = append(want, e.Seq)
				}
			}
			if f.Limit > 0 && f.Newest {
				want = want[len(want)-f.Limit:]
			} else if f.Limit > 0 {
				want = want[:f.Limit]
			}
			var got []int64
			for _, e := range entries(t, s, f) {
				got = append(got, e.Seq)
			}
			if !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("%s chooses %v, want %v", name, got, want)
			}
		}
	}},
	{"reading the record may stop early, and ends where the record ended when it began", func(t *testing.T, s Store) {
		for range 3 {
			if err := s.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.OK}); err != nil {
				t.Fatal(err)
			}
		}
		read := 0
		for _, err := range s.Entries(t.Context(), audit.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			read++
			if err := s.Append(t.Context(), audit.Entry{At: time.Now(), User: "ann", Outcome: audit.OK}); err != nil {
				t.Fatal(err)
			}
		}
		for range s.Entries(t.Context(), audit.Filter{}) {
			break
		}
		if read != 3 || intact(t, s) != 6 {
			t.Errorf("read %d entries of 3, now %d", read, intact(t, s))
		}
	}},
}
