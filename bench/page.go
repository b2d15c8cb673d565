package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

// pageHead explains how the table is read.
//
//go:embed head.md
var pageHead string

// explained says what is behind the targets that are missed, and what was
// tried. It is written by hand.
//
//go:embed explained.md
var explained string

// render writes the page of all rows.
func render(w io.Writer, rows []row, circumstances []string) error {
	var b strings.Builder
	b.WriteString(pageHead + "\n")
	for _, line := range circumstances {
		b.WriteString("- " + line + "\n")
	}
	b.WriteString("\n| what | handrail | beside it | its figure | ratio | target | |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		ours := r.figures(r.ours)
		if r.missing != "" {
			ours = "LEFT OUT: " + r.missing
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.what, ours, or(r.beside, "–"), r.figures(r.base), r.ratioText(), r.targetText(), r.verdict())
	}
	b.WriteString("\n" + explained)
	_, err := io.WriteString(w, b.String())
	return err
}
