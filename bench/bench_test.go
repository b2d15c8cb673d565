package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

// The harness is run, not timed: what it measures is for people to read.
func TestTheHarnessMeasuresAndWritesARow(t *testing.T) {
	l, err := newLab(t.Context(), true, testenv.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	var rows []row
	for _, g := range groups {
		if g.name != "start" && g.name != "http" && g.name != "tokens" {
			continue
		}
		got, err := g.measure(l)
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		rows = append(rows, got...)
	}
	measured := 0
	for _, r := range rows {
		if r.missing == "" {
			measured++
			if len(r.ours) == 0 || r.ours.median() <= 0 {
				t.Errorf("%s: no figure", r.what)
			}
		}
	}
	if measured < 6 {
		t.Errorf("only %d rows were measured", measured)
	}
	var page strings.Builder
	if err := render(&page, rows, l.circumstances()); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !strings.Contains(page.String(), "| "+r.what+" |") {
			t.Errorf("the page has no row %q", r.what)
		}
	}
	for _, private := range []string{l.dir, l.root, os.TempDir() + string(filepath.Separator)} {
		if strings.Contains(page.String(), private) {
			t.Errorf("the page has a path of this machine: %s", private)
		}
	}
}

func TestARowIsJudgedByItsMedian(t *testing.T) {
	cost := row{unit: "ms", ours: series{1, 2, 9}, base: series{1, 1, 1}}
	rate := row{unit: "/s", ours: series{300, 100, 200}, base: series{100, 100, 100}}
	with := func(r row, goal target) row { r.target = goal; return r }
	for name, c := range map[string]struct {
		row  row
		want verdict
	}{
		"a ratio at the bound":       {with(cost, atMost(2)), met},
		"a ratio above it":           {with(cost, atMost(1.9)), missedTarget},
		"a rate at the bound":        {with(rate, atLeast(2)), met},
		"a rate below it":            {with(rate, atLeast(2.1)), missedTarget},
		"a figure above its bound":   {with(cost, figureAtMost(1)), missedTarget},
		"a figure below its bound":   {with(cost, figureAtMost(3)), met},
		"no target":                  {cost, noTarget},
		"nothing was measured":       {row{missing: "why", target: atMost(1)}, notMeasured},
		"a ratio without a baseline": {row{ours: series{1}, target: atMost(1)}, missedTarget},
	} {
		if got := c.row.verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
