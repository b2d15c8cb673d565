package runner

import (
	"maps"
	"slices"
	"strings"
)

// This file has the values that the analysis of a task calculates with: text in
// which some parts are not known, because a caller or a command decides them.

// taints are the caller's variables that may have a part in a piece of text.
type taints map[string]bool

func (t taints) with(other taints) taints {
	if len(other) == 0 {
		return t
	}
	if len(t) == 0 {
		return other
	}
	both := maps.Clone(t)
	maps.Copy(both, other)
	return both
}

func (t taints) names() []string { return slices.Sorted(maps.Keys(t)) }

// manner is what a template did to a value on its way.
type manner int

const (
	raw       manner = iota // it stands as the caller wrote it
	quoted                  // the author quoted it for the shell
	expanded                // a shell variable of it, which is no source text any more
	fields                  // one of the words of it
	parts                   // one of the parts of it, between marks that are no dashes
	opaque                  // some function changed it
	derived                 // a command's output, to which the caller contributed
	forbidden               // it was decoded, or used to look something up
)

// hole is a part of text that is not known. Without taints it is nobody's but
// the author's and the machine's. Any hole may turn out empty.
type hole struct {
	from   taints
	manner manner
}

// piece is known text, or a hole.
type piece struct {
	text string
	hole *hole
}

// value is a text in pieces. variants are the texts that a template may become,
// depending on its conditions.
type (
	value    []piece
	variants []value
)

// These bound the work for one template. Past them the text cannot be told, and
// whoever has a part in it is refused.
const (
	mostVariants = 64
	mostPieces   = 1000
	longestText  = 1 << 20
)

func known(text string) variants { return variants{{{text: text}}} }

func unknown(from taints, m manner) variants {
	return variants{{{hole: &hole{from: from, manner: m}}}}
}

// then is every variant of a followed by every variant of b.
func (a variants) then(b variants) variants {
	if len(a)*len(b) > mostVariants {
		return unknown(a.from().with(b.from()), forbidden)
	}
	all := make(variants, 0, len(a)*len(b))
	for _, head := range a {
		for _, tail := range b {
			both := slices.Concat(head, tail)
			if both.tooLarge() {
				return unknown(a.from().with(b.from()), forbidden)
			}
			all = append(all, both)
		}
	}
	return all
}

func (v value) tooLarge() bool {
	if len(v) > mostPieces {
		return true
	}
	n := 0
	for _, p := range v {
		n += len(p.text)
	}
	return n > longestText
}

// or is the variants of both.
func (a variants) or(b variants) variants {
	if len(a)+len(b) > mostVariants {
		return unknown(a.from().with(b.from()), forbidden)
	}
	return slices.Concat(a, b)
}

// from is everybody who has a part in any variant.
func (a variants) from() taints {
	var all taints
	for _, v := range a {
		for _, p := range v {
			if p.hole != nil {
				all = all.with(p.hole.from)
			}
		}
	}
	return all
}

// worst is the manner that is hardest to judge in any variant.
func (a variants) worst() manner {
	worst := raw
	for _, v := range a {
		for _, p := range v {
			if p.hole != nil && len(p.hole.from) > 0 {
				worst = max(worst, p.hole.manner)
			}
		}
	}
	return worst
}

// literal is the text where it is wholly known and the only one.
func (a variants) literal() (string, bool) {
	if len(a) != 1 {
		return "", false
	}
	var b strings.Builder
	for _, p := range a[0] {
		if p.hole != nil {
			return "", false
		}
		b.WriteString(p.text)
	}
	return b.String(), true
}

// blur is one hole for all variants, changed by a function that is not known to
// keep the text as it is.
func (a variants) blur(atLeast manner) variants {
	return unknown(a.from(), max(atLeast, a.worst()))
}

// harmless reports whether known text can stand for a hole: it holds no mark of
// the shell and names no program that takes commands.
func harmless(text string) bool {
	for _, r := range text {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/@%+= ", r) {
			return false
		}
	}
	return !slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		return takesCommands(base(word))
	})
}
