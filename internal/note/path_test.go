package note_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func TestEveryRefusedPathIsRefusedByEveryOperationWithItsRule(t *testing.T) {
	corpus := refusedPaths()
	seen := map[string]bool{}
	for _, c := range corpus {
		if seen[c.path] {
			t.Errorf("%q is in the corpus twice", c.path)
		}
		seen[c.path] = true
	}
	if len(seen) < 500 {
		t.Errorf("%d refused paths, want at least 500", len(seen))
	}
	t.Logf("%d refused paths", len(seen))
	dir := t.TempDir()
	root := filepath.Join(dir, "n")
	put(t, root, "ok/a.md", "x")
	put(t, root, ".hidden.md", "x")
	put(t, dir, "n-evil/a.md", "secret x")
	before := tree(t, dir)
	v := openVault(t, root, note.Limits{})
	for _, c := range corpus {
		for name, op := range operations(v) {
			err := op(c.path)
			if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(fault.Of(err).Message, c.why) {
				t.Errorf("%s %q: got %v, want invalid_input that says %q", name, c.path, err, c.why)
			}
			if msg := fault.Of(err).Message; !strings.HasPrefix(msg, "path: ") || strings.Contains(msg, dir) {
				t.Errorf("%s %q: message %q", name, c.path, msg)
			}
		}
		// As folders the same names are refused, but a folder needs no .md and
		// none at all is the whole root.
		if c.why == ".md" || c.path == "" {
			continue
		}
		for name, op := range folderOperations(v) {
			err := op(c.path)
			if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(fault.Of(err).Message, c.why) {
				t.Errorf("%s %q: got %v, want invalid_input that says %q", name, c.path, err, c.why)
			}
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("a refused path changed something:\n%s", diff)
	}
}

func TestEveryAcceptedPathIsWrittenReadAppendedListedAndFound(t *testing.T) {
	corpus := acceptedPaths()
	if len(corpus) < 60 {
		t.Errorf("%d accepted paths, want at least 60", len(corpus))
	}
	t.Logf("%d accepted paths", len(corpus))
	for _, path := range corpus {
		// Each in a root of its own: some could not be told from others.
		root := t.TempDir()
		v := openVault(t, root, note.Limits{})
		w, err := v.Write(ctx, note.Draft{Path: path, Content: "one needle"})
		if err != nil || !w.Created || w.Path != path {
			t.Fatalf("write %q: %+v, %v", path, w, err)
		}
		if _, err := v.Append(ctx, path, "two"); err != nil {
			t.Fatalf("append %q: %v", path, err)
		}
		c, err := v.Read(ctx, path)
		if err != nil || c.Content != "one needle\ntwo\n" {
			t.Fatalf("read %q: %+v, %v", path, c, err)
		}
		if got := get(t, filepath.Join(root, path)); got != c.Content {
			t.Fatalf("%q lies elsewhere", path)
		}
		l, err := v.List(ctx, note.ListQuery{})
		if err != nil || len(l.Notes) != 1 || l.Notes[0].Path != path {
			t.Fatalf("list %q: %+v, %v", path, l, err)
		}
		folder := ""
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			folder = path[:i]
		}
		s, err := v.Search(ctx, note.SearchQuery{Query: "NEEDLE", Folder: folder})
		if err != nil || len(s.Matches) != 1 || s.Matches[0].Path != path {
			t.Fatalf("search %q: %+v, %v", path, s, err)
		}
		v.Close()
		os.RemoveAll(root)
	}
}

func FuzzAPathIsRefusedOrStaysBeneathTheRoot(f *testing.F) {
	for _, c := range refusedPaths() {
		f.Add(c.path)
	}
	for _, p := range acceptedPaths() {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		names, err := note.ParseNotePath("path", path)
		if err != nil {
			wantCode(t, err, fault.InvalidInput, "path: ")
			return
		}
		if strings.Join(names, "/") != path {
			t.Fatalf("%q became %q", path, names)
		}
		if !filepath.IsLocal(path) {
			t.Fatalf("%q is accepted and not local", path)
		}
		for _, n := range names {
			if n == "" || n[0] == '.' || strings.ContainsAny(n, `\:*?"<>|`+"\x00\n") {
				t.Fatalf("%q has the name %q", path, n)
			}
		}
	})
}
