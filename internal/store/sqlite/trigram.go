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
// chosen that exclude the most, by a look at a sample of titles. The choice
// decides how fast the answer is, never what it is: every title that the index
// names is compared.
const (
	maxTrigrams = 4
	sampleSize  = 128
	// compareCost is what comparing a title costs, in steps along a list.
	compareCost = 10
)

const sampleTitles query = `SELECT title FROM tasks NOT INDEXED
  WHERE row > ?2 AND row <= ?3 AND user_id = ?1 ORDER BY row LIMIT ?4`

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

// sample says in which of the sampled titles something stands.
type sample [sampleSize / 64]uint64

func (s *sample) set(i int) { s[i/64] |= 1 << (i % 64) }

func (s sample) and(o sample) sample {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

func (s sample) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// indexQuery asks the index for the titles that have a few of the trigrams.
// Words of the query language are quoted, and so mean nothing.
func indexQuery(ctx context.Context, c *conn, user string, from, until int64, grams []string) (string, error) {
	chosen := grams
	if len(grams) > 1 {
		where, err := sampled(ctx, c, user, from, until, grams)
		if err != nil {
			return "", err
		}
		chosen = choose(grams, where)
	}
	var b strings.Builder
	for i, g := range chosen {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + strings.ReplaceAll(g, `"`, `""`) + `"`)
	}
	return b.String(), nil
}

// sampled says for each trigram which titles of the sample have it.
func sampled(ctx context.Context, c *conn, user string, from, until int64, grams []string) ([]sample, error) {
	place := make(map[string]int, len(grams))
	for i, g := range grams {
		place[g] = i
	}
	where := make([]sample, len(grams))
	rows, err := c.rows(ctx, sampleTitles, user, from, until, sampleSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		var title string
		if err := rows.Scan(&title); err != nil {
			return nil, err
		}
		title = lower(title)
		for i, end, width := 0, 0, 0; end < len(title); i += width {
			// title[i:end] is the next three characters.
			_, width = utf8.DecodeRuneInString(title[i:])
			end = i + width
			for range 2 {
				_, w := utf8.DecodeRuneInString(title[end:])
				end += w
			}
			if g, ok := place[title[i:end]]; ok {
				where[g].set(n)
			}
		}
	}
	return where, rows.Err()
}

// choose takes the rarest trigram and adds those whose lists are shorter than
// the comparisons they save.
func choose(grams []string, where []sample) []string {
	var all sample
	for i := range all {
		all[i] = ^uint64(0)
	}
	taken := make([]bool, len(grams))
	var chosen []string
	for len(chosen) < maxTrigrams {
		best, left := -1, 0
		for i := range grams {
			if taken[i] {
				continue
			}
			n := all.and(where[i]).count()
			if best < 0 || n < left || (n == left && where[i].count() < where[best].count()) {
				best, left = i, n
			}
		}
		if best < 0 {
			break
		}
		before, length := all.count(), where[best].count()
		// Where the sample has next to none, lists are short, and one more may help.
		if rare := before <= 1 && length <= 1; len(chosen) > 0 && !rare && (before-left)*compareCost <= length {
			break
		}
		taken[best], all = true, all.and(where[best])
		chosen = append(chosen, grams[best])
	}
	return chosen
}
