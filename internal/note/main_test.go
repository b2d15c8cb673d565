package note_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"handrail/internal/note"
)

// TestMain lets the test binary be the other processes of a test: what one of
// them does is named in the environment.
func TestMain(m *testing.M) {
	switch os.Getenv("HANDRAIL_NOTE_CHILD") {
	case "append":
		appendMany()
	case "rewrite":
		rewriteForever()
	case "":
		os.Exit(m.Run())
	default:
		os.Exit(64)
	}
}

func childVault() *note.Vault {
	v, err := note.Open(os.Getenv("HANDRAIL_NOTE_ROOT"), note.Limits{MaxNoteBytes: 1 << 20, MaxReadBytes: 1 << 20})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return v
}

// appendMany appends numbered lines to one note.
func appendMany() {
	v := childVault()
	name := os.Getenv("HANDRAIL_NOTE_NAME")
	n, _ := strconv.Atoi(os.Getenv("HANDRAIL_NOTE_COUNT"))
	for i := range n {
		if _, err := v.Append(ctx, "log.md", fmt.Sprintf("%s %d", name, i)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	v.Close()
	os.Exit(0)
}

// rewriteForever replaces and creates notes until it is killed. Every note is
// one letter over and over, so that a half-written one shows.
func rewriteForever() {
	v := childVault()
	fmt.Println("ready")
	for i := 0; ; i++ {
		letter := string(rune('a' + i%26))
		d := note.Draft{Path: "kept.md", Content: strings.Repeat(letter, 20_000+i%1000) + "\n", Overwrite: true}
		if _, err := v.Write(ctx, d); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		d.Path, d.Overwrite = fmt.Sprintf("new/%d-%d.md", os.Getpid(), i), false
		if _, err := v.Write(ctx, d); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
