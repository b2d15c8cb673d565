package note_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func search(t testing.TB, v *note.Vault, query string) note.Matches {
	t.Helper()
	m, err := v.Search(ctx, note.SearchQuery{Query: query})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSearchFindsLinesInAnyCaseOfAnyScript(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.md", "Straße\r\nÄPFEL und äpfel\n\nПривет мир\nΣίσυφος ΣΊΣΥΦΟΣ\n300 \u212A\n\u017Fo\n日本語\nİstanbul\nlast")
	v := openVault(t, root, note.Limits{})
	for _, c := range []struct {
		query string
		lines []int
	}{
		{"straße", []int{1}}, {"STRA\u1e9eE", []int{1}}, {"Äpfel", []int{2}}, {"äPFEL UND", []int{2}}, {"ПРИВЕТ", []int{4}},
		{"σίσυφοσ", []int{5}}, {"σίσυφος", []int{5}}, {"k", []int{6}}, {"300 k", []int{6}}, {"\u212a", []int{6}}, {"so", []int{7}}, {"SO", []int{7}},
		{"本語", []int{8}}, {"istanbul", nil}, {"İSTANBUL", []int{9}}, {"LAST", []int{10}}, {"t", []int{1, 9, 10}}, {"strasse", nil},
		{"*", nil}, {".", nil}, {" ", []int{2, 4, 5, 6}}, {"äpfel\u0000"[:len("äpfel")], []int{2}},
	} {
		var lines []int
		for _, m := range search(t, v, c.query).Matches {
			lines = append(lines, m.Line)
		}
		if diff := cmp.Diff(c.lines, lines); diff != "" {
			t.Errorf("%q:\n%s", c.query, diff)
		}
	}
	if m := search(t, v, "straße"); m.Matches[0] != (note.Match{Path: "a.md", Line: 1, Text: "Straße"}) {
		t.Errorf("%+v", m)
	}
}

func TestSearchIsOrderedLimitedAndChecked(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		put(t, root, fmt.Sprintf("f%d/%03d.md", i%7, i), "x needle\nneedle needle\n")
	}
	v := openVault(t, root, note.Limits{MaxSearchResults: 30})
	all := func(q note.SearchQuery) note.Matches {
		m, err := v.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for range 20 {
		m := all(note.SearchQuery{Query: "NEEDLE"})
		if len(m.Matches) != 30 || !m.Truncated {
			t.Fatalf("%d matches", len(m.Matches))
		}
		for i, match := range m.Matches {
			if want := fmt.Sprintf("f0/%03d.md", i/2*7); match.Path != want || match.Line != i%2+1 {
				t.Fatalf("match %d is %+v, want %s", i, match, want)
			}
		}
	}
	if m := all(note.SearchQuery{Query: "needle", Folder: "f3", Limit: 1}); len(m.Matches) != 1 || m.Matches[0].Path != "f3/003.md" || !m.Truncated {
		t.Errorf("%+v", m)
	}
	put(t, root, "one.md", "unique\n")
	if m := all(note.SearchQuery{Query: "unique", Limit: 1}); len(m.Matches) != 1 || m.Truncated || m.Skipped == nil {
		t.Errorf("%+v", m)
	}
	for _, q := range []note.SearchQuery{
		{}, {Query: strings.Repeat("x", 201)}, {Query: strings.Repeat("😀", 101)}, {Query: "a\nb"}, {Query: "a\rb"}, {Query: "a\x00"}, {Query: "\xff"},
		{Query: "a", Limit: 31}, {Query: "a", Limit: -1},
	} {
		_, err := v.Search(ctx, q)
		wantCode(t, err, fault.InvalidInput)
	}
	all(note.SearchQuery{Query: strings.Repeat("x", 200)})
	_, err := v.Search(ctx, note.SearchQuery{Query: "x", Folder: "nowhere"})
	wantCode(t, err, fault.NotFound)
	b, _ := json.Marshal(all(note.SearchQuery{Query: "nowhere"}))
	if string(b) != `{"matches":[],"truncated":false,"skipped":[]}` {
		t.Errorf("%s", b)
	}
}

func TestALongLineIsCutAroundItsMatch(t *testing.T) {
	root := t.TempDir()
	v := openVault(t, root, note.Limits{})
	for _, c := range []struct{ before, after int }{{0, 2000}, {2000, 0}, {1000, 1000}, {10, 600}, {600, 10}, {247, 247}, {248, 247}} {
		for _, char := range []string{"x", "é", "😀"} {
			line := strings.Repeat(char, c.before) + "needle" + strings.Repeat(char, c.after)
			put(t, root, "a.md", "first\n"+line+"\nlast")
			m := search(t, v, "NEEDLE")
			text := m.Matches[0].Text
			units, whole := len(utf16.Encode([]rune(text))), len(utf16.Encode([]rune(line)))
			if !strings.Contains(line, text) || !strings.Contains(text, "needle") || units > 500 || units < min(499, whole) || m.Matches[0].Cut != (whole > 500) {
				t.Errorf("%+v %q: %d of %d units, cut %t", c, char, units, whole, m.Matches[0].Cut)
			}
		}
	}
}

func TestNotesThatCannotBeSearchedAreNamedWithTheReason(t *testing.T) {
	root := t.TempDir()
	put(t, root, "big.md", strings.Repeat("needle\n", 20))
	put(t, root, "wide.md", "\xff\xfen\x00")
	put(t, root, "nul.md", "needle")
	put(t, root, "ok.md", "needle")
	put(t, root, "latin.md", "caf\xe9 needle")
	put(t, root, ".hidden.md", "needle")
	v := openVault(t, root, note.Limits{MaxReadBytes: 50})
	m := search(t, v, "needle")
	want := note.Matches{
		Matches: []note.Match{{Path: "latin.md", Line: 1, Text: "caf\uFFFD needle"}, {Path: "ok.md", Line: 1, Text: "needle"}},
		Skipped: []note.Unsearched{
			{Path: "big.md", Reason: "it is larger than --max-read-bytes"},
			{Path: "nul.md", Reason: "its path must not have the name of a Windows device"},
			{Path: "wide.md", Reason: "it is UTF-16 text; save it as UTF-8"},
		},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	for i := range 60 {
		put(t, root, fmt.Sprintf("more/%d.md", i), strings.Repeat("x", 51))
	}
	if m = search(t, v, "needle"); len(m.Skipped) != 50 || m.SkippedMore != 13 {
		t.Errorf("%d and %d more", len(m.Skipped), m.SkippedMore)
	}
}

// TestSearchAlwaysTellsWhatTheFilesAreNow changes files in every way behind an
// index that knows them all.
func TestSearchAlwaysTellsWhatTheFilesAreNow(t *testing.T) {
	root := t.TempDir()
	for i := range 400 {
		put(t, root, fmt.Sprintf("f%d/%03d.md", i%5, i), fmt.Sprintf("note number %d\n", i))
	}
	v := openVault(t, root, note.Limits{})
	if got := search(t, v, "changed"); len(got.Matches) != 0 {
		t.Fatal(got)
	}
	v.Settle()
	if v.IndexBytes() == 0 {
		t.Fatal("nothing was remembered")
	}
	at := func(name string) string { return filepath.Join(root, name) }
	found := func(want ...string) {
		t.Helper()
		var got []string
		for _, m := range search(t, v, "changed").Matches {
			got = append(got, m.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	found()
	put(t, root, "f1/001.md", "changed\n")
	found("f1/001.md")
	info, _ := os.Stat(at("f2/002.md"))
	put(t, root, "f2/002.md", "changed here.\n"[:info.Size()]) // as long as before
	os.Chtimes(at("f2/002.md"), info.ModTime(), info.ModTime())
	found("f1/001.md", "f2/002.md")
	os.Rename(at("f1/001.md"), at("f3/003.md"))
	found("f2/002.md", "f3/003.md")
	os.Rename(at("f3"), at("g3"))
	found("f2/002.md", "g3/003.md")
	os.Remove(at("f2/002.md"))
	found("g3/003.md")
	if _, err := v.Append(ctx, "f4/004.md", "changed by us"); err != nil {
		t.Fatal(err)
	}
	found("f4/004.md", "g3/003.md")
	f, _ := os.OpenFile(at("f4/009.md"), os.O_WRONLY, 0)
	f.WriteAt([]byte("CHANGED"), 2)
	f.Close()
	found("f4/004.md", "f4/009.md", "g3/003.md")
	put(t, root, "new/a.md", "changed\n")
	found("f4/004.md", "f4/009.md", "g3/003.md", "new/a.md")
}

// TestASearchWithASieveFindsWhatAFoldingRegexpFinds compares with another way
// of matching on random text, before and after the index is there.
func TestASearchWithASieveFindsWhatAFoldingRegexpFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []rune("aAbBkKsSeE \u212A\u017FéÉßẞσΣςЖж日İıÿŸ.")
	text := func(n int) string {
		out := make([]rune, n)
		for i := range out {
			out[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(out)
	}
	root := t.TempDir()
	notes := map[string]string{}
	for i := range 250 {
		name := fmt.Sprintf("%03d.md", i)
		notes[name] = text(1 + rng.IntN(60))
		if i%10 == 0 {
			notes[name] += "\xe9\xc3" + text(10)
		}
		put(t, root, name, notes[name])
	}
	v := openVault(t, root, note.Limits{MaxSearchResults: 1000})
	for i := range 400 {
		if i == 50 {
			v.Settle()
		}
		query := text(1 + rng.IntN(5))
		pattern := regexp.MustCompile("(?i)" + regexp.QuoteMeta(query))
		var want, got []string
		for name, text := range notes {
			if pattern.MatchString(text) {
				want = append(want, name)
			}
		}
		for _, m := range search(t, v, query).Matches {
			got = append(got, m.Path)
		}
		if len(want) != len(got) {
			t.Fatalf("%q: %d notes, want %d", query, len(got), len(want))
		}
	}
}
