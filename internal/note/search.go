package note

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"handrail/internal/fault"
)

// The bounds of a search: UTF-16 units of the query and of a line shown, and how
// many skipped notes are named.
const (
	MaxQueryUnits = 200
	maxLineUnits  = 500
	maxSkipped    = 50
)

// Search finds the lines that contain the query in any case, by simple Unicode
// folding, in the notes beneath a folder as they are now. Each line is reported
// once. Faults: invalid_input (query, folder, limit), not_found (no such
// folder), unavailable.
func (v *Vault) Search(ctx context.Context, q SearchQuery) (Matches, error) {
	if err := v.checkQuery(&q); err != nil {
		return Matches{}, err
	}
	names, err := ParseFolderPath("folder", q.Folder)
	if err != nil {
		return Matches{}, err
	}
	h := newHunt(v, q)
	err = v.inFolder(ctx, q.Folder, names, func(top *os.Root) error { return h.run(ctx, top) })
	if err != nil {
		return Matches{}, err
	}
	v.index.learn(v, h.unknown.Load())
	return h.result(), nil
}

func (v *Vault) checkQuery(q *SearchQuery) error {
	if err := checkText("query", q.Query); err != nil {
		return err
	}
	units := len(utf16.Encode([]rune(q.Query)))
	most := v.limits.MaxSearchResults
	if q.Limit == 0 {
		q.Limit = most
	}
	switch {
	case units < 1 || units > MaxQueryUnits:
		return fault.New(fault.InvalidInput, "query: must have from 1 to %d characters", MaxQueryUnits)
	case strings.ContainsAny(q.Query, "\r\n"):
		return fault.New(fault.InvalidInput, "query: must be on one line, since lines are searched")
	case q.Limit < 1 || q.Limit > most:
		return fault.New(fault.InvalidInput, "limit: must be from 1 to %d (--max-search-results)", most)
	}
	return nil
}

// hunt is one search under way. Batches are handed out in the order of paths
// and never taken back, so that once enough is found, everything before it has
// been looked at.
type hunt struct {
	v      *Vault
	query  SearchQuery
	needle *needle
	grams  []uint32 // what a note's sieve must have

	work    chan batch
	found   atomic.Int64
	unknown atomic.Int64 // notes that were read for want of a sieve
	mu      sync.Mutex
	matches []Match
	skips   []Unsearched
}

func newHunt(v *Vault, q SearchQuery) *hunt {
	n := newNeedle(q.Query)
	return &hunt{v: v, query: q, needle: n, grams: gramsOf(n.folded)}
}

func (h *hunt) enough() bool { return h.found.Load() > int64(h.query.Limit) }

func (h *hunt) run(ctx context.Context, top *os.Root) error {
	workers := min(max(runtime.GOMAXPROCS(0), 1), 8)
	h.matches, h.skips = nil, nil
	h.found.Store(0)
	h.work = make(chan batch, 4*workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { h.worker(ctx) })
	}
	s := scan{ctx: ctx, skip: func(path string, err error) { h.skip(path, reason(err)) },
		emit: func(b batch) bool {
			if h.enough() {
				b.dir.release()
				return false
			}
			h.work <- b
			return true
		}}
	err := s.run(top, prefixOf(h.query.Folder))
	close(h.work)
	wg.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

func (h *hunt) worker(ctx context.Context) {
	buf := &buffer{most: h.v.limits.MaxReadBytes}
	for b := range h.work {
		for _, s := range b.skips {
			h.skip(s.Path, s.Reason)
		}
		// A batch that was taken is finished even when others found enough:
		// it may come before theirs.
		notes := h.v.index.in(b.dir.prefix)
		for _, name := range b.names {
			if ctx.Err() != nil {
				break
			}
			k, ok := notes[name]
			if ok && k.sieve.lacks(h.grams) {
				if b.dir.still(name, k.version) {
					continue
				}
				ok = false // it changed since
			}
			if !ok {
				h.unknown.Add(1)
			}
			h.note(b, name, buf)
		}
		b.dir.release()
	}
}

func (h *hunt) skip(path, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skips = append(h.skips, Unsearched{Path: path, Reason: why})
}

// note looks through one note.
func (h *hunt) note(b batch, name string, buf *buffer) {
	text, _, err := b.dir.readAll(name, buf)
	switch {
	case isNotExist(err):
		return // it went away since its folder was read
	case err != nil:
		h.skip(b.dir.prefix+name, reason(err))
		return
	case isUTF16(text):
		h.skip(b.dir.prefix+name, "it is UTF-16 text; save it as UTF-8")
		return
	}
	if matches := h.lines(b.dir.prefix+name, text); len(matches) > 0 {
		h.found.Add(int64(len(matches)))
		h.mu.Lock()
		defer h.mu.Unlock()
		h.matches = append(h.matches, matches...)
	}
}

// lines returns the matching lines of a note, at most one more than asked for.
func (h *hunt) lines(path string, text []byte) (out []Match) {
	var seen places
	line, counted := 1, 0
	for from := 0; len(out) <= h.query.Limit; {
		start, end := h.needle.find(text, from, &seen)
		if start < 0 {
			break
		}
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		first := bytes.LastIndexByte(text[:start], '\n') + 1
		last := len(text)
		if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
			last = end + i
		}
		shown, cut := aroundMatch(text[first:last], start-first, end-first)
		out = append(out, Match{Path: path, Line: line, Text: shown, Cut: cut})
		if from = last + 1; from > len(text) {
			break
		}
	}
	return out
}

// aroundMatch returns the line, or at most maxLineUnits UTF-16 units of it with
// the match from start to end as near to the middle as can be.
func aroundMatch(line []byte, start, end int) (text string, cut bool) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	end = min(end, len(line))
	if len(line) <= maxLineUnits {
		text, _ = validText(line)
		return text, false
	}
	left, right, units := start, end, 0
	for at := start; at < end; {
		r, n := utf8.DecodeRune(line[at:])
		units, at = units+utf16.RuneLen(r), at+n
	}
	for grown := true; grown; {
		grown = false
		if r, n := utf8.DecodeLastRune(line[:left]); n > 0 && units+utf16.RuneLen(r) <= maxLineUnits {
			left, units, grown = left-n, units+utf16.RuneLen(r), true
		}
		if r, n := utf8.DecodeRune(line[right:]); n > 0 && units+utf16.RuneLen(r) <= maxLineUnits {
			right, units, grown = right+n, units+utf16.RuneLen(r), true
		}
	}
	text, _ = validText(line[left:right])
	return text, left > 0 || right < len(line)
}

// reason says in a caller's words why a note was not searched.
func reason(err error) string {
	switch {
	case errors.Is(err, errNotRegular):
		return "it is not a regular file"
	case errors.Is(err, errLarge):
		return "it is larger than --max-read-bytes"
	case errors.Is(err, fs.ErrPermission):
		return "the file system does not permit reading it"
	}
	return "it could not be read"
}

// result puts what was found in order and cuts it to the limit and to the bytes
// of a page.
func (h *hunt) result() Matches {
	slices.SortFunc(h.matches, func(a, b Match) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return a.Line - b.Line
	})
	slices.SortFunc(h.skips, func(a, b Unsearched) int { return strings.Compare(a.Path, b.Path) })
	m := Matches{Matches: []Match{}, Skipped: []Unsearched{}}
	size := 0
	for _, s := range h.skips[:min(len(h.skips), maxSkipped)] {
		size += jsonSize(s.Path) + jsonSize(s.Reason) + 30
		m.Skipped = append(m.Skipped, s)
	}
	m.SkippedMore = len(h.skips) - len(m.Skipped)
	for _, f := range h.matches {
		size += jsonSize(f.Path) + jsonSize(f.Text) + 40
		if len(m.Matches) == h.query.Limit || len(m.Matches) > 0 && size > pageBytes {
			m.Truncated = true
			break
		}
		m.Matches = append(m.Matches, f)
	}
	return m
}
