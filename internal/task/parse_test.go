package task_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"handrail/internal/fault"
	"handrail/internal/task"
)

func wantFault(t *testing.T, err error, argument, rule string) {
	t.Helper()
	f := fault.Of(err)
	if f == nil || f.Code != fault.InvalidInput || !strings.HasPrefix(f.Message, argument+":") || !strings.Contains(f.Message, rule) {
		t.Errorf("got %v, want invalid_input that names %q and the rule %q", err, argument, rule)
	}
}

func TestATitleIsKeptAsItWasSent(t *testing.T) {
	for _, s := range []string{"a", "  padded  ", "new\nline", "ünï 🎉", strings.Repeat("x", 200), strings.Repeat("🎉", 100), "\u200bx", "'; DROP TABLE tasks; --", "\u212A"} {
		if got, err := task.ParseTitle(s); err != nil || got.String() != s {
			t.Errorf("%q became %q, %v", s, got, err)
		}
	}
}

func TestATitleThatNobodyCouldReadIsRefused(t *testing.T) {
	for s, rule := range map[string]string{
		"": "must not be empty", " ": "white space", "\t\n ": "white space", "\u00a0\u2003\u3000": "white space", "\u200b\ufeff": "white space", "\u2028": "white space", "\x01\x7f": "white space",
		strings.Repeat("x", 201): "at most 200", strings.Repeat("🎉", 101): "at most 200", "a\x00b": "NUL", "a\xffb": "valid Unicode", "\xed\xa0\x80": "valid Unicode",
	} {
		_, err := task.ParseTitle(s)
		wantFault(t, err, "title", rule)
	}
}

func TestTagsAreCountedBeforeTheyAreFolded(t *testing.T) {
	got, err := task.ParseTags([]string{"b", "a", "b", "B", " a"})
	if err != nil || !slices.Equal(got.Strings(), []string{"b", "a", "B", " a"}) {
		t.Errorf("%q, %v", got.Strings(), err)
	}
	if none, err := task.ParseTags(nil); err != nil || none.Strings() == nil || len(none.Strings()) != 0 {
		t.Errorf("no tags: %v, %v", none.Strings(), err)
	}
	var zero task.Tags
	if zero.Strings() == nil {
		t.Error("the zero Tags list nil")
	}
	eleven := slices.Repeat([]string{"x"}, 11)
	_, err = task.ParseTags(eleven)
	wantFault(t, err, "tags", "at most 10, not 11")
	if _, err := task.ParseTags(eleven[:10]); err != nil {
		t.Error(err)
	}
	for s, rule := range map[string]string{"": "must not be empty", strings.Repeat("x", 41): "at most 40", "\x00": "NUL", "\xc3": "valid Unicode"} {
		_, err := task.ParseTags([]string{"ok", s})
		wantFault(t, err, "tags[1]", rule)
	}
}

func TestADateIsARealDayWrittenOneWay(t *testing.T) {
	for _, s := range []string{"2026-02-28", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"} {
		if d, err := task.ParseDate("due", s); err != nil || d.String() != s || d.IsZero() {
			t.Errorf("%q: %v, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "2026-02-29", "1900-02-29", "2026-02-30", "2026-13-01", "2026-00-10", "2026-01-00", "0000-01-01", "2026-1-2", "26-01-02", "2026/01/02",
		" 2026-01-02", "2026-01-02 ", "2026-01-02T00:00:00Z", "+2026-01-02", "-001-01-01", "10000-01-01", "２０２６-01-02", "2026-01-0x", "tomorrow"} {
		_, err := task.ParseDate("dueAfter", s)
		wantFault(t, err, "dueAfter", "real calendar date written YYYY-MM-DD")
	}
}

func TestADateSurvivesJSONAndNoDateIsLeftOut(t *testing.T) {
	d, _ := task.ParseDate("due", "2026-02-28")
	b, err := json.Marshal(task.Task{ID: 1, Title: "t", Status: task.Open, Due: d, Tags: []string{}})
	if err != nil || !strings.Contains(string(b), `"due":"2026-02-28"`) || strings.Contains(string(b), "completedAt") {
		t.Errorf("%s, %v", b, err)
	}
	var back task.Task
	if err := json.Unmarshal(b, &back); err != nil || back.Due != d {
		t.Errorf("%v, %v", back.Due, err)
	}
	b, err = json.Marshal(task.Task{Tags: []string{}})
	if err != nil || strings.Contains(string(b), "due") || !strings.Contains(string(b), `"tags":[]`) {
		t.Errorf("%s, %v", b, err)
	}
	if err := json.Unmarshal([]byte(`{"due":"2026-02-30"}`), &back); err == nil {
		t.Error("a day that does not exist was read")
	}
	if err := back.Due.UnmarshalText(nil); err != nil || !back.Due.IsZero() {
		t.Errorf("no text is no date: %v, %v", back.Due, err)
	}
}

func TestAQueryIsAnyTextOfTheRightLength(t *testing.T) {
	for _, s := range []string{" ", "%", "\t", strings.Repeat("🎉", 100)} {
		if q, err := task.ParseQuery(s); err != nil || q.String() != s {
			t.Errorf("%q: %v", s, err)
		}
	}
	for s, rule := range map[string]string{"": "must not be empty", strings.Repeat("x", 201): "at most 200", "a\x00": "NUL", "\x80": "valid Unicode"} {
		_, err := task.ParseQuery(s)
		wantFault(t, err, "query", rule)
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2026-02-28", "2026-02-30", "0000-01-01", "2026-1-1", "９999-12-31", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := task.ParseDate("due", s)
		if err != nil {
			return
		}
		var y, m, day int
		if n, err := fmt.Sscanf(s, "%4d-%2d-%2d", &y, &m, &day); n != 3 || err != nil || len(s) != 10 {
			t.Fatalf("%q was taken for a date", s)
		}
		if real := time.Date(y, time.Month(m), day, 0, 0, 0, 0, time.UTC); real.Year() != y || int(real.Month()) != m || real.Day() != day || d.String() != s {
			t.Errorf("%q is no real day", s)
		}
	})
}

func FuzzParseTitle(f *testing.F) {
	for _, s := range []string{"a", " ", "\u200b", strings.Repeat("🎉", 101), "\xff", "a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		units := len(utf16.Encode([]rune(s)))
		if task.Length(s) != units {
			t.Errorf("%q has %d UTF-16 code units, counted %d", s, units, task.Length(s))
		}
		title, err := task.ParseTitle(s)
		if err == nil && (title.String() != s || units < 1 || units > task.MaxTitle || !utf8.ValidString(s) || strings.TrimSpace(s) == "" || strings.Contains(s, "\x00")) {
			t.Errorf("%q was taken for a title", s)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%q: %v", s, err)
		}
	})
}

func FuzzParseTags(f *testing.F) {
	f.Add("a,b,a")
	f.Add(",")
	f.Fuzz(func(t *testing.T, s string) {
		list := strings.Split(s, ",")
		tags, err := task.ParseTags(list)
		if err != nil {
			return
		}
		if len(list) > task.MaxTags {
			t.Errorf("%d tags were taken", len(list))
		}
		seen := map[string]bool{}
		for _, tag := range tags.Strings() {
			if seen[tag] || tag == "" || task.Length(tag) > task.MaxTag || !slices.Contains(list, tag) {
				t.Errorf("%q gives %q", list, tags.Strings())
			}
			seen[tag] = true
		}
		for _, tag := range list {
			if !seen[tag] {
				t.Errorf("%q was lost from %q", tag, list)
			}
		}
	})
}
