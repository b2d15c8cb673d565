package sqlite

import (
	"context"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// The index knows which titles contain a sequence of three characters. A long
// query has many such sequences; asking for all of them walks a list for each,
// and a list of a sequence that every other title has is long. So a few are
// chosen that exclude the most, by a taste of the list. The choice decides how
// fast the answer is, never what it is: every title that the index names is
// compared.
const (
	maxTrigrams = 4
	tasteSize   = 128
	// Costs, in steps along one of the index's lists (some 0.2 µs).
	readCost    = 2.5 // of reading a title and comparing it, one after another
	compareCost = 10  // of fetching one that the index named, and comparing it
	askCost     = 400 // of finding the list of a trigram
)

// The titles come in one value: a row for each would cost more than reading it.
const tasteTitles query = `SELECT coalesce(group_concat(title, char(10)), '') FROM (
  SELECT title FROM tasks NOT INDEXED WHERE row > ?2 AND row <= ?3 AND user_id = ?1 ORDER BY row LIMIT ?4)`

// trigrams lists the different sequences of three characters in text. There are
// none where the index cannot be asked: a shorter text, or one that is not
// valid Unicode.
func trigrams(text string) []string {
	if !utf8.ValidString(text) {
		return nil
	}
	runes := []rune(text)
	seen := map[string]bool{}
	var all []string
	for i := 0; i+3 <= len(runes); i++ {
		if g := string(runes[i : i+3]); !seen[g] {
			seen[g] = true
			all = append(all, g)
		}
	}
	return all
}

// ask is the question to the index for the titles that have all the trigrams.
// Words of the query language are quoted, and so mean nothing.
func ask(grams []string) string {
	var b strings.Builder
	for i, g := range grams {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + strings.ReplaceAll(g, `"`, `""`) + `"`)
	}
	return b.String()
}

// taste is the first titles of a list, lowered. What it says of the rest is a
// guess.
type taste []string

func tasted(ctx context.Context, c *conn, user string, from, last int64) (taste, error) {
	var titles string
	if err := c.get(ctx, tasteTitles, []any{user, from, last, tasteSize}, &titles); err != nil {
		return nil, err
	}
	// A title may have lines of its own; then there are more of them.
	t := taste(strings.Split(lower(titles), "\n"))
	return t[:min(len(t), tasteSize)], nil
}

// share guesses which part of the titles contains text; never none.
func (t taste) share(text string) float64 {
	n := 0
	for _, title := range t {
		if strings.Contains(title, text) {
			n++
		}
	}
	return t.part(n)
}

func (t taste) part(n int) float64 { return (float64(n) + 0.5) / float64(len(t)+1) }

// front is how many rows at the front are to be read for a page, or 0 where the
// index finds it faster.
func (t taste) front(needle string, limit int) int64 {
	rows := float64(limit) / t.share(needle)
	if rows*readCost > askCost+float64(limit)*compareCost {
		return 0
	}
	return int64(rows * 1.5)
}

// reach is how many of the rows are gone through until a page is full.
func (t taste) reach(needle string, limit int, rows int64) float64 {
	all := float64(rows)
	share := t.share(needle)
	if share < t.part(1) {
		return all // a text that no title of the taste has may be rarer still
	}
	return min(all, float64(limit)/share)
}

// choose takes the rarest trigram, and adds those that cost less than the
// comparisons they save, among so many rows.
func (t taste) choose(grams []string, rows float64) []string {
	where := t.places(grams)
	all := marks{^uint64(0), ^uint64(0)}
	left := rows // how many titles the trigrams that are chosen let through
	taken := make([]bool, len(grams))
	var chosen []string
	for len(chosen) < min(maxTrigrams, len(grams)) {
		best := -1
		for i := range grams {
			if !taken[i] && (best < 0 || all.and(where[i]).less(all.and(where[best]), where[i], where[best])) {
				best = i
			}
		}
		both := all.and(where[best])
		after := min(rows*t.part(both.count()), left)
		if both.count() == 0 { // then as if they stood independently
			after = left * t.part(where[best].count())
		}
		if len(chosen) > 0 && (left-after)*compareCost <= askCost+rows*t.part(where[best].count()) {
			break
		}
		taken[best], all, left = true, both, after
		chosen = append(chosen, grams[best])
	}
	return chosen
}

// marks says in which titles of a taste something stands.
type marks [tasteSize / 64]uint64

func (m *marks) set(i int) { m[i/64] |= 1 << (i % 64) }

func (m marks) and(o marks) marks {
	for i := range m {
		m[i] &= o[i]
	}
	return m
}

func (m marks) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// less compares what two trigrams leave over, and then how often each stands.
func (m marks) less(o, mine, other marks) bool {
	if a, b := m.count(), o.count(); a != b {
		return a < b
	}
	return mine.count() < other.count()
}

// places says for each trigram which titles have it.
func (t taste) places(grams []string) []marks {
	index := make(map[string]int, len(grams))
	var begins [256]bool // a hash of the first three bytes of a trigram
	for i, g := range grams {
		index[g] = i
		begins[hash3(g)] = true
	}
	where := make([]marks, len(grams))
	for n, title := range t {
		for i := 0; i+3 <= len(title); i++ {
			if !begins[hash3(title[i:])] {
				continue
			}
			// The three characters from here, if one begins here.
			end := i
			for range 3 {
				_, width := utf8.DecodeRuneInString(title[end:])
				end += width
			}
			if g, ok := index[title[i:end]]; ok {
				where[g].set(n)
			}
		}
	}
	return where
}

func hash3(s string) byte { return s[0] ^ s[1]<<1 ^ s[2]<<3 ^ s[2]>>5 }
