package note_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/internal/note"
	"handrail/internal/testenv"
)

const (
	benchBytes  = 4050
	benchNeedle = "Zwiebelkuchen Rezept"
	benchRare   = 7 // notes with the needle
)

// benchTree builds folders of each notes, 4 KB a note, from words as common as
// in English.
func benchTree(b testing.TB, folders, each int) string {
	b.Helper()
	root := b.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 5000)
	for i := range words {
		n := 2 + rng.IntN(8)
		w := make([]byte, n)
		for j := range w {
			w[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(rng.IntN(26), rng.IntN(26))]
		}
		words[i] = string(w)
	}
	for f := range folders {
		dir := filepath.Join(root, fmt.Sprintf("folder-%03d", f))
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for n := range each {
			var t strings.Builder
			fmt.Fprintf(&t, "# Note %d of %d\n\n", n, f)
			for t.Len() < benchBytes {
				for range 12 {
					t.WriteString(words[min(rng.IntN(len(words)), rng.IntN(len(words)))])
					t.WriteByte(' ')
				}
				t.WriteByte('\n')
			}
			if i := f*each + n; i%(folders*each/benchRare) == 100 {
				t.WriteString("ein zwiebelkuchen rezept\n")
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("note-%05d.md", n)), []byte(t.String()), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return root
}

// BenchmarkNotes puts search and listing of the measured case, 20,000 notes of
// 81 MB, beside ripgrep and a bare walk.
func BenchmarkNotes(b *testing.B) { benchNotes(b, 400, 50) }

// BenchmarkFlat has the same notes in one folder.
func BenchmarkFlat(b *testing.B) { benchNotes(b, 1, 20_000) }

// BenchmarkScale has 100,000 notes, on request.
func BenchmarkScale(b *testing.B) {
	if testenv.Long() {
		benchNotes(b, 2_000, 50)
	}
}

func benchNotes(b *testing.B, folders, each int) {
	root := benchTree(b, folders, each)
	open := func() *note.Vault {
		v, err := note.Open(root, note.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	search := func(b *testing.B, v *note.Vault, query string, want int) {
		b.Helper()
		m, err := v.Search(ctx, note.SearchQuery{Query: query})
		if err != nil || len(m.Matches) < want {
			b.Fatal(len(m.Matches), err)
		}
	}
	b.Run("ripgrep", func(b *testing.B) {
		rg, err := exec.LookPath("rg")
		if err != nil {
			testenv.LeftOut(b, "ripgrep is not installed")
		}
		for b.Loop() {
			if out, err := exec.Command(rg, "-i", benchNeedle, root).Output(); err != nil || strings.Count(string(out), "\n") != benchRare {
				b.Fatal(string(out), err)
			}
		}
	})
	b.Run("search/first", func(b *testing.B) {
		for b.Loop() {
			v := open()
			search(b, v, benchNeedle, benchRare)
			b.StopTimer()
			v.Close()
			b.StartTimer()
		}
	})
	for _, q := range []struct{ name, query string }{
		{"rare", benchNeedle}, {"none", "nowhere to be found"}, {"word", "zwiebel"}, {"short", "zx"}, {"common", "et"}, {"umlaut", "ÄÖÜ"},
	} {
		b.Run("search/again/"+q.name, func(b *testing.B) {
			v := open()
			defer v.Close()
			search(b, v, benchNeedle, benchRare)
			v.Settle()
			for b.Loop() {
				search(b, v, q.query, 0)
			}
		})
	}
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			dir, err := os.OpenRoot(root)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			fs.WalkDir(dir.FS(), ".", func(path string, d fs.DirEntry, err error) error { n++; return err })
			dir.Close()
			if n < folders*each {
				b.Fatal(n)
			}
		}
	})
	b.Run("list/first", func(b *testing.B) {
		v := open()
		defer v.Close()
		for b.Loop() {
			if l, err := v.List(ctx, note.ListQuery{}); err != nil || len(l.Notes) != note.MaxListed {
				b.Fatal(len(l.Notes), err)
			}
		}
	})
	b.Run("list/all", func(b *testing.B) {
		v := open()
		defer v.Close()
		for b.Loop() {
			n := 0
			for q := (note.ListQuery{}); ; {
				l, err := v.List(ctx, q)
				if err != nil {
					b.Fatal(err)
				}
				n += len(l.Notes)
				if q.Cursor = l.NextCursor; q.Cursor == "" {
					break
				}
			}
			if n != folders*each {
				b.Fatal(n)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		v := open()
		defer v.Close()
		for b.Loop() {
			if _, err := v.Read(ctx, "folder-000/note-00007.md"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			v := open()
			b.StopTimer()
			search(b, v, benchNeedle, benchRare)
			b.StartTimer()
			v.Settle()
			b.ReportMetric(float64(v.IndexBytes())/1e6, "MB")
			v.Close()
		}
	})
}
