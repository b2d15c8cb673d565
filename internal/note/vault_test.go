package note_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/note"
	"handrail/internal/testenv"
)

// openVault opens dir as a vault that the test closes.
func openVault(t testing.TB, dir string, limits note.Limits) *note.Vault {
	t.Helper()
	v, err := note.Open(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// put makes a file beneath dir, and its folders.
func put(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func get(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantCode(t testing.TB, err error, code fault.Code, says ...string) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Fatalf("got %q (%v), want %q", got, err, code)
	}
	for _, part := range says {
		if msg := fault.Of(err).Message; !strings.Contains(msg, part) {
			t.Fatalf("message %q does not contain %q", msg, part)
		}
	}
}

// tree returns every file beneath dir with its content, so that a test can tell
// that nothing changed.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out[rel] = d.Type().String()
		if d.Type().IsRegular() {
			out[rel] = get(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var ctx = context.Background()

func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// operations is every way of giving the vault a note's path.
func operations(v *note.Vault) map[string]func(path string) error {
	return map[string]func(path string) error{
		"read":  func(p string) error { _, err := v.Read(ctx, p); return err },
		"write": func(p string) error { _, err := v.Write(ctx, note.Draft{Path: p, Content: "x"}); return err },
		"overwrite": func(p string) error {
			_, err := v.Write(ctx, note.Draft{Path: p, Content: "x", Overwrite: true})
			return err
		},
		"append": func(p string) error { _, err := v.Append(ctx, p, "x"); return err },
	}
}

// folderOperations is every way of giving the vault a folder's path.
func folderOperations(v *note.Vault) map[string]func(path string) error {
	return map[string]func(path string) error{
		"list":   func(p string) error { _, err := v.List(ctx, note.ListQuery{Folder: p}); return err },
		"search": func(p string) error { _, err := v.Search(ctx, note.SearchQuery{Folder: p, Query: "x"}); return err },
	}
}

// raceTime is how long a race is run: seconds, or minutes of them on request.
func raceTime() time.Duration {
	if testenv.Long() {
		return time.Minute
	}
	return 2 * time.Second
}
