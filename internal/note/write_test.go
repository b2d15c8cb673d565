package note_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func TestWriteCreatesReplacesAndRefusesAsTheContractSays(t *testing.T) {
	root := t.TempDir()
	v := openVault(t, root, note.Limits{MaxNoteBytes: 100, MaxReadBytes: 50})
	w, err := v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "one"})
	if err != nil || w != (note.Written{Path: "x/y/a.md", Bytes: 3, SHA256: hash("one"), Created: true}) {
		t.Fatalf("%+v, %v", w, err)
	}
	_, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "two"})
	wantCode(t, err, fault.Conflict, "overwrite")
	_, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "two", IfSHA256: hash("one")})
	wantCode(t, err, fault.Conflict, "overwrite")
	if w, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "two", Overwrite: true}); err != nil || w.Created {
		t.Fatalf("%+v, %v", w, err)
	}
	_, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: strings.Repeat("x", 101), Overwrite: true})
	wantCode(t, err, fault.TooLarge, "100")
	if w, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: strings.Repeat("x", 51), Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	_, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "small", Overwrite: true, IfSHA256: w.SHA256})
	wantCode(t, err, fault.TooLarge, "50")
	_, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "small"})
	wantCode(t, err, fault.Conflict)
	for _, content := range []string{"a\x00b", "a\xff"} {
		_, err = v.Write(ctx, note.Draft{Path: "b.md", Content: content})
		wantCode(t, err, fault.InvalidInput, "content: ")
	}
	for _, sum := range []string{"x", hash("one")[1:], hash("one") + "00", strings.Repeat("g", 64)} {
		_, err = v.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "x", Overwrite: true, IfSHA256: sum})
		wantCode(t, err, fault.InvalidInput, "ifSha256: ")
	}
	put(t, root, "latin.md", "caf\xe9\n")
	_, err = v.Write(ctx, note.Draft{Path: "latin.md", Content: "x", Overwrite: true})
	wantCode(t, err, fault.InvalidStore)
	if w, err = v.Write(ctx, note.Draft{Path: "empty.md"}); err != nil || w.Bytes != 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	noTemporaryFiles(t, root)
}

// TestANoteThatAPersonChangedSinceItWasReadIsNotReplaced is case 15 from the
// field and its kind.
func TestANoteThatAPersonChangedSinceItWasReadIsNotReplaced(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "a.md", "mine\n")
	v := openVault(t, root, note.Limits{})
	c, err := v.Read(ctx, "a.md")
	if err != nil {
		t.Fatal(err)
	}
	d := note.Draft{Path: "a.md", Content: "the model's\n", Overwrite: true, IfSHA256: c.SHA256}
	for _, changed := range []func(){
		func() { put(t, root, "a.md", "mine, and more\n") },
		func() { // same length, same time
			put(t, root, "a.md", "MINE\n")
			then, _ := time.Parse(time.RFC3339, c.ModifiedAt)
			os.Chtimes(path, then, then)
		},
		func() { put(t, root, "b.md", "else\n"); os.Rename(filepath.Join(root, "b.md"), path) },
		func() { put(t, root, "a.md", "") },
	} {
		changed()
		now := get(t, path)
		_, err := v.Write(ctx, d)
		wantCode(t, err, fault.Conflict, "changed since")
		if get(t, path) != now {
			t.Fatal("the person's text is lost")
		}
	}
	os.Remove(path)
	_, err = v.Write(ctx, d)
	wantCode(t, err, fault.Conflict, "gone")
	if _, err := os.Lstat(path); err == nil {
		t.Fatal("a note that was removed came back")
	}
	put(t, root, "a.md", "mine\n")
	d.IfSHA256 = strings.ToUpper(d.IfSHA256)
	if _, err := v.Write(ctx, d); err != nil {
		t.Fatal(err)
	}
}

func TestOfManyWritersThatReadTheSameNoteOneWins(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.md", "0")
	results := make(chan error, 20)
	for i := range 20 {
		v := openVault(t, root, note.Limits{}) // as many vaults, as if processes
		go func() {
			_, err := v.Write(ctx, note.Draft{Path: "a.md", Content: fmt.Sprint(i + 1), Overwrite: true, IfSHA256: hash("0")})
			results <- err
		}()
	}
	won := 0
	for range 20 {
		if err := <-results; err == nil {
			won++
		} else if fault.CodeOf(err) != fault.Conflict {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won", won)
	}
}

// TestAppendKeepsEveryByteAndTheNotesOwnLineEnding is case 13 from the field and
// its kind.
func TestAppendKeepsEveryByteAndTheNotesOwnLineEnding(t *testing.T) {
	for _, c := range []struct{ name, before, content, after string }{
		{"LF", "a\n", "b\nc", "a\nb\nc\n"},
		{"no last newline", "a", "b\n", "a\nb\n"},
		{"CRLF", "a\r\nb\r\n", "c\nd\n", "a\r\nb\r\nc\r\nd\r\n"},
		{"CRLF without the last", "a\r\nb", "c", "a\r\nb\r\nc\r\n"},
		{"CRLF text to CRLF", "a\r\n", "b\r\nc\r\n", "a\r\nb\r\nc\r\n"},
		{"CRLF text to LF", "a\n", "b\r\nc\r\n", "a\nb\nc\n"},
		{"mixed, mostly CRLF", "a\r\nb\r\nc\n", "d\n", "a\r\nb\r\nc\nd\r\n"},
		{"mixed, mostly LF", "a\nb\nc\r\n", "d", "a\nb\nc\r\nd\n"},
		{"even, CRLF first", "a\r\nb\n", "c", "a\r\nb\nc\r\n"},
		{"even, LF first", "a\nb\r\n", "c", "a\nb\r\nc\n"},
		{"old Mac", "a\rb\r", "c\nd", "a\rb\rc\rd\r"},
		{"one line, CRLF text", "a", "b\r\nc", "a\r\nb\r\nc\r\n"},
		{"empty note", "", "a\r\nb", "a\r\nb\r\n"},
		{"blank lines stay", "a\n\n\n", "\n\nb\n\n", "a\n\n\n\n\nb\n\n"},
		{"byte order mark", "\uFEFFa\r\n", "b", "\uFEFFa\r\nb\r\n"},
		{"Latin-1 bytes", "caf\xe9\n\xff\xfe", "b", "caf\xe9\n\xff\xfe\nb\n"},
		{"a lone CR in an LF note", "a\rb\n", "c", "a\rb\nc\n"},
		{"only a newline", "\n", "a", "\na\n"},
		{"newline as content", "a", "\n", "a\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			path := put(t, root, "a.md", c.before)
			v := openVault(t, root, note.Limits{})
			w, err := v.Append(ctx, "a.md", c.content)
			if err != nil {
				t.Fatal(err)
			}
			got := get(t, path)
			if got != c.after || w.SHA256 != hash(got) || w.Bytes != int64(len(got)) || w.Created {
				t.Errorf("got %q, %+v; want %q", got, w, c.after)
			}
		})
	}
}

func TestAppendCreatesANoteAndStaysWithinItsLimit(t *testing.T) {
	root := t.TempDir()
	v := openVault(t, root, note.Limits{MaxNoteBytes: 10})
	if w, err := v.Append(ctx, "f/a.md", "12345"); err != nil || !w.Created || w.Bytes != 6 {
		t.Fatalf("%+v, %v", w, err)
	}
	_, err := v.Append(ctx, "f/a.md", "1234")
	wantCode(t, err, fault.TooLarge, "10")
	if w, err := v.Append(ctx, "f/a.md", "123"); err != nil || w.Bytes != 10 {
		t.Fatalf("%+v, %v", w, err)
	}
	_, err = v.Append(ctx, "f/a.md", "x")
	wantCode(t, err, fault.TooLarge)
	_, err = v.Append(ctx, "new/deep/b.md", strings.Repeat("x", 10))
	wantCode(t, err, fault.TooLarge)
	if _, err := os.Stat(filepath.Join(root, "new")); err == nil {
		t.Error("a refused append left its folders")
	}
	_, err = v.Append(ctx, "f/a.md", "")
	wantCode(t, err, fault.InvalidInput, "content: ")
	put(t, root, "wide.md", "\xff\xfea\x00")
	_, err = v.Append(ctx, "wide.md", "x")
	wantCode(t, err, fault.InvalidStore, "UTF-16")
}

func TestNoTwinsOfANameAreMade(t *testing.T) {
	root := t.TempDir()
	v := openVault(t, root, note.Limits{})
	for _, path := range []string{"Note.md", "caf\u00e9.md", "Fold/a.md", "stra\u00dfe.md", "\u212a.md"} {
		if _, err := v.Write(ctx, note.Draft{Path: path, Content: "x"}); err != nil {
			t.Fatal(path, err)
		}
	}
	for _, c := range []struct{ path, have string }{
		{"note.md", "Note.md"}, {"NOTE.MD", "Note.md"}, {"cafe\u0301.md", "caf\u00e9.md"}, {"CAF\u00c9.md", "caf\u00e9.md"},
		{"CAFE\u0301.md", "caf\u00e9.md"}, {"fold/a.md", "Fold"}, {"FOLD/new.md", "Fold"}, {"fold/deep/b.md", "Fold"},
		{"STRA\u1e9eE.md", "stra\u00dfe.md"}, {"k.md", "\u212a.md"}, {"No\u200bte.md", "Note.md"}, {"Note\u00ad.md", "Note.md"},
	} {
		for name, op := range operations(v) {
			if err := op(c.path); name == "read" {
				if fault.CodeOf(err) != fault.NotFound && err != nil {
					t.Errorf("read %q: %v", c.path, err)
				}
			} else {
				wantCode(t, err, fault.Conflict, fmt.Sprintf("%q", c.have))
			}
		}
	}
	// Twins that somebody else made are both used by their exact names.
	put(t, root, "note.md", "y")
	for _, path := range []string{"Note.md", "note.md"} {
		if _, err := v.Append(ctx, path, "z"); err != nil {
			t.Error(path, err)
		}
	}
	if _, err := v.Write(ctx, note.Draft{Path: "Fold/b.md", Content: "x"}); err != nil {
		t.Error(err)
	}
}

func TestACancelledCallChangesNothing(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.md", "x\n")
	v := openVault(t, root, note.Limits{})
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err := v.Append(gone, "a.md", "y")
	wantCode(t, err, fault.Cancelled)
	_, err = v.Read(gone, "a.md")
	wantCode(t, err, fault.Cancelled)
	_, err = v.List(gone, note.ListQuery{})
	wantCode(t, err, fault.Cancelled)
	_, err = v.Search(gone, note.SearchQuery{Query: "x"})
	wantCode(t, err, fault.Cancelled)
	_, err = v.Write(gone, note.Draft{Path: "new/b.md", Content: "y"})
	wantCode(t, err, fault.Cancelled)
	if got := tree(t, root); len(got) != 2 || got["a.md"] != "x\n" {
		t.Errorf("%v", got)
	}
}

func FuzzAppendKeepsWhatIsThere(f *testing.F) {
	f.Add([]byte("a\r\nb"), "c\nd")
	f.Add([]byte("\xff"), "\r\r\n")
	f.Add([]byte(""), "x")
	root := f.TempDir()
	v := openVault(f, root, note.Limits{})
	f.Fuzz(func(t *testing.T, old []byte, content string) {
		path := filepath.Join(root, "a.md")
		if err := os.WriteFile(path, old, 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := v.Append(ctx, "a.md", content)
		now := get(t, path)
		if err != nil {
			if now != string(old) {
				t.Fatalf("%v, and yet %q became %q", err, old, now)
			}
			return
		}
		if !strings.HasPrefix(now, string(old)) || w.SHA256 != hash(now) {
			t.Fatalf("%q became %q", old, now)
		}
		if !strings.HasSuffix(now, "\n") && !strings.HasSuffix(now, "\r") {
			t.Fatalf("%q has no newline at its end", now)
		}
		strip := func(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }
		if strip(now) != strip(string(old)+content) {
			t.Fatalf("%q and %q became %q", old, content, now)
		}
	})
}
