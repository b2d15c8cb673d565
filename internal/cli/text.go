package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// hidden reports whether a terminal would act on r instead of showing it, or
// show nothing: control characters, and those that turn the direction of text
// or join what looks separate. What strangers wrote (arguments, titles) is never
// printed with one of these in it.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
}

// visible is text with every hidden character written as its escape, such as
// \u001b.
func visible(s string) string {
	if !utf8.ValidString(s) || strings.IndexFunc(s, hidden) >= 0 {
		var b strings.Builder
		for i, r := range s {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
				fmt.Fprintf(&b, `\x%02x`, s[i])
			case hidden(r):
				writeEscape(&b, r)
			default:
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	return s
}

// visibleLines is visible for text of several lines.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}

// visibleOutput is what a program printed: as visibleLines, and tabs, which only
// move the cursor on, stay.
func visibleOutput(s string) string {
	parts := strings.Split(s, "\t")
	for i := range parts {
		parts[i] = visibleLines(parts[i])
	}
	return strings.Join(parts, "\t")
}

// visibleJSON is the same JSON with every hidden character escaped.
func visibleJSON(b []byte) string {
	s := string(b)
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if hidden(r) {
			writeEscape(&out, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func writeEscape(b *strings.Builder, r rune) {
	if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
		fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// clip cuts visible text at n characters and says so with an ellipsis.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// table writes rows in columns as wide as their widest cell; the last column
// is not padded.
func table(w io.Writer, before string, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		b.WriteString(before)
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// paint puts colours around text, or leaves it as it is.
type paint bool

// newPaint colours only for a person: on a terminal, and unless NO_COLOR says
// otherwise (no-color.org).
func newPaint(env Env) paint {
	out := env.Out
	if p, ok := out.(*printed); ok {
		out = p.to
	}
	f, ok := out.(*os.File)
	if !ok || env.Getenv("NO_COLOR") != "" || env.Getenv("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" && env.Getenv("WT_SESSION") == "" {
		return false // the old console shows the codes
	}
	info, err := f.Stat()
	return paint(err == nil && info.Mode()&os.ModeCharDevice != 0)
}

func (p paint) code(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) strong(s string) string { return p.code("1", s) }
func (p paint) faint(s string) string  { return p.code("2", s) }
func (p paint) good(s string) string   { return p.code("32", s) }
func (p paint) bad(s string) string    { return p.code("31", s) }
