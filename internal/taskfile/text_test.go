package taskfile_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"handrail/internal/taskfile"
)

func TestWhatIsShownIsPlainText(t *testing.T) {
	for raw, want := range map[string]string{
		"plain\ttext\n":                            "plain\ttext\n",
		"\x1b[31mred\x1b[0m":                       "red",
		"\x1b[1;38;2;10;20;30mrgb\x1b[m":           "rgb",
		"\x1b]0;title\adone":                       "done",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bPq#0\x1b\\sixel":                      "sixel",
		"\x1b]never closed\nnext":                  "\nnext",
		"\x1b(Bcharset":                            "charset",
		"\x1b7saved\x1b8":                          "saved",
		"\u009b31mC1\u009b0m":                      "C1",
		"10%\r50%\r100%\n":                         "10%\n50%\n100%\n",
		"crlf\r\nline\r\n":                         "crlf\nline\n",
		"a\x00b\x07c\x08d\x7fe":                    "abcde",
		"\xff\xfe":                                 "\uFFFD\uFFFD",
		"caf\xc3":                                  "caf\uFFFD",
		"日本語 🚀":                                    "日本語 🚀",
		"\x1b":                                     "",
		"\x1b[":                                    "",
		"\x1b[31":                                  "",
		"a\x1b[31\nb":                              "a\nb",
		"\x1b[\x1b[1mx":                            "x",
		"":                                         "",
		"\r":                                       "\n",
		"a\r":                                      "a\n",
		"\u202eright to left\u202c":                "\u202eright to left\u202c",
	} {
		if got := taskfile.CleanText(raw); got != want {
			t.Errorf("%q is shown as %q, want %q", raw, got, want)
		}
	}
}

// FuzzClean checks what must be true of any stream, however it is cut.
func FuzzClean(f *testing.F) {
	for _, raw := range []string{"\x1b[31mred\x1b[0m", "日本語\r\n", "\x1b]0;x\a", "a\xffb\xc3", "\x1b\x1b[\r\r\n"} {
		f.Add(raw, uint8(3))
	}
	f.Fuzz(func(t *testing.T, raw string, step uint8) {
		want := taskfile.CleanText(raw)
		var c taskfile.Cleaner
		var b strings.Builder
		for n, rest := int(step%7)+1, raw; rest != ""; rest = rest[min(n, len(rest)):] {
			b.WriteString(c.Clean(rest[:min(n, len(rest))]))
		}
		b.WriteString(c.End())
		got := b.String()
		if got != want {
			t.Errorf("in pieces of %d %q is %q, at once %q", step%7+1, raw, got, want)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("%q is %q", raw, got)
		}
	})
}

func TestLongTextKeepsItsEnds(t *testing.T) {
	lines := strings.Repeat("0123456789\n", 1000)
	for _, c := range []struct {
		budget, limit int
		pieces        []string
		cut           bool
	}{
		{100, 100, []string{"short"}, false},
		{100, 100, []string{strings.Repeat("x", 100)}, false},
		{100, 100, []string{strings.Repeat("x", 101)}, true},
		{1000, 1000, []string{"head\n", lines, "tail\n"}, true},
		{1000, 200, []string{"head\n", lines, "tail\n"}, true},
		{1000, 61, []string{"head\n", lines, "tail\n"}, true},
		{1000, 10, []string{"head\n", lines, "tail\n"}, true},
		{1000, 0, []string{"x"}, true},
		{1000, 0, nil, false},
		{1000, 1000, []string{strings.Repeat("漢", 5000)}, true},
		{1000, 999, []string{strings.Repeat("漢", 5000)}, true},
		{1000, 998, []string{strings.Repeat("漢", 5000)}, true},
	} {
		text, cut := taskfile.Keep(c.budget, c.limit, c.pieces...)
		if cut != c.cut || len(text) > c.limit || !utf8.ValidString(text) {
			t.Errorf("%d, %d: cut %v, %d bytes, valid %v", c.budget, c.limit, cut, len(text), utf8.ValidString(text))
		}
		if !cut && text != strings.Join(c.pieces, "") {
			t.Errorf("%q was altered", text)
		}
		if c.cut && c.limit > 150 && len(c.pieces) == 3 && (!strings.HasPrefix(text, "head\n") || !strings.HasSuffix(text, "tail\n") || !strings.Contains(text, "bytes left out")) {
			t.Errorf("%d: %q", c.limit, text)
		}
	}
	// However it is cut into pieces, the same is kept.
	whole, _ := taskfile.Keep(500, 500, lines)
	for _, n := range []int{1, 7, 499, 500, 501, 1003} {
		var pieces []string
		for rest := lines; rest != ""; rest = rest[min(n, len(rest)):] {
			pieces = append(pieces, rest[:min(n, len(rest))])
		}
		if got, _ := taskfile.Keep(500, 500, pieces...); got != whole {
			t.Errorf("in pieces of %d: %q, at once %q", n, got, whole)
		}
	}
}
