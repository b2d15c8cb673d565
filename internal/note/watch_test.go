package note_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"handrail/internal/note"
)

// expect reads changes until each wanted path was told, and fails after five
// seconds or at a path that is not wanted.
func expect(t testing.TB, changes <-chan note.Change, want ...note.Change) {
	t.Helper()
	open := map[string]bool{}
	for _, c := range want {
		open[c.Path] = c.Listed
	}
	late := time.After(5 * time.Second)
	for len(open) > 0 {
		select {
		case c, ok := <-changes:
			if !ok {
				t.Fatal("the channel was closed")
			}
			listed, wanted := open[c.Path]
			if !wanted && !slices.ContainsFunc(want, func(w note.Change) bool { return w.Path == c.Path }) {
				t.Fatalf("told of %+v, want %v", c, want)
			}
			if wanted && listed && !c.Listed {
				t.Fatalf("told of %+v without the listing", c)
			}
			delete(open, c.Path)
		case <-late:
			t.Fatalf("not told of %v", open)
		}
	}
}

func quiet(t testing.TB, changes <-chan note.Change) {
	t.Helper()
	select {
	case c := <-changes:
		t.Fatalf("told of %+v", c)
	case <-time.After(300 * time.Millisecond):
	}
}

func TestWatchTellsOfChangesByUsAndByAnEditor(t *testing.T) {
	for _, mode := range []string{"events", "polling"} {
		t.Run(mode, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, "a.md", "x\n")
			put(t, root, "sub/b.md", "x\n")
			put(t, root, ".hidden/c.md", "x\n")
			v := openVault(t, root, note.Limits{})
			watch := v.Watch
			if mode == "polling" {
				watch = v.WatchByPolling
			}
			stop, cancel := context.WithCancel(ctx)
			changes, err := watch(stop)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.Append(ctx, "a.md", "y"); err != nil {
				t.Fatal(err)
			}
			expect(t, changes, note.Change{Path: "a.md"})
			f, err := os.OpenFile(filepath.Join(root, "sub/b.md"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 20 { // an editor that writes in pieces
				fmt.Fprintln(f, i)
			}
			f.Close()
			expect(t, changes, note.Change{Path: "sub/b.md"})
			put(t, root, ".hidden/c.md", "changed")
			put(t, root, ".handrail-1.tmp", "changed")
			put(t, root, "other.txt", "changed")
			quiet(t, changes)
			if _, err := v.Write(ctx, note.Draft{Path: "new/deep/n.md", Content: "x"}); err != nil {
				t.Fatal(err)
			}
			expect(t, changes, note.Change{Path: "new/deep/n.md", Listed: true})
			put(t, root, "new/deep/n.md", "changed by hand")
			expect(t, changes, note.Change{Path: "new/deep/n.md"})
			os.Remove(filepath.Join(root, "a.md"))
			expect(t, changes, note.Change{Path: "a.md", Listed: true})
			os.Rename(filepath.Join(root, "new"), filepath.Join(root, "moved"))
			if mode == "events" { // which do not say what was in the folder
				expect(t, changes, note.Change{Listed: true})
				put(t, root, "moved/deep/n.md", "after the move")
				expect(t, changes, note.Change{Path: "moved/deep/n.md"})
			} else {
				expect(t, changes, note.Change{Path: "new/deep/n.md", Listed: true}, note.Change{Path: "moved/deep/n.md", Listed: true})
			}
			cancel()
			for range changes {
			}
		})
	}
}

func TestManyChangesAreToldAsOne(t *testing.T) {
	root := t.TempDir()
	v := openVault(t, root, note.Limits{})
	changes, err := v.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		put(t, root, fmt.Sprintf("%d.md", i), "x")
	}
	told := map[string]bool{}
	for late := time.After(5 * time.Second); !told[""] && len(told) < 3000; {
		select {
		case c := <-changes:
			told[c.Path] = true
		case <-late:
			t.Fatalf("%d notes were told and no word of the rest", len(told))
		}
	}
	v.Close()
	for range changes {
	}
}
