package todo

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"handrail/internal/fault"
)

// The bounds of a task, in UTF-16 units, and of its id: the largest integer that
// every JSON reader keeps exactly.
const (
	MaxTitleUnits = 200
	MaxTags       = 10
	MaxTagUnits   = 40
	maxID         = 1<<53 - 1
)

// Draft is a task to be added. Due, where not "", is YYYY-MM-DD.
type Draft struct {
	Title string
	Due   string
	Tags  []string
}

// check returns the draft's tags with repeated ones folded, never nil.
func (d Draft) check() (tags []string, err error) {
	switch err := checkText("title", d.Title, MaxTitleUnits); {
	case err != nil:
		return nil, err
	case strings.TrimSpace(d.Title) == "":
		return nil, fault.New(fault.InvalidInput, "title: must not be only white space")
	case d.Due != "" && !isDate(d.Due):
		return nil, fault.New(fault.InvalidInput, "due: must be a real calendar date, YYYY-MM-DD")
	case len(d.Tags) > MaxTags:
		return nil, fault.New(fault.InvalidInput, "tags: must be at most %d", MaxTags)
	}
	tags = []string{}
	for _, tag := range d.Tags {
		if err := checkText("tags", tag, MaxTagUnits); err != nil {
			return nil, err
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

func checkText(arg, text string, most int) error {
	switch units := len(utf16.Encode([]rune(text))); {
	case !utf8.ValidString(text):
		return fault.New(fault.InvalidInput, "%s: must be valid Unicode text", arg)
	case strings.IndexByte(text, 0) >= 0:
		return fault.New(fault.InvalidInput, "%s: must not contain NUL", arg)
	case units < 1 || units > most:
		return fault.New(fault.InvalidInput, "%s: must have from 1 to %d characters, not %d", arg, most, units)
	}
	return nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

// check fills in defaults and returns the id that the cursor stands behind.
func (q *Query) check() (after int64, err error) {
	if q.Status == "" {
		q.Status = Open
	}
	if q.Limit == 0 {
		q.Limit = DefaultListed
	}
	switch {
	case q.Status != Open && q.Status != Done && q.Status != All:
		return 0, fault.New(fault.InvalidInput, "status: must be %s, %s or %s", Open, Done, All)
	case q.Limit < 1 || q.Limit > MaxListed:
		return 0, fault.New(fault.InvalidInput, "limit: must be from 1 to %d", MaxListed)
	}
	if q.Tag != "" {
		if err := checkText("tag", q.Tag, MaxTagUnits); err != nil {
			return 0, err
		}
	}
	if q.Cursor == "" {
		return -maxID - 1, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil && len(raw) == 8+cursorSum {
		if id := int64(binary.BigEndian.Uint64(raw)); q.seal(id) == q.Cursor {
			return id, nil
		}
	}
	return 0, fault.New(fault.InvalidInput, "cursor: is not one that this list with this filter returned; leave it out to begin anew")
}

// cursorSum is how many bytes of a cursor guard the rest of it.
const cursorSum = 6

// seal makes the opaque cursor that stands behind the task id under q's filter.
// It is no secret; the checksum tells it from a made-up one.
func (q Query) seal(id int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "todo\x00%s\x00%s\x00%d", q.Status, q.Tag, id))
	raw := binary.BigEndian.AppendUint64(nil, uint64(id))
	return base64.RawURLEncoding.EncodeToString(append(raw, sum[:cursorSum]...))
}
