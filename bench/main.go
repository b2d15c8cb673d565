// Command bench measures Handrail beside what somebody would use instead, built
// and run in the same minutes on the same machine, turn by turn. Its figures
// are ratios; absolute ones are printed to orient. It owns the table of targets
// and writes docs/performance.md. It asserts nothing: a missed target is a row
// that says so.
//
//	go run ./bench                 everything, a few minutes
//	go run ./bench -only stdio     the groups whose names match
//	go run ./bench -write          and write docs/performance.md
//	go run ./bench -short          seconds: proves that the harness runs
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// group is a set of rows that are measured together.
type group struct {
	name    string
	measure func(*lab) ([]row, error)
}

var groups = []group{
	{"start", measureStart},
	{"size", measureSize},
	{"stdio", measureStdio},
	{"store", measureWrites},
	{"queries", measureQueries},
	{"notes", measureNotes},
	{"taskfile", measureTaskfile},
	{"http", measureHTTP},
	{"sessions", measureSessions},
	{"tokens", measureTokens},
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var (
		only  = flags.String("only", "", "measure only the groups that match this regular expression")
		short = flags.Bool("short", false, "few and small rounds: proves that the harness runs, and nothing else")
		prog  = flags.String("handrail", "", "measure this `program` instead of one built from the tree; not for -write")
		write = flags.Bool("write", false, "write docs/performance.md")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *write && (*short || *only != "" || *prog != "") {
		return fmt.Errorf("-write needs a whole run of this tree: leave out -short, -only and -handrail")
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, *short, *prog)
	if err != nil {
		return err
	}
	defer l.close()
	var rows []row
	for _, g := range groups {
		if !chosen.MatchString(g.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", g.name)
		got, err := g.measure(l)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		for _, r := range got {
			fmt.Println(r)
		}
		rows = append(rows, got...)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	missed := 0
	for _, r := range rows {
		if r.verdict() == missedTarget {
			missed++
		}
	}
	fmt.Printf("\n%d rows, %d targets missed\n", len(rows), missed)
	if !*write {
		return nil
	}
	var page strings.Builder
	if err := render(&page, rows, l.circumstances()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.root, "docs", "performance.md"), []byte(page.String()), 0o644)
}
