package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest message on stdio, in bytes. A longer one is answered
// with an error and skipped; the session goes on.
const MaxLine = 4 << 20

// line is one line of input without its end, or the beginning of one that was
// longer than it may be.
type line struct {
	text    []byte
	tooLong bool
	err     error // the end of input; text may still hold a last line
}

// lineReader cuts input into lines of bounded length.
type lineReader struct {
	r     *bufio.Reader
	most  int
	first bool
}

func newLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), most: most, first: true}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// next is the next line. It never holds more than the bound in memory.
func (l *lineReader) next() line {
	const end = len("\r\n")
	var out line
	for {
		part, err := l.r.ReadSlice('\n')
		if room := l.most + end - len(out.text); len(part) > room {
			out.tooLong = true
			part = part[:room]
		}
		out.text = append(out.text, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		out.err = err
		break
	}
	if l.first {
		l.first = false
		out.text = bytes.TrimPrefix(out.text, byteOrderMark)
	}
	out.text = bytes.TrimSpace(out.text)
	out.tooLong = out.tooLong || len(out.text) > l.most
	return out
}
