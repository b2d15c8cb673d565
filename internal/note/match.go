package note

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle finds a text in any case, by simple Unicode folding, without folding
// the text that it looks through: it looks for the rarest character of the
// query in each of its cases with the machine's fastest means, and compares
// around what it finds.
type needle struct {
	runes  []rune // folded
	anchor int    // index in runes of the character that is looked for
	cases  [][]byte
	folded string
}

func newNeedle(query string) *needle {
	n := &needle{folded: foldString(query)}
	n.runes = []rune(n.folded)
	best := 1 << 30
	for i, r := range n.runes {
		if c := commonness(r); c < best {
			best, n.anchor = c, i
		}
	}
	for _, r := range orbit(n.runes[n.anchor]) {
		n.cases = append(n.cases, []byte(string(r)))
	}
	return n
}

// orbit returns every character that simple folding makes equal to r.
func orbit(r rune) []rune {
	all := []rune{r}
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		all = append(all, next)
	}
	return all
}

// commonness ranks characters by how often looking for them would stop: an
// order of English letters, other characters by the length of their search.
func commonness(r rune) int {
	const rare = "zqxjvbpywgfmcudlhrknosia te" // k and s have a third case each
	switch i := strings.IndexRune(rare, r); {
	case i >= 0:
		return 20 + i
	case r < utf8.RuneSelf:
		return 10
	}
	return 15
}

// places is where each case of the anchor stands next in one text; the zero value
// has looked for none.
type places struct {
	at     [4]int // no orbit of simple folding has more members
	looked [4]bool
}

// find returns where the query stands in text at or behind from, and its end
// there, or -1. seen remembers between calls on the same text, with rising from.
func (n *needle) find(text []byte, from int, seen *places) (start, end int) {
	for at := from; ; {
		next, which := -1, 0
		for i, c := range n.cases {
			if !seen.looked[i] || seen.at[i] >= 0 && seen.at[i] < at {
				seen.looked[i] = true
				if seen.at[i] = indexOf(text[at:], c); seen.at[i] >= 0 {
					seen.at[i] += at
				}
			}
			if p := seen.at[i]; p >= 0 && (next < 0 || p < next) {
				next, which = p, i
			}
		}
		if next < 0 {
			return -1, -1
		}
		start, end, ok := n.around(text, next, next+len(n.cases[which]))
		if ok && start >= from {
			return start, end
		}
		at = next + 1
	}
}

func indexOf(text, c []byte) int {
	if len(c) == 1 {
		return bytes.IndexByte(text, c[0])
	}
	return bytes.Index(text, c)
}

// around compares what stands before start and behind end, where the anchor is.
func (n *needle) around(text []byte, start, end int) (int, int, bool) {
	for i := n.anchor + 1; i < len(n.runes); i++ {
		r, size := decode(text[end:])
		if r != n.runes[i] {
			return 0, 0, false
		}
		end += size
	}
	for i := n.anchor - 1; i >= 0; i-- {
		r, size := decodeLast(text[:start])
		if r != n.runes[i] {
			return 0, 0, false
		}
		start -= size
	}
	return start, end, true
}

// decode returns the first character of text, folded, or -1 where there is none
// or a byte that is no UTF-8.
func decode(text []byte) (rune, int) {
	if len(text) == 0 {
		return -1, 0
	}
	if b := text[0]; b < utf8.RuneSelf {
		return foldRune(rune(b)), 1
	}
	r, size := utf8.DecodeRune(text)
	if size == 1 {
		return -1, 1
	}
	return foldRune(r), size
}

func decodeLast(text []byte) (rune, int) {
	if len(text) == 0 {
		return -1, 0
	}
	if b := text[len(text)-1]; b < utf8.RuneSelf {
		return foldRune(rune(b)), 1
	}
	r, size := utf8.DecodeLastRune(text)
	if size == 1 {
		return -1, 1
	}
	return foldRune(r), size
}
