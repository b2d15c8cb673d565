package sqlite

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"handrail/internal/task"
)

// What the originals stored, made into what the store keeps. An error says what
// could not be understood.

// originalText replaces what is not valid Unicode, and NUL, by the replacement
// character: JSON could not carry the one and no title may hold the other.
func originalText(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("is no text")
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", string(utf8.RuneError)), nil
}

func originalDone(r record) (bool, error) {
	if v, ok := r[roleStatus]; ok {
		if s, ok := v.(string); ok {
			switch strings.ToLower(s) {
			case "open", "todo", "pending", "active":
				return false, nil
			case "done", "completed", "complete", "closed":
				return true, nil
			}
		}
		return flag(v, "status")
	}
	return flag(r[roleDone], "mark of completion")
}

func flag(v any, what string) (bool, error) {
	switch v := v.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case int64:
		if v == 0 || v == 1 {
			return v == 1, nil
		}
	case string:
		switch strings.ToLower(v) {
		case "0", "false", "":
			return false, nil
		case "1", "true":
			return true, nil
		}
	}
	return false, fmt.Errorf("has a %s that is not known: %v", what, v)
}

// originalDate takes the day of a date, also one written with a time behind it.
func originalDate(v any) (task.Date, error) {
	switch v := v.(type) {
	case nil:
		return task.Date{}, nil
	case time.Time:
		return task.ParseDate("due", v.UTC().Format(time.DateOnly))
	case string:
		if v == "" {
			return task.Date{}, nil
		}
		day := v
		if len(v) > 10 && (v[10] == 'T' || v[10] == ' ') {
			day = v[:10]
		}
		if d, err := task.ParseDate("due", day); err == nil {
			return d, nil
		}
	}
	return task.Date{}, fmt.Errorf("has a due date that is not known: %v", v)
}

// originalTags reads a JSON array of texts, or texts separated by commas.
func originalTags(v any) ([]string, error) {
	if v == nil {
		return []string{}, nil
	}
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("has tags that are no text")
	}
	var list []string
	if s = strings.TrimSpace(s); strings.HasPrefix(s, "[") {
		if err := json.Unmarshal([]byte(s), &list); err != nil {
			return nil, fmt.Errorf("has tags that are no list of texts")
		}
		return fold(list), nil
	}
	for tag := range strings.SplitSeq(s, ",") {
		list = append(list, strings.TrimSpace(tag))
	}
	return fold(list), nil
}

func fold(list []string) []string {
	seen := map[string]bool{"": true}
	folded := []string{}
	for _, tag := range list {
		tag, _ = originalText(tag)
		if !seen[tag] {
			seen[tag] = true
			folded = append(folded, tag)
		}
	}
	return folded
}

var originalTimes = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", time.DateOnly,
}

// originalTime reads a text in UTC or with its zone, or a number of seconds or
// milliseconds since 1970. Zero where there is none.
func originalTime(v any) (time.Time, error) {
	switch v := v.(type) {
	case nil:
		return time.Time{}, nil
	case time.Time:
		return v.UTC(), nil
	case int64:
		return unixTime(float64(v)), nil
	case float64:
		return unixTime(v), nil
	case string:
		if v == "" {
			return time.Time{}, nil
		}
		for _, form := range originalTimes {
			if t, err := time.Parse(form, v); err == nil {
				return t.UTC(), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("has a time that is not known: %v", v)
}

// unixTime takes a number above 10^11 for milliseconds: as seconds it would lie
// after the year 5000.
func unixTime(n float64) time.Time {
	if math.Abs(n) < 1e11 {
		n *= 1000
	}
	return time.UnixMicro(int64(n * 1000)).UTC()
}
