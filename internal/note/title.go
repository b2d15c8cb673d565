package note

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of looking for a title: bytes of the note, characters of the title.
const (
	titleBytes = 64 << 10
	titleRunes = 200
)

// titleOf returns the title of the note name whose text begins with head: its
// first level-1 heading, else its front matter's title, else its name.
func titleOf(name string, head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	front, body := splitFrontMatter(head)
	title := heading(body)
	if title == "" {
		title = frontTitle(front)
	}
	if title == "" || !utf8.ValidString(title) {
		title = name[:len(name)-len(".md")]
	}
	if utf8.RuneCountInString(title) > titleRunes {
		title = string([]rune(title)[:titleRunes-1]) + "…"
	}
	return title
}

// splitFrontMatter cuts a YAML front matter off: what lies between a first line
// "---" and the next line "---" or "...". Without an end there is none.
func splitFrontMatter(text []byte) (front, body []byte) {
	first, rest := cutLine(text)
	if string(bytes.TrimRight(first, " \t")) != "---" {
		return nil, text
	}
	for at := rest; len(at) > 0; {
		line, next := cutLine(at)
		if end := string(bytes.TrimRight(line, " \t")); end == "---" || end == "..." {
			return rest[:len(rest)-len(at)], next
		}
		at = next
	}
	return nil, text
}

// cutLine returns the first line of text without its ending, and what follows.
func cutLine(text []byte) (line, rest []byte) {
	i := bytes.IndexByte(text, '\n')
	if i < 0 {
		return bytes.TrimSuffix(text, []byte("\r")), nil
	}
	return bytes.TrimSuffix(text[:i], []byte("\r")), text[i+1:]
}

// heading finds the first level-1 heading, "# so" or underlined with "===",
// outside fenced and indented code (CommonMark 4.2, 4.3, 4.5).
func heading(text []byte) string {
	var fence, paragraph string
	for len(text) > 0 {
		var raw []byte
		raw, text = cutLine(text)
		line := strings.TrimLeft(string(raw), " ")
		indent := len(raw) - len(line)
		line = strings.TrimRight(line, " \t")
		switch {
		case fence != "":
			if indent < 4 && len(line) >= len(fence) && strings.Trim(line, fence[:1]) == "" {
				fence = ""
			}
			continue
		case indent >= 4 && paragraph == "", strings.HasPrefix(line, "\t"):
			continue
		case indent >= 4:
			continue
		}
		if fence = fenceOf(line); fence != "" {
			paragraph = ""
			continue
		}
		if title, ok := atxHeading(line); ok {
			if title != "" {
				return title
			}
			paragraph = ""
			continue
		}
		if paragraph != "" && line != "" && strings.Trim(line, "=") == "" {
			return paragraph
		}
		paragraph = paragraphText(line)
	}
	return ""
}

// paragraphText is line where it could be underlined to become a heading.
func paragraphText(line string) string {
	if line == "" || strings.ContainsAny(line[:1], "#>-*+|`") {
		return ""
	}
	return line
}

func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, mark))
		if n >= 3 && (mark == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// atxHeading returns the text of a line "# text #". ok is true for a level-1
// heading without text as well.
func atxHeading(line string) (title string, ok bool) {
	rest, ok := strings.CutPrefix(line, "#")
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	if closed := strings.TrimRight(rest, "#"); closed == "" || strings.HasSuffix(closed, " ") {
		rest = strings.TrimSpace(closed)
	}
	return rest, true
}

// frontTitle returns the value of the key title at the top of a front matter,
// where that is a plain or quoted scalar on one line.
func frontTitle(front []byte) string {
	for len(front) > 0 {
		var line []byte
		line, front = cutLine(front)
		value, ok := strings.CutPrefix(string(line), "title:")
		if !ok || value != "" && value[0] != ' ' && value[0] != '\t' {
			continue
		}
		return scalar(strings.TrimSpace(value))
	}
	return ""
}

func scalar(value string) string {
	switch {
	case value == "":
		return ""
	case value[0] == '\'':
		if end := strings.LastIndexByte(value, '\''); end > 0 {
			return strings.TrimSpace(strings.ReplaceAll(value[1:end], "''", "'"))
		}
		return ""
	case value[0] == '"':
		if end := strings.LastIndexByte(value, '"'); end > 0 {
			if s, err := strconv.Unquote(value[:end+1]); err == nil {
				return strings.TrimSpace(s)
			}
			return strings.TrimSpace(value[1:end])
		}
		return ""
	case strings.ContainsAny(value[:1], "|>[{&*!#"):
		return "" // a block, a collection or a reference: no title on one line
	}
	if i := strings.Index(value, " #"); i >= 0 {
		value = value[:i]
	}
	return strings.TrimSpace(value)
}
