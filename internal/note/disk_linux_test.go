package note_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"handrail/internal/fault"
	"handrail/internal/note"
	"handrail/internal/testenv"
)

// mount makes a small file system of its own for a test.
func mount(t testing.TB, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestAFullDiskLosesNothingAndLeavesNothing(t *testing.T) {
	if testenv.Mounting(t) {
		return
	}
	root := mount(t, "size=256k")
	v := openVault(t, root, note.Limits{})
	put(t, root, "kept.md", strings.Repeat("k", 60_000)+"\n")
	put(t, root, "filler.bin", strings.Repeat("f", 120_000))
	before := tree(t, root)
	large := strings.Repeat("x", 90_000)
	for name, op := range map[string]func() error{
		"overwrite": func() error {
			_, err := v.Write(ctx, note.Draft{Path: "kept.md", Content: large, Overwrite: true})
			return err
		},
		"create": func() error { _, err := v.Write(ctx, note.Draft{Path: "a/b/new.md", Content: large}); return err },
		"append": func() error { _, err := v.Append(ctx, "kept.md", large[:30_000]); return err },
		"tasks.json": func() error {
			return v.SideFile("tasks.json").Update(ctx, func([]byte, bool) ([]byte, error) { return []byte(large), nil })
		},
	} {
		err := op()
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.Of(err).Message, "space") {
			t.Errorf("%s: %v", name, err)
		}
		if now := tree(t, root); len(now) != len(before) || now["kept.md"] != before["kept.md"] {
			t.Errorf("%s changed the folder: %d files", name, len(now))
		}
	}
	if _, err := v.Append(ctx, "small.md", "there is room for little"); err != nil {
		t.Error(err)
	}
	os.Remove(filepath.Join(root, "filler.bin"))
	if _, err := v.Append(ctx, "kept.md", large[:30_000]); err != nil {
		t.Error(err)
	}
}

func TestADiskWithoutFreeFilesLosesNothing(t *testing.T) {
	if testenv.Mounting(t) {
		return
	}
	root := mount(t, "size=1m,nr_inodes=4")
	put(t, root, "a.md", "x\n")
	put(t, root, "b.md", "x\n")
	put(t, root, "c.md", "x\n")
	v := openVault(t, root, note.Limits{})
	_, err := v.Append(ctx, "a.md", "y")
	wantCode(t, err, fault.Unavailable, "space")
	if got := get(t, filepath.Join(root, "a.md")); got != "x\n" {
		t.Errorf("got %q", got)
	}
}

func TestAReadOnlyDiskIsReadAndNotWritten(t *testing.T) {
	if testenv.Mounting(t) {
		return
	}
	root := mount(t, "size=1m")
	put(t, root, "a.md", "x\n")
	if err := syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	v := openVault(t, root, note.Limits{})
	if c, err := v.Read(ctx, "a.md"); err != nil || c.Content != "x\n" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, op := range operations(v) {
		if err := op("new.md"); name != "read" && fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := v.Append(ctx, "a.md", "y")
	wantCode(t, err, fault.Unavailable, "read-only")
}

// TestAWriteKeepsTheNotesModeOwnerAndAttributes needs root for the owner.
func TestAWriteKeepsTheNotesModeOwnerAndAttributes(t *testing.T) {
	root := t.TempDir()
	path := put(t, root, "a.md", "x\n")
	v := openVault(t, root, note.Limits{})
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o664, 0o666, 0o755} {
		os.Chmod(path, mode)
		if os.Getuid() == 0 {
			os.Chown(path, 1234, 2345)
		}
		attribute := syscall.Setxattr(path, "user.tag", []byte("kept"), 0)
		if _, err := v.Append(ctx, "a.md", "y"); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Write(ctx, note.Draft{Path: "a.md", Content: "z", Overwrite: true}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v became %v, %v", mode, info.Mode(), err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if os.Getuid() == 0 && (st.Uid != 1234 || st.Gid != 2345) {
			t.Errorf("owner became %d:%d", st.Uid, st.Gid)
		}
		value := make([]byte, 10)
		if n, err := syscall.Getxattr(path, "user.tag", value); attribute == nil && (err != nil || string(value[:n]) != "kept") {
			t.Errorf("the attribute is lost: %v", err)
		}
	}
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	if _, err := v.Write(ctx, note.Draft{Path: "d/new.md", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"d": 0o750, "d/new.md": 0o640} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

// TestFilesThatMayNotBeReadOrWrittenGetAnAnswer runs as nobody, since root may
// do everything.
func TestFilesThatMayNotBeReadOrWrittenGetAnAnswer(t *testing.T) {
	if testenv.Unprivileged(t) {
		return
	}
	root := t.TempDir()
	put(t, root, "ok.md", "needle\n")
	put(t, root, "closed.md", "# Secret\nneedle\n")
	put(t, root, "fixed.md", "needle\n")
	put(t, root, "shut/a.md", "needle\n")
	put(t, root, "still/a.md", "needle\n")
	chmod := func(name string, mode os.FileMode) {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod("closed.md", 0)
	chmod("fixed.md", 0o444)
	chmod("shut", 0)
	chmod("still", 0o555)
	defer chmod("shut", 0o755)
	defer chmod("still", 0o755)
	v := openVault(t, root, note.Limits{})
	for _, c := range []struct{ op, path string }{
		{"read", "closed.md"}, {"append", "closed.md"}, {"overwrite", "closed.md"}, {"append", "fixed.md"}, {"overwrite", "fixed.md"},
		{"read", "shut/a.md"}, {"append", "shut/a.md"}, {"write", "shut/new.md"}, {"append", "still/a.md"}, {"write", "still/new.md"}, {"write", "still/deep/new.md"},
	} {
		err := operations(v)[c.op](c.path)
		if fault.CodeOf(err) != fault.Unavailable || strings.Contains(fault.Of(err).Message, root) {
			t.Errorf("%s %s: %v", c.op, c.path, err)
		}
	}
	l, err := v.List(ctx, note.ListQuery{})
	var listed []string
	for _, e := range l.Notes {
		listed = append(listed, e.Path+"="+e.Title)
	}
	if want := "closed.md=closed fixed.md=fixed ok.md=ok still/a.md=a"; err != nil || strings.Join(listed, " ") != want {
		t.Errorf("%v, %v", listed, err)
	}
	m := search(t, v, "needle")
	if len(m.Matches) != 3 || len(m.Skipped) != 2 || m.Skipped[0].Path != "closed.md" || m.Skipped[1].Path != "shut" {
		t.Errorf("%+v", m)
	}
	if got := get(t, filepath.Join(root, "fixed.md")); got != "needle\n" {
		t.Errorf("a note that may not be written holds %q", got)
	}
}
