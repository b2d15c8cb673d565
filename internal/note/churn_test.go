package note_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func TestFilesThatComeAndGoMeanwhileDisturbNothing(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		put(t, root, fmt.Sprintf("kept/%d.md", i), "needle\n")
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !stop.Load(); i++ {
			dir := filepath.Join(root, fmt.Sprintf("fleeting%d", i%3))
			os.Mkdir(dir, 0o755)
			for j := range 20 {
				os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", j)), []byte("needle\n"), 0o644)
			}
			os.RemoveAll(dir)
		}
	})
	defer wg.Wait()
	defer stop.Store(true)
	v := openVault(t, root, note.Limits{MaxSearchResults: 500})
	for end := time.Now().Add(raceTime() / 3); time.Now().Before(end); {
		m, err := v.Search(ctx, note.SearchQuery{Query: "needle"})
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, match := range m.Matches {
			if strings.HasPrefix(match.Path, "kept/") {
				kept++
			}
		}
		if kept != 50 {
			t.Fatalf("%d of 50 notes that stay were found", kept)
		}
		l, err := v.List(ctx, note.ListQuery{})
		if err != nil || len(l.Notes) < 50 {
			t.Fatalf("%d, %v", len(l.Notes), err)
		}
		for _, e := range l.Notes {
			if _, err := v.Read(ctx, e.Path); err != nil && fault.CodeOf(err) != fault.NotFound {
				t.Fatal(err)
			}
		}
	}
}

// TestAFolderTakenBackByAFailedWriteDoesNotFailAnother has one writer whose
// writes fail behind a folder that they made, and one whose writes must not.
func TestAFolderTakenBackByAFailedWriteDoesNotFailAnother(t *testing.T) {
	root := t.TempDir()
	failing, good := openVault(t, root, note.Limits{}), openVault(t, root, note.Limits{})
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			_, err := failing.Write(ctx, note.Draft{Path: "x/y/a.md", Content: "x", IfSHA256: hash("x")})
			if fault.CodeOf(err) != fault.Conflict {
				t.Error(err)
				return
			}
		}
	})
	defer wg.Wait()
	defer stop.Store(true)
	for i := range 200 {
		if _, err := good.Write(ctx, note.Draft{Path: "x/y/b.md", Content: "x"}); err != nil {
			t.Fatal(i, err)
		}
		os.Remove(filepath.Join(root, "x/y/b.md"))
		os.Remove(filepath.Join(root, "x/y"))
		os.Remove(filepath.Join(root, "x"))
	}
}
