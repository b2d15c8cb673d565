package note_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/note"
)

func TestAPathIsCompletedInOrder(t *testing.T) {
	root := t.TempDir()
	all := []string{"a-b.md", "a.md", "a/b.md", "a/bc.md", "a/b/c.md", "ab.md", "b/a.md", "é/ü.md", "Z.md"}
	for _, p := range all {
		put(t, root, p, "x")
	}
	put(t, root, ".a/hidden.md", "x")
	slices.Sort(all)
	v := openVault(t, root, note.Limits{})
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/b/", "a/b/c.md", "ab", "b", "c", "é", "é/", "é/ü", "z", "Z", "..", "../", "/", "/a", ".", ".a/", "a//", "a/b.md/", "nowhere/x", "a\x00", "\xff"} {
		want := []string{}
		for _, p := range all {
			if strings.HasPrefix(p, prefix) {
				want = append(want, p)
			}
		}
		got, more, err := v.Complete(ctx, prefix)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || more {
			t.Errorf("%q: %t, %v\n%s", prefix, more, err, diff)
		}
	}
	for i := range 150 {
		put(t, root, fmt.Sprintf("many/%d.md", i), "x")
	}
	if got, more, err := v.Complete(ctx, "many/"); len(got) != note.MaxCompleted || !more || err != nil {
		t.Errorf("%d, %t, %v", len(got), more, err)
	}
}
