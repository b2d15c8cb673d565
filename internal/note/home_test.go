package note_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/note"
)

// A synchroniser or a fresh clone may put another folder where the root was.
// What is written into the old one would be seen by nobody.
func TestAFolderThatWasMovedOrReplacedIsLeftAloneUntilItIsBack(t *testing.T) {
	for what, replace := range map[string]func(t *testing.T, root, aside string) bool{
		"moved": func(t *testing.T, root, aside string) bool { return os.Rename(root, aside) == nil },
		"replaced": func(t *testing.T, root, aside string) bool {
			if os.Rename(root, aside) != nil {
				return false
			}
			put(t, root, "b/a.md", "of another folder")
			return true
		},
		"behind a link that leads elsewhere": func(t *testing.T, root, aside string) bool {
			put(t, aside+" other", "b/a.md", "of another folder")
			if os.Rename(root, aside) != nil || os.Symlink(aside+" other", root) != nil {
				return false
			}
			return true
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			root, aside := filepath.Join(dir, "root"), filepath.Join(dir, "aside")
			put(t, root, "b/a.md", "x")
			v := openVault(t, root, note.Limits{})
			if !replace(t, root, aside) {
				if runtime.GOOS != "windows" {
					t.Fatal("the folder could not be moved")
				}
				return // Windows keeps an open folder where it is, or makes no links
			}
			before := tree(t, dir)
			all := operations(v)
			all["side file"] = func(string) error {
				return v.SideFile("tasks.json").Update(ctx, func([]byte, bool) ([]byte, error) { return []byte("[]"), nil })
			}
			all["side file, read"] = func(string) error { _, _, err := v.SideFile("tasks.json").Load(ctx); return err }
			all["complete"] = func(string) error { _, _, err := v.Complete(ctx, "b"); return err }
			for name, op := range all {
				wantCode(t, op("b/a.md"), fault.Unavailable, "moved or removed")
				if t.Failed() {
					t.Fatal(name)
				}
			}
			for _, op := range folderOperations(v) {
				wantCode(t, op(""), fault.Unavailable, "moved or removed")
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
			if err := os.RemoveAll(root); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(aside, root); err != nil {
				t.Fatal(err)
			}
			if got, err := v.Read(ctx, "b/a.md"); err != nil || got.Content != "x" {
				t.Errorf("back again, it reads %q, %v", got.Content, err)
			}
		})
	}
}

// No caller names the data file, so what it is, is no fault of a caller's.
func TestADataFileThatIsNoneIsAnInvalidStoreAndLeftAlone(t *testing.T) {
	makes := map[string]func(path, outside string) error{
		"a folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
	}
	if runtime.GOOS != "windows" {
		makes["a link out"] = func(path, outside string) error { return os.Symlink(outside, path) }
		makes["a link to a hidden file"] = func(path, _ string) error { return os.Symlink(".tasks.json", path) }
		makes["a link to a note"] = func(path, _ string) error { return os.Symlink("a.md", path) }
		makes["a link to itself"] = func(path, _ string) error { return os.Symlink("tasks.json", path) }
	}
	for what, make := range makes {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			root := filepath.Join(dir, "root")
			put(t, root, "a.md", "[]")
			put(t, root, ".tasks.json", "[]")
			outside := put(t, dir, "tasks.json", "[]")
			if err := make(filepath.Join(root, "tasks.json"), outside); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			f := openVault(t, root, note.Limits{}).SideFile("tasks.json")
			_, _, err := f.Load(ctx)
			wantCode(t, err, fault.InvalidStore, "tasks.json: ", "left as it is")
			err = f.Update(ctx, func([]byte, bool) ([]byte, error) { return []byte("[1]"), nil })
			wantCode(t, err, fault.InvalidStore, "tasks.json: ", "left as it is")
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("something changed:\n%s", diff)
			}
		})
	}
	// What the caller of Update refuses is passed on as it is.
	f := openVault(t, t.TempDir(), note.Limits{}).SideFile("tasks.json")
	err := f.Update(ctx, func([]byte, bool) ([]byte, error) { return nil, fault.New(fault.InvalidInput, "id: too large") })
	wantCode(t, err, fault.InvalidInput, "id: ")
	if strings.Contains(err.Error(), "left as it is") {
		t.Error(err)
	}
}
