package note_test

import (
	"fmt"
	"sync"
	"testing"

	"handrail/internal/fault"
	"handrail/internal/note"
)

func TestClosingWhileCallsAreUnderWayHarmsNothing(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		put(t, root, fmt.Sprintf("%d.md", i), "x\n")
	}
	for range 20 {
		v := openVault(t, root, note.Limits{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_, _ = v.Search(ctx, note.SearchQuery{Query: "nowhere"})
				_, _ = v.Append(ctx, "1.md", "y")
				_, _ = v.List(ctx, note.ListQuery{})
				if changes, err := v.Watch(ctx); err == nil {
					for range changes {
					}
				}
			})
		}
		v.Close()
		wg.Wait()
	}
	v := openVault(t, root, note.Limits{})
	v.Close()
	_, err := v.Watch(ctx)
	wantCode(t, err, fault.Unavailable)
	if _, err := v.Read(ctx, "1.md"); err == nil {
		t.Error("a closed vault was read")
	}
}

func TestARootThatIsNoFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "x")
	_, err := note.Open(dir+"/nowhere", note.Limits{})
	wantCode(t, err, fault.NotFound, "root: ")
	_, err = note.Open(dir+"/file", note.Limits{})
	wantCode(t, err, fault.InvalidInput, "root: ")
}
