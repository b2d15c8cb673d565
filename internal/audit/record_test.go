package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"handrail/internal/audit"
)

// memory is a record in memory that anybody can tamper with.
type memory []audit.Entry

func (m memory) Entries(context.Context, audit.Filter) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		for _, e := range m {
			if !yield(e, nil) {
				return
			}
		}
	}
}

var noon = time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)

// record is the chains of ann and bob, n entries in turn.
func record(n int) memory {
	var m memory
	for i := range n {
		e := audit.Entry{At: noon.Add(time.Duration(i) * time.Second), User: []string{"ann", "bob"}[i%2], CallID: fmt.Sprint("c", i),
			Tool: "add_task", Outcome: audit.OK, Duration: time.Duration(i) * time.Millisecond}
		e.SetArgs(fmt.Appendf(nil, `{"title":"%d"}`, i))
		m = append(m, e)
	}
	return m.chained()
}

// chained computes every chain anew, as a forger with all rights could.
func (m memory) chained() memory {
	m = slices.Clone(m)
	last := map[string]*audit.Entry{}
	for i := range m {
		m[i].Seq = int64(i + 1)
		m[i].Chain(last[m[i].User])
		last[m[i].User] = &m[i]
	}
	return m
}

func verified(t *testing.T, r audit.Reader) audit.Report {
	t.Helper()
	rep, err := audit.Verify(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestAnUntouchedRecordIsWhole(t *testing.T) {
	m := record(9)
	rep := verified(t, m)
	if len(rep.Breaks) != 0 || rep.Entries != 9 || len(rep.Open) != 0 {
		t.Errorf("%+v", rep)
	}
	want := []audit.Head{{User: "ann", Size: 5, Sum: m[8].Sum}, {User: "bob", Size: 4, Sum: m[7].Sum}}
	if !slices.Equal(rep.Heads, want) {
		t.Errorf("heads %v, want %v", rep.Heads, want)
	}
	if rep := verified(t, memory{}); rep.Entries != 0 || len(rep.Breaks) != 0 {
		t.Errorf("an empty record: %+v", rep)
	}
}

func TestTheFirstEntryThatDoesNotFitIsNamed(t *testing.T) {
	// Entry 5 (index 4) is number 3 of ann, between 3 and 7 of hers.
	for what, c := range map[string]struct {
		tamper func(memory) memory
		user   string
		seq    int64
		says   string
	}{
		"outcome":        {func(m memory) memory { m[4].Outcome = audit.Rejected; return m }, "ann", 5, "altered"},
		"code":           {func(m memory) memory { m[4].Code = "x"; return m }, "ann", 5, "altered"},
		"tool":           {func(m memory) memory { m[4].Tool = "list_tasks"; return m }, "ann", 5, "altered"},
		"call":           {func(m memory) memory { m[4].CallID = "c99"; return m }, "ann", 5, "altered"},
		"time":           {func(m memory) memory { m[4].At = m[4].At.Add(time.Microsecond); return m }, "ann", 5, "altered"},
		"duration":       {func(m memory) memory { m[4].Duration += time.Microsecond; return m }, "ann", 5, "altered"},
		"arguments":      {func(m memory) memory { m[4].Args = []byte(`{"title":"5"}`); return m }, "ann", 5, "altered"},
		"length":         {func(m memory) memory { m[4].ArgsBytes++; return m }, "ann", 5, "altered"},
		"hash of args":   {func(m memory) memory { m[4].ArgsSum[0]++; return m }, "ann", 5, "altered"},
		"sum":            {func(m memory) memory { m[4].Sum[0]++; return m }, "ann", 5, "altered"},
		"forged":         {func(m memory) memory { m[4].Tool = "x"; m[4].Sum = m[4].Digest(); return m }, "ann", 7, "altered or replaced"},
		"removed":        {func(m memory) memory { return slices.Delete(m, 4, 5) }, "ann", 7, "entries 3 to 3 of this user are missing"},
		"two removed":    {func(m memory) memory { return slices.Delete(m, 0, 3) }, "bob", 4, "entries 1 to 1"},
		"inserted twice": {func(m memory) memory { return slices.Insert(m, 5, m[4]) }, "ann", 5, "comes after"},
		"reordered":      {func(m memory) memory { m[4], m[6] = m[6], m[4]; return m }, "ann", 7, "missing"},
		"another's":      {func(m memory) memory { m[4].User = "bob"; return m }, "bob", 5, ""},
		"swapped users": {func(m memory) memory {
			for i := range m {
				m[i].User = map[string]string{"ann": "bob", "bob": "ann"}[m[i].User]
			}
			return m
		}, "bob", 1, "altered"},
		"args too long": {func(m memory) memory { m[4].ArgsBytes = 1; m[4].Sum = m[4].Digest(); return m }, "ann", 5, "longer"},
	} {
		t.Run(what, func(t *testing.T) {
			rep := verified(t, c.tamper(record(12)))
			if len(rep.Breaks) == 0 {
				t.Fatal("not found")
			}
			b := rep.Breaks[0]
			if c.says == "longer" {
				c.says = "keeps more of its arguments"
			}
			if b.User != c.user || b.Seq != c.seq || !strings.Contains(b.Why, c.says) {
				t.Errorf("found %+v, want entry %d of %s: %q", b, c.seq, c.user, c.says)
			}
		})
	}
}

func TestACallThatBeganAndNeverEndedIsOpen(t *testing.T) {
	m := record(4)
	m[1].Outcome, m[1].CallID = audit.Started, "lost"
	m[2].Outcome, m[2].CallID = audit.Started, "run" // of ann
	end := m[2]
	end.Outcome = audit.OK
	other := m[1] // the same call id of another user ends nothing
	other.User, other.Outcome = "ann", audit.OK
	rep := verified(t, append(m, end, other).chained())
	if len(rep.Breaks) != 0 || len(rep.Open) != 1 || rep.Open[0].CallID != "lost" || rep.Open[0].User != "bob" {
		t.Errorf("breaks %v, open %+v", rep.Breaks, rep.Open)
	}
}

func TestArgumentsAreCutAtACharactersBoundary(t *testing.T) {
	for _, letter := range []string{"a", "ö", "€", "🎉"} {
		for shift := range 4 {
			raw := []byte(strings.Repeat("x", shift) + strings.Repeat(letter, audit.MaxArgs))
			var e audit.Entry
			e.SetArgs(raw)
			if !utf8.Valid(e.Args) || len(e.Args) > audit.MaxArgs || len(e.Args) <= audit.MaxArgs-len(letter) || !bytes.HasPrefix(raw, e.Args) {
				t.Errorf("%q shifted by %d: kept %d bytes, valid %v", letter, shift, len(e.Args), utf8.Valid(e.Args))
			}
			if e.ArgsBytes != int64(len(raw)) || e.ArgsSum != sha256.Sum256(raw) {
				t.Error("length or hash are not those of all of it")
			}
		}
	}
	var e audit.Entry
	rubbish := bytes.Repeat([]byte{0x80}, 3*audit.MaxArgs)
	if e.SetArgs(rubbish); len(e.Args) != audit.MaxArgs {
		t.Errorf("of bytes that are no text %d are kept", len(e.Args))
	}
	short := []byte("€")
	if e.SetArgs(short); string(e.Args) != "€" {
		t.Errorf("kept %q", e.Args)
	}
	if short[0] = 'x'; string(e.Args) != "€" {
		t.Error("the entry shares the caller's bytes")
	}
}

func FuzzArgumentsKeepTheirBeginningAndTheirHash(f *testing.F) {
	f.Add([]byte(`{"a":"€"}`), 3000)
	f.Fuzz(func(t *testing.T, piece []byte, times int) {
		raw := bytes.Repeat(piece, min(max(times, 0), 1+4*audit.MaxArgs/max(1, len(piece))))
		var e audit.Entry
		e.SetArgs(raw)
		if !bytes.HasPrefix(raw, e.Args) || len(e.Args) > audit.MaxArgs || len(raw) <= audit.MaxArgs && len(e.Args) != len(raw) {
			t.Errorf("kept %d of %d bytes", len(e.Args), len(raw))
		}
		if utf8.Valid(raw) && !utf8.Valid(e.Args) {
			t.Error("cut through a character")
		}
	})
}

func TestTheDigestTellsFieldsApart(t *testing.T) {
	a := audit.Entry{User: "ab", CallID: "c", Tool: "t"}
	b := audit.Entry{User: "a", CallID: "bc", Tool: "t"}
	if a.Digest() == b.Digest() {
		t.Error("text moved from one field to the next and nobody noticed")
	}
	zone := time.FixedZone("x", 7200)
	a.At, b = noon.In(zone), a
	b.At = noon
	if a.Digest() != b.Digest() {
		t.Error("the same moment in another zone has another digest")
	}
}

func TestHashesReadBackOnlyAsTheyAreWritten(t *testing.T) {
	h := audit.Hash(sha256.Sum256([]byte("x")))
	if got, ok := audit.ParseHash(h.String()); !ok || got != h {
		t.Errorf("%v, %v", got, ok)
	}
	for _, bad := range []string{"", "00", strings.ToUpper(h.String()), h.String() + "00", h.String()[1:], strings.Repeat("g", 64)} {
		if _, ok := audit.ParseHash(bad); ok {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
}

func TestAPendingCallKnowsItsDurationAndIsSettledOnce(t *testing.T) {
	now := noon
	p := audit.NewPending("ann", "add_task", "c1", []byte(`{}`), func() time.Time { return now })
	ctx := audit.With(context.Background(), p)
	now = now.Add(1500 * time.Microsecond)
	e := audit.From(ctx).Entry(audit.OK, "")
	if e.At != noon || e.Duration != 1500*time.Microsecond || e.User != "ann" || e.Tool != "add_task" || e.CallID != "c1" || string(e.Args) != "{}" {
		t.Errorf("%+v", e)
	}
	if now = noon.Add(-time.Hour); p.Entry(audit.Error, "x").Duration != 0 {
		t.Error("a clock that was put back made a negative duration")
	}
	if p.Settled() {
		t.Error("settled too early")
	}
	if p.Settle(); !p.Settled() {
		t.Error("not settled")
	}
	if audit.From(context.Background()) != nil {
		t.Error("a call outside of any")
	}
}
