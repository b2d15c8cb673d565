package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"handrail/internal/task"
)

var searchSentences = []sentence{
	{"a search takes ASCII letters in either case and everything else exactly", func(t *testing.T, s Store) {
		titles := []string{"Straße 100%", "STRASSE 100 %", "under_score", "underXscore", `back\slash`, "back/slash", "İstanbul", "istanbul",
			"ıstanbul", "café", "CAFÉ", "cafe\u0301", "\u212Aelvin", "kelvin", `say "hello" AND NOT bye*`, "日本語のタイトル", "emoji 🎉🎊 party", "a\nb\tc"}
		for _, title := range titles {
			add(t, s, "ann", title, "")
		}
		for _, q := range []string{"straße", "STRASSE", "100%", "%", "_", "under_", `\`, `back\`, "istanbul", "İstanbul", "ISTANBUL", "ı", "café", "CAFÉ", "cafe", "\u0301",
			"kelvin", "\u212A", `"hello"`, "AND", "not BYE*", "*", "本語", "本語の", "🎉", "🎉🎊", "🎉🎊 ", "\nb\t", "zzz", " ", "  ", "NEAR(a b)", "title:a", "^a", "a OR b"} {
			var want []int64
			for i, title := range titles {
				if Contains(title, q) {
					want = append(want, int64(i+1))
				}
			}
			found, _, err := s.SearchTasks(t.Context(), "ann", query(t, q), task.Page{Limit: 100})
			if err != nil || !slices.Equal(ids(found), want) {
				t.Errorf("%q finds %v (%v), want %v", q, ids(found), err, want)
			}
		}
	}},
	{"a search agrees with its definition on hostile titles and queries", func(t *testing.T, s Store) {
		r := rand.New(rand.NewPCG(7, 11))
		titles := map[int64]string{}
		for range 300 {
			added := add(t, s, "ann", HostileText(r, 12)+"x", "")
			titles[added.ID] = added.Title
		}
		for range 400 {
			q := HostileText(r, 5)
			if r.IntN(2) == 0 {
				q = Part(r, titles[r.Int64N(300)+1])
			}
			var want []int64
			for id := int64(1); id <= 300; id++ {
				if Contains(titles[id], q) {
					want = append(want, id)
				}
			}
			found, more, err := s.SearchTasks(t.Context(), "ann", query(t, q), task.Page{Limit: 200})
			if err != nil || !slices.Equal(ids(found), want[:min(len(want), 200)]) || more != (len(want) > 200) {
				t.Errorf("%q finds %v (more %v, %v), want %v", q, ids(found), more, err, want)
			}
		}
	}},
	{"a result of a search is the whole task", func(t *testing.T, s Store) {
		want := add(t, s, "ann", "needle in hay", "2026-01-02", "x", "y")
		found, more, err := s.SearchTasks(t.Context(), "ann", query(t, "NEEDLE"), task.Page{Limit: 1})
		if err != nil || more || len(found) != 1 || fmt.Sprint(found[0]) != fmt.Sprint(want) {
			t.Errorf("found %+v, more %v, %v; want %+v", found, more, err, want)
		}
	}},
}

// Contains is what a search means: ASCII letters match in either case, every
// other character only itself.
func Contains(title, query string) bool {
	return strings.Contains(lowerASCII(title), lowerASCII(query))
}

func lowerASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hostile are characters that search engines trip over: specials of query
// languages and of case folding, marks, spaces, ends of ranges.
var hostile = []string{
	"a", "A", "b", "B", "k", "K", "s", "S", "i", "I", "a", "b", "s", "i",
	"\u0130", "\u0131", "\u017F", "\u212A", "\u212B", "\u00DF", "\u1E9E", "\u03C3", "\u03C2", "\u03A3", "\u00E9", "\u00C9", "e\u0301", "\u0307", "\u01C5",
	"%", "_", `\`, `"`, "'", "*", "^", "(", ")", "-", "+", ":", ";", ",", "?", "[", "]", "{", "}", "|", "&", "$", "#", "`",
	" AND ", " OR ", " NOT ", "NEAR(", " ", "  ", "\t", "\n", "\r\n", "\u00A0", "\u200B", "\u2028", "\uFEFF", "\u0001", "\u007F",
	"\U0001F389", "\U0001F468\u200D\U0001F469", "\uFFFD", "\uFFFE", "\uFFFF", "\uD7FF", "\uE000", "\U00010400", "\U00010428", "\U0010FFFF", "\u65E5", "\u672C",
}

// HostileText is a text of 1 to most pieces of hostile characters.
func HostileText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(hostile[r.IntN(len(hostile))])
	}
	return b.String()
}

// Part is a random run of a text's characters, some in the other case.
func Part(r *rand.Rand, text string) string {
	runes := []rune(text)
	from := r.IntN(len(runes))
	part := runes[from : from+1+r.IntN(len(runes)-from)]
	for i, c := range part {
		if r.IntN(4) == 0 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			part[i] = c ^ 0x20
		}
	}
	return string(part)
}
