package taskfile

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// keep holds the head and the tail of a stream in bounded memory.
type keep struct {
	budget int
	head   []byte
	tail   []byte // the last budget bytes after head, and at most as many again
	total  int64
}

// headShare is which part of the budget the head of a cut stream gets: errors
// are at the end.
const headShare = 4

func (k *keep) add(p []byte) {
	k.total += int64(len(p))
	if room := k.budget/headShare - len(k.head); room > 0 {
		n := min(room, len(p))
		k.head = append(k.head, p[:n]...)
		p = p[n:]
	}
	if len(p) > k.budget {
		p = p[len(p)-k.budget:]
	}
	k.tail = append(k.tail, p...)
	if len(k.tail) > 2*k.budget {
		k.tail = append(k.tail[:0], k.tail[len(k.tail)-k.budget:]...)
	}
}

// text is the stream in at most limit bytes, and whether it was cut. limit must
// not be above the budget.
func (k *keep) text(limit int) (string, bool) {
	if k.total <= int64(limit) {
		return string(k.head) + string(k.tail), false
	}
	const longestNote = 60
	if limit <= longestNote {
		return "", true
	}
	head := k.head[:min(len(k.head), (limit-longestNote)/headShare)]
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	for len(head) > 0 && !utf8.Valid(head[max(0, len(head)-utf8.UTFMax):]) && !utf8.Valid(head) {
		head = head[:len(head)-1]
	}
	tail := k.tail[max(0, len(k.tail)-(limit-longestNote-len(head))):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/4 {
		tail = tail[i+1:]
	}
	left := k.total - int64(len(head)+len(tail))
	gap := "\n"
	if len(head) == 0 || head[len(head)-1] == '\n' {
		gap = ""
	}
	return fmt.Sprintf("%s%s[… %d bytes left out …]\n%s", head, gap, left, tail), true
}

// share divides one budget among two streams: each gets half, and what the other
// does not need.
func share(budget int, a, b *keep) (forA, forB int) {
	half := int64(budget / 2)
	forA = int(min(a.total, max(half, int64(budget)-b.total)))
	forB = int(min(b.total, int64(budget-forA)))
	return forA, forB
}
