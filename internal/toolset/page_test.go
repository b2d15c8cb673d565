package toolset_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"handrail/internal/fault"
	"handrail/internal/toolset"
)

func TestACursorIsGoodForTheListThatItCameFromAndNoOther(t *testing.T) {
	type scope struct{ List, Tag string }
	here := scope{"list", "x"}
	for _, key := range []string{"1", "9007199254740991", "a/b.md", "日本", ""} {
		c := toolset.Cursor(here, key)
		if got, err := toolset.ParseCursor(here, c); err != nil || got != key {
			t.Errorf("%q came back as %q, %v", key, got, err)
		}
		for _, other := range []scope{{"list", "y"}, {"search", "x"}, {}} {
			if _, err := toolset.ParseCursor(other, c); fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), "another list or filter") {
				t.Errorf("%+v takes the cursor of %+v: %v", other, here, err)
			}
		}
	}
}

func TestWhatIsNoCursorIsRefusedByName(t *testing.T) {
	good := toolset.Cursor("list", "17")
	for _, bad := range []string{"", "x", "17", good[1:], good + "=", strings.ToUpper(good), "!" + good, base64.StdEncoding.EncodeToString([]byte("2" + good)), "\x00", good + "\n", strings.Repeat("A", 10_000)} {
		if _, err := toolset.ParseCursor("list", bad); fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), "cursor: ") {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

func FuzzACursorIsTakenOnlyAsItWasMade(f *testing.F) {
	f.Add(toolset.Cursor("list", "17"))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := toolset.ParseCursor("list", text)
		if err == nil && toolset.Cursor("list", key) != text {
			t.Errorf("%q is taken for %q", text, key)
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidInput {
			t.Error(err)
		}
	})
}

func TestAPageHoldsWhatFitsAndAtLeastOneItem(t *testing.T) {
	long := strings.Repeat("\u0001", toolset.PageBytes/6-10) // six bytes each in JSON
	for _, row := range []struct {
		items []string
		want  int
	}{
		{nil, 0},
		{[]string{"a", "b"}, 2},
		{[]string{long, "b"}, 2},
		{[]string{long, long}, 1},
		{[]string{long + long + long}, 1},
		{[]string{"a", long + long, "b"}, 1},
	} {
		n, err := toolset.Fit(row.items)
		if err != nil || n != row.want {
			t.Errorf("%d of %d items fit, want %d, %v", n, len(row.items), row.want, err)
		}
		if b, err := json.Marshal(row.items[:n]); n > 1 && (err != nil || len(b) > toolset.PageBytes+10) {
			t.Errorf("%d items are %d bytes, %v", n, len(b), err)
		}
	}
}
