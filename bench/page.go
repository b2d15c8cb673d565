package main

import (
	"fmt"
	"io"
)

const pageHead = `# Performance

<!-- Written by go run ./bench -write. Do not edit: change bench/ and run it. -->

What Handrail costs beside what somebody would use instead. Each row's two sides
were built and run in the same minutes on the same machine, turn by turn; the
ratio is the median of the rounds' ratios, with the smallest and the largest.
Absolute figures belong to that machine (%s) and to nothing else: the load
generator shares its cores with the server.

- *bare Go SDK* (` + "`bench/baseline/sdk`" + `): the official Go SDK with one raw tool that
  answers at once, stores nothing and records nothing.
- *TypeScript SDK 2.4* (` + "`e2e/baseline/tasks.mjs`" + `): the five tools over better-sqlite3
  with a search index and an audit entry a call. With synchronous=FULL its entry
  is on the disk before its reply; Handrail commits the entries of reads in
  groups within 50 ms, and with synchronous=NORMAL the baseline does not wait for
  the disk either.
- *one FULL transaction a call*: the store's own tables and statements, without
  group commit.
- *the bare query*: the same question to the same file through the driver alone,
  every column read, nothing decoded.

A target that is missed keeps its row; what explains it stands in
[performance-notes.md](performance-notes.md).

| what | handrail | beside it | its figure | ratio | target | |
|---|---|---|---|---|---|---|
`

// render writes the page of all rows.
func render(w io.Writer, rows []row, machine string) error {
	if _, err := fmt.Fprintf(w, pageHead, machine); err != nil {
		return err
	}
	for _, r := range rows {
		beside := r.beside
		if beside == "" {
			beside = "–"
		}
		ours, base, ratio := r.figures(r.ours), r.figures(r.base), r.ratioText()
		if r.missing != "" {
			ours = r.missing
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", r.what, ours, beside, base, ratio, r.targetText(), r.verdict()); err != nil {
			return err
		}
	}
	return nil
}
