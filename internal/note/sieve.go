package note

import (
	"math/bits"
	"unicode/utf8"
)

// A sieve tells that a note cannot contain a text, without the note: one bit for
// each run of two and of three bytes that its folded text has, in as few words
// as keep more than half of the bits clear. It lets through some notes that do not match,
// and never holds one back that does.
type sieve []uint64

// sieveWords is the size of the largest sieve: 64 Ki bits.
const sieveWords = 1024

// gram2 and gram3 are where a run of bytes has its bit in the largest sieve; a
// smaller one takes the low bits.
func gram2(a, b byte) uint32    { return mix(uint32(a) | uint32(b)<<8 | 1<<24) }
func gram3(a, b, c byte) uint32 { return mix(uint32(a) | uint32(b)<<8 | uint32(c)<<16) }

func mix(x uint32) uint32 {
	x *= 0x9E3779B1 // the golden ratio spreads neighbours
	return x >> 16
}

// sieveMaker makes sieves one after another in the same memory.
type sieveMaker struct {
	bits   [sieveWords]uint64
	folded []byte
}

// make returns the sieve of a text in at most so many words: more bits are set in
// a smaller one, and it holds fewer notes back.
func (m *sieveMaker) make(text []byte, most int) sieve {
	clear(m.bits[:])
	var a, b byte
	n := 0
	for _, c := range m.fold(text) {
		if n > 0 {
			g := gram2(b, c)
			m.bits[g>>6] |= 1 << (g & 63)
			if n > 1 {
				g = gram3(a, b, c)
				m.bits[g>>6] |= 1 << (g & 63)
			}
		}
		a, b = b, c
		n++
	}
	words := sieveWords
	for words > 1 {
		set := 0
		for i := range words / 2 {
			set += bits.OnesCount64(m.bits[i] | m.bits[i+words/2])
		}
		if words <= most && set*20 > 9*words/2*64 {
			break
		}
		words /= 2
		for i := range words {
			m.bits[i] |= m.bits[i+words]
		}
	}
	return append(sieve(nil), m.bits[:words]...)
}

// fold writes text as foldString would; bytes that are no UTF-8 stay, and no
// needle has any.
func (m *sieveMaker) fold(text []byte) []byte {
	out := m.folded[:0]
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			out = append(out, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if n == 1 {
			out = append(out, c)
		} else {
			out = utf8.AppendRune(out, foldRune(r))
		}
		i += n
	}
	m.folded = out
	return out
}

// gramsOf returns where a folded query has its bits; none for a query of one
// byte, which no sieve can hold back.
func gramsOf(folded string) []uint32 {
	var out []uint32
	if len(folded) == 2 {
		return append(out, gram2(folded[0], folded[1]))
	}
	for i := 2; i < len(folded); i++ {
		out = append(out, gram3(folded[i-2], folded[i-1], folded[i]))
	}
	return out
}

// lacks reports whether one of the grams is not in s, so that the text is not.
func (s sieve) lacks(grams []uint32) bool {
	mask := uint32(len(s)*64 - 1)
	for _, g := range grams {
		g &= mask
		if s[g>>6]&(1<<(g&63)) == 0 {
			return true
		}
	}
	return false
}
