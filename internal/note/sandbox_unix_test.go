//go:build unix

package note_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// linked builds a folder n, its sibling n-evil, and every kind of link.
func linked(t testing.TB) (dir, root string) {
	dir = t.TempDir()
	root = filepath.Join(dir, "n")
	put(t, root, "a.md", "inside\n")
	put(t, root, "sub/b.md", "inside\n")
	put(t, root, "sub/deep/c.md", "inside\n")
	put(t, root, ".secret.md", "hidden\n")
	put(t, root, ".git/config.md", "hidden\n")
	put(t, root, "tasks.json", "[]")
	put(t, root, "data.txt", "text")
	put(t, root, "CON.md", "device\n")
	put(t, dir, "n-evil/secret.md", "secret\n")
	put(t, dir, "outside.md", "secret\n")
	return dir, root
}

func TestALinkLeadsAnywhereInsideThatTheRulesAllowAndNowhereElse(t *testing.T) {
	dir, root := linked(t)
	alias := filepath.Join(dir, "alias")
	link(t, "n", alias)
	for _, c := range []struct{ name, target, path, refused string }{
		{"relative to a note", "a.md", "l.md", ""},
		{"absolute to a note", root + "/sub/b.md", "l.md", ""},
		{"absolute through the root's other name", alias + "/a.md", "l.md", ""},
		{"to a folder", "sub", "l", ""},
		{"absolute to a folder", root + "/sub", "l", ""},
		{"up and down inside", "../a.md", "sub/l.md", ""},
		{"far up and down inside", "../../sub/../a.md", "sub/deep/l.md", ""},
		{"from deep to the top", root, "sub/l", ""},
		{"with dots and slashes", ".//sub/./b.md", "l.md", ""},
		{"of another name", "sub/b.md", "x y.MD", ""},
		{"to a sibling with the same beginning", root + "-evil/secret.md", "l.md", "out of the notes folder"},
		{"relative to the sibling", "../n-evil/secret.md", "l.md", "out of the notes folder"},
		{"to the sibling folder", root + "-evil", "l", "out of the notes folder"},
		{"relative to the sibling folder", "../n-evil", "l", "out of the notes folder"},
		{"out and back in", "../n/a.md", "l.md", "out of the notes folder"},
		{"deep out and back in", "../../n/a.md", "sub/l.md", "out of the notes folder"},
		{"absolute out and back in", root + "/../n/a.md", "l.md", "out of the notes folder"},
		{"to a file outside", dir + "/outside.md", "l.md", "out of the notes folder"},
		{"to the system", "/etc/passwd", "l.md", "out of the notes folder"},
		{"to the top of the system", "/", "l", "out of the notes folder"},
		{"to proc", "/proc/self/root", "l", "out of the notes folder"},
		{"to the parent", "..", "l", "out of the notes folder"},
		{"to a hidden note", ".secret.md", "l.md", "hidden"},
		{"absolute to a hidden note", root + "/.secret.md", "l.md", "hidden"},
		{"into a hidden folder", ".git/config.md", "l.md", "hidden"},
		{"to a hidden folder", ".git", "l", "hidden"},
		{"hidden folder and back", ".git/../a.md", "l.md", "hidden"},
		{"to tasks.json", "tasks.json", "l.md", ".md"},
		{"to another file", "data.txt", "l.md", ".md"},
		{"to a folder as a note", "sub", "l.md", ".md"},
		{"to a device name", "CON.md", "l.md", "device"},
		{"to itself", "l.md", "l.md", "circle"},
		{"dangling to a hidden name", ".new.md", "l.md", "hidden"},
		{"dangling to no note", "new.txt", "l.md", ".md"},
		{"dangling outside", "../new.md", "l.md", "out of the notes folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := filepath.Join(root, c.path)
			link(t, c.target, at)
			defer os.Remove(at)
			v := openVault(t, alias, note.Limits{})
			before := tree(t, dir)
			path := c.path
			if !strings.HasSuffix(strings.ToLower(path), ".md") {
				path += map[bool]string{true: "/b.md", false: "/secret.md"}[c.refused == ""]
				if c.target == root {
					path = c.path + "/a.md"
				}
			}
			if c.refused == "" {
				got, err := v.Read(ctx, path)
				if err != nil || got.Content != "inside\n" {
					t.Fatalf("read: %+v, %v", got, err)
				}
				if _, err := v.Append(ctx, path, "more"); err != nil {
					t.Fatal(err)
				}
				if info, err := os.Lstat(at); err != nil || info.Mode()&os.ModeSymlink == 0 {
					t.Fatal("the write replaced the link instead of its target")
				}
				if got := get(t, filepath.Join(root, path)); got != "inside\nmore\n" {
					t.Fatalf("the target holds %q", got)
				}
				if _, err := v.Write(ctx, note.Draft{Path: path, Content: "inside\n", Overwrite: true}); err != nil {
					t.Fatal(err)
				}
				return
			}
			for name, op := range operations(v) {
				err := op(path)
				if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s: got %v, want invalid_input that says %q", name, err, c.refused)
				}
				if strings.Contains(fault.Of(err).Message, dir) {
					t.Errorf("%s: the message tells the root: %v", name, err)
				}
			}
			if path != c.path {
				for _, op := range folderOperations(v) {
					wantCode(t, op(c.path), fault.InvalidInput, "folder: ", c.refused)
				}
			}
			// Whatever lies there, a listing or a search of it all shows nothing.
			for _, e := range list(t, v) {
				if strings.HasPrefix(e.Path, "l") {
					t.Errorf("listed %q", e.Path)
				}
			}
			if m, err := v.Search(ctx, note.SearchQuery{Query: "secret"}); err != nil || len(m.Matches) > 0 {
				t.Errorf("search: %+v, %v", m, err)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
		})
	}
}

func list(t testing.TB, v *note.Vault) []note.Entry {
	t.Helper()
	l, err := v.List(ctx, note.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Notes
}

func TestALinkToNothingIsWrittenWhereItLeads(t *testing.T) {
	_, root := linked(t)
	link(t, "sub/new.md", filepath.Join(root, "l.md"))
	v := openVault(t, root, note.Limits{})
	_, err := v.Read(ctx, "l.md")
	wantCode(t, err, fault.NotFound)
	if _, err := v.Write(ctx, note.Draft{Path: "l.md", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := get(t, filepath.Join(root, "sub/new.md")); got != "x" {
		t.Fatalf("got %q", got)
	}
}

func TestCyclesOfLinksEndWithAnAnswer(t *testing.T) {
	_, root := linked(t)
	link(t, "two", filepath.Join(root, "one"))
	link(t, "one", filepath.Join(root, "two"))
	link(t, "..", filepath.Join(root, "sub/up"))
	v := openVault(t, root, note.Limits{})
	_, err := v.Read(ctx, "one/a.md")
	wantCode(t, err, fault.InvalidInput, "links")
	up := strings.Repeat("sub/up/", 30)
	if c, err := v.Read(ctx, up+"a.md"); err != nil || c.Content != "inside\n" {
		t.Fatalf("%+v, %v", c, err)
	}
	_, err = v.Read(ctx, strings.Repeat("sub/up/", 45)+"a.md")
	wantCode(t, err, fault.InvalidInput, "links")
	if n := len(list(t, v)); n != 3 {
		t.Fatalf("%d notes listed", n)
	}
}

func TestOnlyRegularFilesAreOpenedAndNothingBlocks(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.md", "x\n")
	if err := syscall.Mkfifo(filepath.Join(root, "fifo.md"), 0o666); err != nil {
		t.Fatal(err)
	}
	os.Mkdir(filepath.Join(root, "folder.md"), 0o755)
	link(t, "fifo.md", filepath.Join(root, "l.md"))
	names := []string{"fifo.md", "folder.md", "l.md"}
	if l, err := net.Listen("unix", filepath.Join(root, "sock.md")); err == nil {
		defer l.Close()
		names = append(names, "sock.md")
	}
	if os.Getuid() == 0 && syscall.Mknod(filepath.Join(root, "dev.md"), syscall.S_IFCHR|0o666, 1<<8|5) == nil {
		names = append(names, "dev.md")
	}
	v := openVault(t, root, note.Limits{})
	start := time.Now()
	for _, path := range names {
		for _, op := range operations(v) {
			wantCode(t, op(path), fault.InvalidInput, "path: ")
		}
		wantCode(t, operations(v)["read"](path+"/a.md"), fault.NotFound)
	}
	if got := list(t, v); len(got) != 1 {
		t.Errorf("listed %+v", got)
	}
	if m, err := v.Search(ctx, note.SearchQuery{Query: "x"}); err != nil || len(m.Matches) != 1 {
		t.Errorf("search: %+v, %v", m, err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestAFolderSwappedForALinkWhileItIsReadShowsNothingOutside races the vault
// against somebody who turns a folder into a link and back as fast as possible.
func TestAFolderSwappedForALinkWhileItIsReadShowsNothingOutside(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "n")
	put(t, root, "f/a.md", "inside\n")
	put(t, root, ".hidden/a.md", "secret\n")
	put(t, dir, "n-evil/a.md", "secret\n")
	put(t, root, "file.md", "inside\n")
	put(t, root, ".file.md", "secret\n")
	v := openVault(t, root, note.Limits{})
	var stop atomic.Bool
	swapped := make(chan int, 1)
	go func() {
		n := 0
		at := func(name string) string { return filepath.Join(root, name) }
		for ; !stop.Load(); n++ {
			target := []string{".hidden", "../n-evil", filepath.Join(dir, "n-evil")}[n%3]
			os.Rename(at("f"), at("f.real"))
			os.Symlink(target, at("f"))
			os.Remove(at("f"))
			os.Rename(at("f.real"), at("f"))
			os.Rename(at("file.md"), at("file.real"))
			os.Symlink(".file.md", at("file.md"))
			os.Remove(at("file.md"))
			os.Rename(at("file.real"), at("file.md"))
		}
		swapped <- n
	}()
	defer func() {
		stop.Store(true)
		t.Logf("%d swaps", <-swapped)
	}()
	evil := map[string]string{}
	for _, name := range []string{"n-evil/a.md", "n/.hidden/a.md", "n/.file.md"} {
		evil[name] = get(t, filepath.Join(dir, name))
	}
	reads := 0
	for end := time.Now().Add(raceTime()); time.Now().Before(end); {
		for _, path := range []string{"f/a.md", "file.md"} {
			if c, err := v.Read(ctx, path); err == nil {
				reads++
				if strings.Contains(c.Content, "secret") {
					t.Fatalf("read %q from %q", c.Content, path)
				}
			}
		}
		if m, err := v.Search(ctx, note.SearchQuery{Query: "secret"}); err == nil && len(m.Matches) > 0 {
			t.Fatalf("search found %+v", m.Matches)
		}
		if m, err := v.Search(ctx, note.SearchQuery{Query: "secret", Folder: "f"}); err == nil && len(m.Matches) > 0 {
			t.Fatalf("search found %+v", m.Matches)
		}
		_, _ = v.Append(ctx, "file.md", "x")
		_, _ = v.Write(ctx, note.Draft{Path: "f/a.md", Content: "inside\n", Overwrite: true, IfSHA256: hash("inside\n")})
	}
	t.Logf("%d good reads", reads)
	if reads == 0 {
		t.Error("nothing could be read at all")
	}
	for name, content := range evil {
		if got := get(t, filepath.Join(dir, name)); got != content {
			t.Errorf("%s was changed to %q", name, got)
		}
	}
}

func TestAHardLinkIsReadAndAWriteLeavesItsOtherNameAlone(t *testing.T) {
	dir, root := linked(t)
	outside := filepath.Join(dir, "outside.md")
	if err := os.Link(outside, filepath.Join(root, "hard.md")); err != nil {
		t.Fatal(err)
	}
	v := openVault(t, root, note.Limits{})
	if _, err := v.Append(ctx, "hard.md", "more"); err != nil {
		t.Fatal(err)
	}
	if got := get(t, outside); got != "secret\n" {
		t.Fatalf("the outside holds %q", got)
	}
}

func TestDeepTreesAndLongNamesGetAnAnswer(t *testing.T) {
	root := t.TempDir()
	// Deeper than any path may be long, made step by step.
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		if err := dir.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		if i == 300 || i == 600 {
			dir.WriteFile("n.md", []byte("needle"), 0o644)
		}
		next, err := dir.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		dir = next
	}
	dir.Close()
	long := strings.Repeat("x", 252) + ".md"
	put(t, root, "long/"+long, "needle")
	for i := range 300 {
		put(t, root, fmt.Sprintf("wide/%d/a.md", i), "y")
	}
	v := openVault(t, root, note.Limits{})
	m, err := v.Search(ctx, note.SearchQuery{Query: "needle"})
	if err != nil || len(m.Matches) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := len(list(t, v)); got != 302 {
		t.Fatalf("%d listed", got)
	}
	for _, match := range m.Matches {
		if _, err := v.Read(ctx, match.Path); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(root, 0o755)
}
