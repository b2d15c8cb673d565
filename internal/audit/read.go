package audit

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Filter chooses entries. Zero fields choose everything.
type Filter struct {
	User    string
	Tool    string
	Outcome Outcome
	CallID  string
	// Since and Until bound At, both inclusive.
	Since, Until time.Time
	// AfterSeq leaves out entries up to and including this Seq.
	AfterSeq int64
	// Limit is the largest number of entries, 0 for all; with Newest the last
	// ones that fit are chosen, still in order.
	Limit  int
	Newest bool
}

// Reader is where entries are read, in the order of Seq.
type Reader interface {
	// Entries yields the chosen entries; an error ends the sequence.
	Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error]
}

// Head is the end of one user's chain.
type Head struct {
	User string
	// Size is the number of entries.
	Size int64
	// Sum is the hash of the last one.
	Sum Hash
}

// Break is the first entry of a chain that does not fit.
type Break struct {
	User string
	Seq  int64
	// Pos is the place in the chain where the entry stands, or should.
	Pos int64
	// Why is a sentence for a person.
	Why string
}

// Report is what Verify found.
type Report struct {
	// Entries is how many entries were read.
	Entries int64
	// Heads are the ends of the chains, by user in order of first appearance.
	Heads []Head
	// Breaks are the first faults of the chains, at most one a user; none means
	// that every chain is whole.
	Breaks []Break
	// Open are calls that began and have no end: a crash, or still running.
	Open []Entry
}

// Verify recomputes every chain that r holds and reports the first entry of
// each that does not fit. It reads each entry once and keeps one head a user.
// The error is one of reading; a broken chain is no error but a Break.
func Verify(ctx context.Context, r Reader) (Report, error) {
	return verify(ctx, r, nil)
}

// verify reads all entries; signed are the ends of chains that must be found
// again.
func verify(ctx context.Context, r Reader, signed []Head) (Report, error) {
	v := newVerifier(signed)
	for e, err := range r.Entries(ctx, Filter{}) {
		if err != nil {
			return Report{}, err
		}
		v.entry(e)
	}
	return v.report(signed), nil
}

type chainState struct {
	last   Entry
	broken bool
}

// fail notes the first fault of a chain and lets the later ones be.
func (v *verifier) fail(c *chainState, b Break) {
	if !c.broken {
		c.broken = true
		v.rep.Breaks = append(v.rep.Breaks, b)
	}
}

type verifier struct {
	rep    Report
	chains map[string]*chainState
	order  []string
	signed map[string]Head
	open   map[string]Entry
	opened []string
	last   int64
}

func newVerifier(signed []Head) *verifier {
	v := &verifier{chains: map[string]*chainState{}, signed: map[string]Head{}, open: map[string]Entry{}}
	for _, h := range signed {
		v.signed[h.User] = h
	}
	return v
}

func (v *verifier) entry(e Entry) {
	v.rep.Entries++
	c := v.chain(e.User)
	if why := misfit(c.last, e, v.last); why != "" {
		v.fail(c, Break{User: e.User, Seq: e.Seq, Pos: c.last.Pos + 1, Why: why})
	}
	if h, ok := v.signed[e.User]; ok && e.Pos == h.Size && e.Sum != h.Sum {
		v.fail(c, Break{User: e.User, Seq: e.Seq, Pos: e.Pos,
			Why: fmt.Sprintf("entry %d is not the one that was signed: this chain was written anew", e.Seq)})
	}
	c.last, v.last = e, e.Seq
	if e.CallID == "" {
		return
	}
	key := e.User + "\x00" + e.CallID
	if e.Outcome == Started {
		v.open[key] = e
		v.opened = append(v.opened, key)
	} else {
		delete(v.open, key)
	}
}

func (v *verifier) chain(user string) *chainState {
	c := v.chains[user]
	if c == nil {
		c = &chainState{}
		v.chains[user] = c
		v.order = append(v.order, user)
	}
	return c
}

// misfit says why e cannot follow last in its chain, or nothing.
func misfit(last, e Entry, lastSeq int64) string {
	switch {
	case e.Seq <= lastSeq:
		return fmt.Sprintf("entry %d comes after entry %d", e.Seq, lastSeq)
	case e.Pos > last.Pos+1:
		return fmt.Sprintf("entries %d to %d of this user are missing before entry %d", last.Pos+1, e.Pos-1, e.Seq)
	case e.Pos != last.Pos+1:
		return fmt.Sprintf("entry %d says it is number %d of this user, and should be number %d", e.Seq, e.Pos, last.Pos+1)
	case e.Prev != last.Sum:
		return fmt.Sprintf("entry %d does not follow the entry before it: that one was altered or replaced", e.Seq)
	case e.Sum != e.Digest():
		return fmt.Sprintf("entry %d was altered: its content does not match its hash", e.Seq)
	case int64(len(e.Args)) > e.ArgsBytes:
		return fmt.Sprintf("entry %d keeps more of its arguments than they were long", e.Seq)
	}
	return ""
}

func (v *verifier) report(signed []Head) Report {
	for _, h := range signed {
		if c := v.chain(h.User); c.last.Pos < h.Size {
			v.fail(c, Break{User: h.User, Pos: c.last.Pos + 1,
				Why: fmt.Sprintf("%d entries of this user were signed and %d are there: the last ones were removed", h.Size, c.last.Pos)})
		}
	}
	for _, user := range v.order {
		c := v.chains[user]
		v.rep.Heads = append(v.rep.Heads, Head{User: user, Size: c.last.Pos, Sum: c.last.Sum})
	}
	for _, key := range v.opened {
		if e, still := v.open[key]; still {
			v.rep.Open = append(v.rep.Open, e)
			delete(v.open, key)
		}
	}
	return v.rep
}
