package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"handrail/bench/wire"
)

const (
	// notesPerFolder and noteBytes make 20,000 notes 81 MB in 400 folders.
	notesPerFolder = 50
	noteBytes      = 4050
	// phrase stands in phraseIn of the notes, in another case.
	phrase   = "Zwiebelkuchen Rezept"
	phraseIn = 7
)

// notesFolder makes so many notes, of words as common as in English.
func (l *lab) notesFolder(n int) (string, error) {
	root := filepath.Join(l.dir, "notes")
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 5000)
	for i := range words {
		w := make([]byte, 2+rng.IntN(8))
		for j := range w {
			w[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(rng.IntN(26), rng.IntN(26))]
		}
		words[i] = string(w)
	}
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("folder-%03d", i/notesPerFolder))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		var t strings.Builder
		fmt.Fprintf(&t, "# Note %d\n\n", i)
		for t.Len() < noteBytes {
			for range 12 {
				t.WriteString(words[min(rng.IntN(len(words)), rng.IntN(len(words)))])
				t.WriteByte(' ')
			}
			t.WriteByte('\n')
		}
		if i%max(n/phraseIn, 1) == n/phraseIn/2 {
			t.WriteString("ein " + strings.ToLower(phrase) + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("note-%05d.md", i)), []byte(t.String()), 0o644); err != nil {
			return "", err
		}
	}
	return root, nil
}

func (l *lab) workspace(root string) contender {
	return contender{name: "handrail workspace", command: l.handrail, args: []string{"workspace", "--root", root, "--audit-db", filepath.Join(l.dir, "audit.db"), "--log-level", "error"}}
}

// filesystem is the ready-made server that reads files and looks for names.
func (l *lab) filesystem(root string) (c contender, missing string) {
	script := filepath.Join(l.root, "e2e", "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	if l.noNode != "" {
		return c, l.noNode
	}
	if _, err := os.Stat(script); err != nil {
		return c, "@modelcontextprotocol/server-filesystem is not installed: run npm ci in e2e"
	}
	return contender{name: "server-filesystem", command: l.node, args: []string{script, root}}, ""
}

// timed is how long one call takes, in milliseconds; the reply must contain must.
func timed(c *wire.Client, params, must string) (float64, error) {
	begun := time.Now()
	line, err := c.Request("tools/call", params)
	took := time.Since(begun).Seconds() * 1e3
	if err == nil && !bytes.Contains(line, []byte(must)) {
		err = fmt.Errorf("a reply without %q: %.300s", must, line)
	}
	return took, err
}

func measureNotes(l *lab) ([]row, error) {
	n := l.pick(20_000, 150)
	root, err := l.notesFolder(n)
	if err != nil {
		return nil, err
	}
	ours := l.workspace(root)
	search := wire.Call("notes_search", `{"query":"`+phrase+`"}`)
	const found = `zwiebelkuchen`
	// first is the first call of a server that is warm but has seen no note.
	first := func(params, must string) func() (float64, error) {
		return func() (ms float64, err error) {
			c, err := ours.start(wire.Modern)
			if err != nil {
				return 0, err
			}
			defer func() { err = errors.Join(err, c.Close()) }()
			if _, err := c.Request("tools/list", ""); err != nil {
				return 0, err
			}
			return timed(c, params, must)
		}
	}
	staying, err := ours.start(wire.Modern)
	if err != nil {
		return nil, err
	}
	defer staying.Close()
	again := func(params, must string) func() (float64, error) {
		return func() (float64, error) { return timed(staying, params, must) }
	}
	rounds := l.pick(15, 1)
	of := fmt.Sprintf(" of %s notes", number(float64(n)))
	var rows []row

	firstRow := row{what: "notes_search" + of + ", first call", beside: "ripgrep -i", unit: "ms", target: atMost(1.5)}
	againRow := row{what: "notes_search" + of + ", again, nothing changed", beside: "ripgrep -i", unit: "ms", target: atMost(0.3)}
	if rg, err := exec.LookPath("rg"); err != nil {
		firstRow.missing = "ripgrep is not installed (Debian: ripgrep)"
		againRow.missing = firstRow.missing
	} else {
		ripgrep := func() (float64, error) {
			begun := time.Now()
			out, err := exec.CommandContext(l.ctx, rg, "-i", phrase, root).Output()
			if err == nil && bytes.Count(out, []byte("\n")) < phraseIn {
				err = fmt.Errorf("ripgrep finds less: %s", out)
			}
			return time.Since(begun).Seconds() * 1e3, err
		}
		if _, err := ripgrep(); err != nil { // the files come into memory
			return nil, err
		}
		if _, err := again(search, found)(); err != nil {
			return nil, err
		}
		got, err := l.turns(rounds, first(search, found), again(search, found), ripgrep)
		if err != nil {
			return nil, err
		}
		firstRow.ours, againRow.ours, firstRow.base, againRow.base = got[0], got[1], got[2], got[2]
	}
	rows = append(rows, firstRow, againRow)

	list := wire.Call("notes_list", `{}`)
	got, err := l.turns(rounds, first(list, `"truncated":`), again(list, `"truncated":`), func() (float64, error) { return walkBare(l.ctx, root, n) })
	if err != nil {
		return nil, err
	}
	walk := "a bare walk through os.Root"
	rows = append(rows,
		row{what: "notes_list, first page" + of + ", first call", beside: walk, unit: "ms", ours: got[0], base: got[2], target: atMost(1.5)},
		row{what: "notes_list, first page" + of + ", again", beside: walk, unit: "ms", ours: got[1], base: got[2], target: atMost(1.5)})
	more, err := l.besideFilesystem(root, staying, search, found, of)
	return append(rows, more...), err
}

// walkBare walks the folder as a sandbox must, through os.Root, and looks at
// nothing but names.
func walkBare(ctx context.Context, dir string, want int) (float64, error) {
	begun := time.Now()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	n := 0
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".md") {
			n++
		}
		return errors.Join(err, ctx.Err())
	})
	if err == nil && n != want {
		err = fmt.Errorf("%d notes instead of %d", n, want)
	}
	return time.Since(begun).Seconds() * 1e3, err
}

// besideFilesystem compares with the ready-made server that people use for
// their notes today.
func (l *lab) besideFilesystem(root string, ours *wire.Client, search, found, of string) ([]row, error) {
	const beside = "@modelcontextprotocol/server-filesystem"
	reads := l.pick(1000, 20)
	read := row{what: fmt.Sprintf("%s notes_read, one after another", number(float64(reads))), beside: beside + ", read_text_file", unit: "ms", target: atMost(0.5)}
	find := row{what: "notes_search" + of + " (what they say)", beside: beside + ", search_files (their names)", unit: "ms", target: atMost(0.1)}
	theirs, missing := l.filesystem(root)
	if missing != "" {
		read.missing, find.missing = missing, missing
		return []row{read, find}, nil
	}
	npm, err := theirs.start(wire.Legacy)
	if err != nil {
		return nil, err
	}
	defer npm.Close()
	all := func(c *wire.Client, params func(i int) string) func() (float64, error) {
		return func() (float64, error) {
			begun := time.Now()
			_, err := c.Load(reads, 1, "Note", params)
			return time.Since(begun).Seconds() * 1e3, err
		}
	}
	path := func(i int) string {
		n := i * 19 % l.pick(20_000, 150)
		return fmt.Sprintf("folder-%03d/note-%05d.md", n/notesPerFolder, n)
	}
	got, err := l.turns(l.pick(5, 1),
		all(ours, func(i int) string { return wire.Call("notes_read", `{"path":"`+path(i)+`"}`) }),
		all(npm, func(i int) string {
			return wire.Call("read_text_file", `{"path":"`+filepath.Join(root, path(i))+`"}`)
		}))
	if err != nil {
		return nil, err
	}
	read.ours, read.base = got[0], got[1]
	names := wire.Call("search_files", `{"path":"`+root+`","pattern":"**/*note-00042*"}`)
	got, err = l.turns(l.pick(3, 1),
		func() (float64, error) { return timed(ours, search, found) },
		func() (float64, error) { return timed(npm, names, "note-00042.md") })
	find.ours, find.base = got[0], got[1]
	return []row{read, find}, err
}
