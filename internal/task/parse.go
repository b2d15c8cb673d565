package task

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"handrail/internal/fault"
)

// The bounds of what a task may hold, in UTF-16 code units and in counts.
// Source: the requirement of the server that this one replaces.
const (
	MaxTitle = 200
	MaxTags  = 10
	MaxTag   = 40
	MaxQuery = 200
)

// Length counts the UTF-16 code units of s, the unit of every length limit.
func Length(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// Title is a task's title, proved to be within its bounds.
type Title struct{ text string }

// ParseTitle keeps s as it is, not trimmed. InvalidInput: empty, only white
// space, above MaxTitle UTF-16 code units, or with a NUL in it.
func ParseTitle(s string) (Title, error) {
	if err := checkText("title", s, MaxTitle); err != nil {
		return Title{}, err
	}
	if strings.IndexFunc(s, visible) < 0 {
		return Title{}, fault.New(fault.InvalidInput, "title: must not be only white space")
	}
	return Title{s}, nil
}

// visible reports whether a person could see anything of r.
func visible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Cf, unicode.Cc)
}

// String is the title as it was sent.
func (t Title) String() string { return t.text }

// Tags are a task's tags, proved and folded.
type Tags struct{ list []string }

// ParseTags counts before it folds repeated tags into one. InvalidInput: more
// than MaxTags, or a tag that is empty, above MaxTag UTF-16 code units or has a
// NUL in it or is not valid Unicode.
func ParseTags(list []string) (Tags, error) {
	if len(list) > MaxTags {
		return Tags{}, fault.New(fault.InvalidInput, "tags: at most %d, not %d", MaxTags, len(list))
	}
	seen := make(map[string]bool, len(list))
	folded := make([]string, 0, len(list))
	for i, tag := range list {
		if err := checkText(fmt.Sprintf("tags[%d]", i), tag, MaxTag); err != nil {
			return Tags{}, err
		}
		if !seen[tag] {
			seen[tag] = true
			folded = append(folded, tag)
		}
	}
	return Tags{folded}, nil
}

// Strings lists the tags; never nil.
func (t Tags) Strings() []string {
	if t.list == nil {
		return []string{}
	}
	return t.list
}

// Query is a text to search titles for, proved to be within its bounds.
type Query struct{ text string }

// ParseQuery takes any valid text of 1 to MaxQuery UTF-16 code units without a NUL.
func ParseQuery(s string) (Query, error) {
	if err := checkText("query", s, MaxQuery); err != nil {
		return Query{}, err
	}
	return Query{s}, nil
}

// String is the text.
func (q Query) String() string { return q.text }

func checkText(name, s string, most int) error {
	switch n := Length(s); {
	case n == 0:
		return fault.New(fault.InvalidInput, "%s: must not be empty", name)
	case n > most:
		return fault.New(fault.InvalidInput, "%s: at most %d characters (UTF-16 code units), not %d", name, most, n)
	case strings.ContainsRune(s, 0):
		return fault.New(fault.InvalidInput, "%s: must not contain a NUL character", name)
	case !utf8.ValidString(s):
		return fault.New(fault.InvalidInput, "%s: must be valid Unicode", name)
	}
	return nil
}

// Date is a calendar day without a time zone; the zero Date is none.
type Date struct{ text string }

// ParseDate takes YYYY-MM-DD, years 0001 to 9999, days that exist. name is the
// argument's name for the message of InvalidInput.
func ParseDate(name, s string) (Date, error) {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil || day.Year() < 1 || day.Format(time.DateOnly) != s {
		return Date{}, fault.New(fault.InvalidInput, "%s: must be a real calendar date written YYYY-MM-DD", name)
	}
	return Date{s}, nil
}

// IsZero reports whether there is no date.
func (d Date) IsZero() bool { return d.text == "" }

// String is YYYY-MM-DD, or empty where there is none. Text order is date order.
func (d Date) String() string { return d.text }

// MarshalText writes what String says.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.text), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Date) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Date{}
		return nil
	}
	parsed, err := ParseDate("date", string(b))
	if err == nil {
		*d = parsed
	}
	return err
}
