package note_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/internal/fault"
	"handrail/internal/note"
	"handrail/internal/testenv"
)

// junction makes a junction, which unlike a link needs no rights.
func junction(t testing.TB, target, path string) {
	t.Helper()
	if out, err := exec.Command("cmd", "/c", "mklink", "/J", path, target).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestAJunctionLeadsAnywhereInsideThatTheRulesAllowAndNowhereElse(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "n")
	put(t, root, "sub/a.md", "inside\n")
	put(t, root, ".hidden/a.md", "secret\n")
	put(t, dir, "n-evil/a.md", "secret\n")
	junction(t, filepath.Join(root, "sub"), filepath.Join(root, "in"))
	junction(t, strings.ToUpper(filepath.Join(root, "sub")), filepath.Join(root, "upper"))
	junction(t, filepath.Join(dir, "n-evil"), filepath.Join(root, "out"))
	junction(t, filepath.Join(root, ".hidden"), filepath.Join(root, "hidden"))
	junction(t, root, filepath.Join(root, "sub", "top"))
	v := openVault(t, root, note.Limits{})
	for _, path := range []string{"in/a.md", "upper/a.md", "sub/top/sub/a.md"} {
		if c, err := v.Read(ctx, path); err != nil || c.Content != "inside\n" {
			t.Errorf("%s: %+v, %v", path, c, err)
		}
	}
	for _, path := range []string{"out/a.md", "hidden/a.md", "out/new.md"} {
		for name, op := range operations(v) {
			if err := op(path); fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("%s %s: %v", name, path, err)
			}
		}
	}
	if m := search(t, v, "secret"); len(m.Matches) > 0 {
		t.Errorf("%+v", m)
	}
	if m := search(t, v, "inside"); len(m.Matches) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestNamesAreComparedWithoutCaseAndWrittenExactly(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "Note.md", "x\n")
	v := openVault(t, root, note.Limits{})
	if c, err := v.Read(ctx, "NOTE.md"); err != nil || c.Content != "x\n" {
		t.Fatalf("%+v, %v", c, err)
	}
	_, err := v.Append(ctx, "note.md", "y")
	wantCode(t, err, fault.Conflict, `"Note.md"`)
	if _, err := v.Append(ctx, "Note.md", "y"); err != nil || get(t, path) != "x\ny\n" {
		t.Fatal(err)
	}
}

func TestAShortNameOpensNothing(t *testing.T) {
	root := t.TempDir()
	put(t, root, ".hidden-folder/a.md", "secret\n")
	if _, err := os.Stat(filepath.Join(root, "HIDDEN~1")); err != nil {
		testenv.LeftOut(t, "this volume makes no short names")
	}
	_, err := openVault(t, root, note.Limits{}).Read(ctx, "HIDDEN~1/a.md")
	wantCode(t, err, fault.InvalidInput, "full name")
}
