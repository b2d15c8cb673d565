package taskfile

import (
	"unicode/utf8"
)

// cleaner makes what a program prints fit to be shown: valid UTF-8, no escape
// sequences, no control characters but tab and line feed. Carriage returns, with
// which programs paint over a line, become line feeds. It works on any cutting of
// the stream.
type cleaner struct {
	state   cleanState
	cr      bool   // a carriage return is pending
	partial []byte // the beginning of a character
}

type cleanState int

const (
	inText cleanState = iota
	inEscape
	inControl // CSI: parameters, then a letter
	inString  // OSC and its like: up to BEL or ST
	inStringEscape
)

// clean appends what is left of src to dst.
func (c *cleaner) clean(dst, src []byte) []byte {
	if len(c.partial) > 0 {
		src = append(c.partial, src...)
		c.partial = nil
	}
	for len(src) > 0 {
		if c.state == inText {
			if n := plain(src); n > 0 {
				dst = c.endLine(dst)
				dst = append(dst, src[:n]...)
				src = src[n:]
				continue
			}
		}
		r, size := utf8.DecodeRune(src)
		if r == utf8.RuneError && size == 1 && !utf8.FullRune(src) {
			c.partial = append([]byte(nil), src...)
			return dst
		}
		src = src[size:]
		dst = c.rune(dst, r)
	}
	return dst
}

// end appends what a stream that ended in the middle of something is worth.
func (c *cleaner) end(dst []byte) []byte {
	dst = c.endLine(dst)
	if len(c.partial) > 0 {
		dst = append(dst, "\uFFFD"...)
	}
	c.partial = nil
	return dst
}

func (c *cleaner) endLine(dst []byte) []byte {
	if c.cr {
		c.cr = false
		dst = append(dst, '\n')
	}
	return dst
}

// plain is how many bytes at the start need no thought.
func plain(src []byte) int {
	for i, b := range src {
		if b < ' ' && b != '\n' && b != '\t' || b >= 0x7f || b == '\n' && i == 0 {
			return i
		}
	}
	return len(src)
}

func (c *cleaner) rune(dst []byte, r rune) []byte {
	switch c.state {
	case inEscape:
		switch {
		case r == '[':
			c.state = inControl
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			c.state = inString
		case r >= ' ' && r <= '/': // intermediate: the next one ends it
		default:
			c.state = inText
			if r < ' ' {
				return c.text(dst, r)
			}
		}
		return dst
	case inControl:
		if r >= ' ' && r <= '?' {
			return dst
		}
		c.state = inText
		if r < '@' || r > '~' {
			return c.text(dst, r) // it was cut off
		}
		return dst
	case inString:
		switch r {
		case '\a', '\u009c':
			c.state = inText
		case '\x1b':
			c.state = inStringEscape
		case '\n':
			c.state = inText // never closed: do not swallow the rest
			return c.text(dst, r)
		}
		return dst
	case inStringEscape:
		if r == '\\' {
			c.state = inText
			return dst
		}
		c.state = inEscape
		return c.rune(dst, r)
	}
	return c.text(dst, r)
}

func (c *cleaner) text(dst []byte, r rune) []byte {
	switch {
	case r == '\n':
		c.cr = false
		return append(dst, '\n')
	case r == '\r':
		dst = c.endLine(dst)
		c.cr = true
		return dst
	case r == '\x1b':
		c.state = inEscape
		return dst
	case r == '\u009b':
		c.state = inControl
		return dst
	case r == '\u0090' || r == '\u0098' || r >= '\u009d' && r <= '\u009f':
		c.state = inString
		return dst
	case r == '\t':
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return dst
	}
	return utf8.AppendRune(c.endLine(dst), r)
}

// CleanText is one string made fit to be shown, as the output of tasks is.
func CleanText(text string) string {
	var c cleaner
	return string(c.end(c.clean(nil, []byte(text))))
}
