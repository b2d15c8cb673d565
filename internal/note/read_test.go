package note_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func TestReadTellsWhatTheWholeFileIs(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "f/a.md", "héllo\r\n")
	then := time.Date(2026, 7, 28, 10, 11, 12, 345e6, time.FixedZone("", 7200))
	os.Chtimes(path, then, then)
	v := openVault(t, root, note.Limits{})
	got, err := v.Read(ctx, "f/a.md")
	if err != nil {
		t.Fatal(err)
	}
	want := note.Content{Path: "f/a.md", Content: "héllo\r\n", TotalBytes: 8, SHA256: hash("héllo\r\n"), ModifiedAt: "2026-07-28T08:11:12.345Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, gone := range []string{"b.md", "f/b.md", "g/a.md", "f/a.md/b.md"} {
		_, err := v.Read(ctx, gone)
		wantCode(t, err, fault.NotFound)
	}
	b, _ := json.Marshal(got)
	if s := string(b); !strings.Contains(s, `"truncated":false,"totalBytes":8,"sha256":"`) || strings.Contains(s, "hidden") {
		t.Error(s)
	}
}

// TestTheReadCapNeverCutsACharacter is case 14 from the field and its kind.
func TestTheReadCapNeverCutsACharacter(t *testing.T) {
	root := t.TempDir()
	for _, char := range []string{"a", "é", "日", "😀", "e\u0301"} {
		text := strings.Repeat(char, 40)
		put(t, root, "a.md", text)
		for limit := 1; limit < 30; limit++ {
			v := openVault(t, root, note.Limits{MaxReadBytes: limit})
			c, err := v.Read(ctx, "a.md")
			if err != nil {
				t.Fatal(err)
			}
			if !c.Truncated || c.TotalBytes != int64(len(text)) || c.SHA256 != hash(text) || c.InvalidUTF8 != 0 {
				t.Errorf("%+v", c)
			}
			if !strings.HasPrefix(text, c.Content) || !utf8.ValidString(c.Content) || strings.ContainsRune(c.Content, utf8.RuneError) {
				t.Errorf("%d bytes of %q: %q", limit, char, c.Content)
			}
			if len(c.Content) > limit || len(c.Content)+utf8.UTFMax <= limit {
				t.Errorf("%d bytes returned under a cap of %d", len(c.Content), limit)
			}
			v.Close()
		}
	}
	put(t, root, "a.md", "12345")
	v := openVault(t, root, note.Limits{MaxReadBytes: 5})
	if c, err := v.Read(ctx, "a.md"); err != nil || c.Truncated || c.Content != "12345" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestBytesThatAreNoUTF8AreShownAndSaid(t *testing.T) {
	root := t.TempDir()
	put(t, root, "latin.md", "caf\xe9 \xff\xfe end\n")
	put(t, root, "wide.md", "\xff\xfeh\x00i\x00")
	put(t, root, "cut.md", "abc\xe2\x82")
	put(t, root, "real.md", "a real \uFFFD\n")
	v := openVault(t, root, note.Limits{})
	c, err := v.Read(ctx, "latin.md")
	if err != nil || c.InvalidUTF8 != 3 || c.Content != "caf\uFFFD \uFFFD\uFFFD end\n" || c.SHA256 != hash("caf\xe9 \xff\xfe end\n") {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = v.Read(ctx, "wide.md")
	wantCode(t, err, fault.InvalidStore, "UTF-16")
	if c, err = v.Read(ctx, "cut.md"); err != nil || c.InvalidUTF8 != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = v.Read(ctx, "real.md"); err != nil || c.InvalidUTF8 != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCharactersThatNobodySeesAreReportedWhereTheyStand(t *testing.T) {
	root := t.TempDir()
	text := "plain\nzé\u200bro\n\u202Eback\u202C\n" + "tag\U000E0041\U000E0042\n" + "❤\uFE0F and x\uFE01\uFE02\U000E0100\n"
	put(t, root, "a.md", text)
	v := openVault(t, root, note.Limits{})
	c, err := v.Read(ctx, "a.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []note.Hidden{
		{Line: 2, Column: 3, CodePoint: "U+200B"},
		{Line: 3, Column: 1, CodePoint: "U+202E"}, {Line: 3, Column: 6, CodePoint: "U+202C"},
		{Line: 4, Column: 4, CodePoint: "U+E0041"}, {Line: 4, Column: 5, CodePoint: "U+E0042"},
		{Line: 5, Column: 10, CodePoint: "U+FE02"}, {Line: 5, Column: 11, CodePoint: "U+E0100"},
	}
	if diff := cmp.Diff(want, c.Hidden); diff != "" || c.Content != text {
		t.Error(diff)
	}
	put(t, root, "a.md", strings.Repeat("\u200d", 250))
	if c, err = v.Read(ctx, "a.md"); err != nil || len(c.Hidden) != 100 || c.HiddenMore != 150 {
		t.Errorf("%d and %d more, %v", len(c.Hidden), c.HiddenMore, err)
	}
}

func TestTitlesComeFromHeadingThenFrontMatterThenName(t *testing.T) {
	for _, c := range []struct{ text, title string }{
		{"# One\n# Two\n", "One"}, {"text\n\n# Late #\n", "Late"}, {"## Two\n# One", "One"}, {"#nospace\n", "name"},
		{"#\tTab\r\n", "Tab"}, {"   # Indented", "Indented"}, {"    # Code", "name"}, {"```\n# Code\n```\n# Real", "Real"},
		{"~~~~\n# Code\n~~~\n~~~~\n# Real", "Real"}, {"``` open\n# Code", "name"}, {"Under\n=====\n", "Under"}, {"Under\n---\n", "name"},
		{"\n=====\n", "name"}, {"- item\n===\n", "name"}, {"# \n# Second", "Second"}, {"#", "name"}, {"# C# and F#", "C# and F#"},
		{"---\ntitle: Front\n---\n# Head", "Head"}, {"---\ntitle: Front\n---\nbody", "Front"}, {"---\ntitle: \"Quo\\\"ted\"\n---\n", "Quo\"ted"},
		{"---\ntitle: 'It''s'\n---\n", "It's"}, {"---\ntitle: a # b\n---\n", "a"}, {"---\n# a comment\ntitle: Front\n...\n", "Front"},
		{"---\ntitle: >\n  folded\n---\n", "name"}, {"---\ntitle: [a]\n---\n", "name"}, {"---\nsub:\n  title: x\n---\n", "name"},
		{"---\nno end\n# Head\n", "Head"}, {"---\r\ntitle: CR\r\n---\r\n", "CR"}, {"\uFEFF# Bom\n", "Bom"}, {"", "name"}, {"# caf\xe9\n", "name"},
		{"# " + strings.Repeat("x", 300), strings.Repeat("x", 199) + "…"}, {strings.Repeat("text\n", 20000) + "# Far", "name"},
		{"Titel: nein\ntitle: no\n", "name"}, {"---\ntitle:\n---\n", "name"}, {"# `code` *text*", "`code` *text*"},
	} {
		root := t.TempDir()
		put(t, root, "name.md", c.text)
		l, err := openVault(t, root, note.Limits{}).List(ctx, note.ListQuery{})
		if err != nil || len(l.Notes) != 1 || l.Notes[0].Title != c.title {
			t.Errorf("%.40q: %+v, %v; want %q", c.text, l, err, c.title)
		}
	}
}

func FuzzATitleIsOneLineOfText(f *testing.F) {
	for _, s := range []string{"# a", "---\ntitle: \"a\n---", "---\ntitle: 'x", "a\n=", "````\n```", "---\n---\n#", "\uFEFF---\ntitle: a"} {
		f.Add([]byte(s))
	}
	root := f.TempDir()
	v := openVault(f, root, note.Limits{})
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(root, "name.md"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := v.List(ctx, note.ListQuery{})
		if err != nil || len(l.Notes) != 1 {
			t.Fatal(l, err)
		}
		title := l.Notes[0].Title
		if title == "" || !utf8.ValidString(title) || utf8.RuneCountInString(title) > 200 {
			t.Fatalf("%q has the title %q", text, title)
		}
	})
}

func TestListPagesAreOrderedByPathAndCoverEverythingOnce(t *testing.T) {
	root := t.TempDir()
	var want []string
	for _, p := range []string{"a.md", "a/b.md", "a-b.md", "a.b/c.md", "a/b/c.md", "A.md", "a0/x.md", "b.md", "日/é.md", "z z/ y.md"} {
		put(t, root, p, "x")
		want = append(want, p)
	}
	for i := range 40 {
		p := fmt.Sprintf("many/%02d/n.md", i)
		put(t, root, p, "x")
		want = append(want, p)
	}
	for _, p := range []string{".git/a.md", "a/.b.md", "a/c.txt", "tasks.json", "CON.md", "a/nul.md", "end./a.md"} {
		put(t, root, p, "x")
	}
	slices.Sort(want)
	v := openVault(t, root, note.Limits{})
	for _, limit := range []int{1, 2, 3, 7, 49, 50, 51, 500} {
		var got []string
		q := note.ListQuery{Limit: limit}
		for {
			l, err := v.List(ctx, q)
			if err != nil || len(l.Notes) > limit || l.Truncated != (l.NextCursor != "") {
				t.Fatalf("%+v, %v", l, err)
			}
			for _, e := range l.Notes {
				got = append(got, e.Path)
			}
			if q.Cursor = l.NextCursor; q.Cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d:\n%s", limit, diff)
		}
	}
	l, err := v.List(ctx, note.ListQuery{Folder: "a"})
	if err != nil || len(l.Notes) != 2 || l.Notes[0].Path != "a/b.md" {
		t.Errorf("%+v, %v", l, err)
	}
	page, _ := v.List(ctx, note.ListQuery{Folder: "many", Limit: 3})
	for _, q := range []note.ListQuery{
		{Limit: 501}, {Limit: -1}, {Cursor: "x"}, {Cursor: page.NextCursor}, {Folder: "a", Cursor: page.NextCursor},
		{Folder: "many", Cursor: page.NextCursor + "A"}, {Folder: "many", Cursor: page.NextCursor[1:]},
	} {
		_, err := v.List(ctx, q)
		wantCode(t, err, fault.InvalidInput)
	}
	_, err = v.List(ctx, note.ListQuery{Folder: "nowhere"})
	wantCode(t, err, fault.NotFound, "nowhere")
	_, err = v.List(ctx, note.ListQuery{Folder: "a.md"})
	wantCode(t, err, fault.NotFound)
	// The note behind which a page begins may be gone meanwhile.
	os.RemoveAll(filepath.Join(root, "many/02"))
	if l, err = v.List(ctx, note.ListQuery{Folder: "many", Limit: 3, Cursor: page.NextCursor}); err != nil || l.Notes[0].Path != "many/03/n.md" {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestAPageOfLongPathsIsCutByItsBytes(t *testing.T) {
	root := t.TempDir()
	deep := strings.Repeat(strings.Repeat("x", 240)+"/", 3)
	for i := range 200 {
		put(t, root, fmt.Sprintf("%s%03d.md", deep, i), "# "+strings.Repeat("\"", 250))
	}
	l, err := openVault(t, root, note.Limits{}).List(ctx, note.ListQuery{})
	if err != nil || !l.Truncated {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(l); len(b) > 100_000 || len(b) < 60_000 {
		t.Errorf("%d bytes", len(b))
	}
}

func TestANearMissNamesTheNoteThatIsThere(t *testing.T) {
	root := t.TempDir()
	put(t, root, "f/Caf\u00e9.md", "x")
	_, err := openVault(t, root, note.Limits{}).Read(ctx, "f/cafe\u0301.md")
	if err == nil {
		return // this file system takes one for the other
	}
	wantCode(t, err, fault.NotFound, `there is "Café.md"`)
}
