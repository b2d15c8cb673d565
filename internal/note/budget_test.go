package note_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"handrail/internal/note"
)

// An answer goes into a model's context: 25,000 tokens of 4 bytes at most,
// whatever the folder holds and however many results are allowed.
func TestASearchOfLongLinesAndLongPathsIsCutByItsBytes(t *testing.T) {
	root := t.TempDir()
	deep := strings.Repeat(strings.Repeat("x", 240)+"/", 3)
	for i := range 60 {
		put(t, root, fmt.Sprintf("%slarge%03d.md", deep, i), strings.Repeat("長\n", 1000))
		put(t, root, fmt.Sprintf("%ssmall%03d.md", deep, i), strings.Repeat("needle "+strings.Repeat("\"長", 240)+"\n", 2))
	}
	v := openVault(t, root, note.Limits{MaxReadBytes: 3000, MaxSearchResults: 1000})
	m := search(t, v, "NEEDLE")
	if !m.Truncated || len(m.Matches) == 0 || len(m.Skipped) == 0 || len(m.Skipped)+m.SkippedMore != 60 {
		t.Errorf("truncated %v, %d matches, %d skipped and %d more", m.Truncated, len(m.Matches), len(m.Skipped), m.SkippedMore)
	}
	if b, _ := json.Marshal(m); len(b) > 100_000 || len(b) < 60_000 {
		t.Errorf("%d bytes", len(b))
	}
}
