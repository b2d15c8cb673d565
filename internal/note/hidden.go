package note

import (
	"fmt"
	"unicode"
)

// maxHidden is how many positions of invisible characters Read reports.
const maxHidden = 100

// isInvisible reports whether r takes no room on a screen, or steers what does:
// zero-width characters, bidirectional controls, Unicode tags and the
// supplementary variation selectors, all of which have been used to hide
// instructions from people and not from models.
func isInvisible(r rune) bool {
	if r < 0xAD {
		return false
	}
	switch {
	case r == 0x00AD, r == 0x034F, r == 0x061C, // soft hyphen, joiner, Arabic mark
		r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, // Hangul fillers
		r == 0x17B4, r == 0x17B5, 0x180B <= r && r <= 0x180F, // Khmer, Mongolian
		0x200B <= r && r <= 0x200F, 0x202A <= r && r <= 0x202E, // zero width, bidi
		0x2060 <= r && r <= 0x206F, r == 0xFEFF, 0xFFF0 <= r && r <= 0xFFFB,
		0x1D173 <= r && r <= 0x1D17A, // musical controls
		0xE0000 <= r && r <= 0xE0FFF: // tags, variation selectors 17 to 256
		return true
	}
	return false
}

// findHidden returns the positions of the first maxHidden invisible characters
// of text and how many more there are. A variation selector behind a visible
// character is ordinary (it makes an emoji colourful); one behind another is
// not seen and is reported.
func findHidden(text string) (found []Hidden, more int) {
	line, column := 1, 0
	afterSelector := false
	for _, r := range text {
		column++
		if r == '\n' {
			line, column, afterSelector = line+1, 0, false
			continue
		}
		if r < 0xAD {
			afterSelector = false
			continue
		}
		selector := unicode.Is(unicode.Variation_Selector, r)
		if isInvisible(r) || selector && afterSelector {
			if len(found) < maxHidden {
				found = append(found, Hidden{Line: line, Column: column, CodePoint: fmt.Sprintf("U+%04X", r)})
			} else {
				more++
			}
		}
		afterSelector = selector
	}
	return found, more
}
