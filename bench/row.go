package main

import (
	"fmt"
	"slices"
	"strings"
)

// series is what one contender measured, one figure a round.
type series []float64

func (s series) sorted() series { return slices.Sorted(slices.Values(s)) }

// at is the quantile q of the series, 0 to 1; 0.5 is the median.
func (s series) at(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	t := s.sorted()
	i := q * float64(len(t)-1)
	low := int(i)
	if low+1 == len(t) {
		return t[low]
	}
	return t[low] + (i-float64(low))*(t[low+1]-t[low])
}

func (s series) mean() float64 {
	sum := 0.0
	for _, f := range s {
		sum += f
	}
	return sum / float64(max(len(s), 1))
}

func (s series) median() float64 { return s.at(0.5) }

// over is the ratio of each round of s to the same round of base: the two were
// measured one after the other.
func (s series) over(base series) series {
	var r series
	for i := range min(len(s), len(base)) {
		if base[i] != 0 {
			r = append(r, s[i]/base[i])
		}
	}
	return r
}

// target is what a row should reach: a bound of the median ratio or, with a
// unit, of the median figure. The zero target is none: the row is reported.
type target struct {
	bound   float64
	atLeast bool
	figure  bool
}

func atMost(ratio float64) target        { return target{bound: ratio} }
func atLeast(ratio float64) target       { return target{bound: ratio, atLeast: true} }
func figureAtMost(figure float64) target { return target{bound: figure, figure: true} }

// verdict is what became of a target.
type verdict string

const (
	met          verdict = "met"
	missedTarget verdict = "MISSED"
	noTarget     verdict = "–"
	notMeasured  verdict = "LEFT OUT"
)

// row is one line of the table.
type row struct {
	// what is measured, and beside what it is.
	what, beside string
	// unit of the figures: ms, µs, MB, /s, tokens.
	unit       string
	ours, base series
	target     target
	// missing says why nothing was measured.
	missing string
}

// ratio is ours over base for costs and rates alike; a target says which way
// is good.
func (r row) ratio() series { return r.ours.over(r.base) }

func (r row) verdict() verdict {
	switch {
	case r.missing != "":
		return notMeasured
	case r.target == target{}:
		return noTarget
	}
	all := r.ratio()
	if r.target.figure {
		all = r.ours
	}
	if len(all) == 0 {
		return missedTarget // what was not measured cannot be met
	}
	got := all.median()
	if r.target.atLeast && got >= r.target.bound || !r.target.atLeast && got <= r.target.bound {
		return met
	}
	return missedTarget
}

func (r row) targetText() string {
	if r.target == (target{}) {
		return "–"
	}
	sign, unit := "≤", "×"
	if r.target.atLeast {
		sign = "≥"
	}
	if r.target.figure {
		unit = " " + r.unit
	}
	return fmt.Sprintf("%s %s%s", sign, number(r.target.bound), unit)
}

func (r row) figures(s series) string {
	if len(s) == 0 {
		return "–"
	}
	if len(s) == 1 {
		return number(s[0]) + " " + r.unit
	}
	return fmt.Sprintf("%s %s (%s–%s)", number(s.median()), r.unit, number(s.at(0)), number(s.at(1)))
}

func (r row) ratioText() string {
	s := r.ratio()
	switch len(s) {
	case 0:
		return "–"
	case 1:
		return number(s[0]) + "×"
	}
	return fmt.Sprintf("%s× (%s–%s)", number(s.median()), number(s.at(0)), number(s.at(1)))
}

// String is the row for a terminal.
func (r row) String() string {
	if r.missing != "" {
		return fmt.Sprintf("%-12s %s: %s", r.verdict(), r.what, r.missing)
	}
	text := fmt.Sprintf("%-12s %s: %s", r.verdict(), r.what, r.figures(r.ours))
	if r.beside != "" {
		text += fmt.Sprintf("; beside %s: %s; ratio %s", r.beside, r.figures(r.base), r.ratioText())
	}
	return text + "; target " + r.targetText()
}

// number keeps three figures, and all of those before the point.
func number(f float64) string {
	switch {
	case f >= 100:
		return group3(fmt.Sprintf("%.0f", f))
	case f >= 10:
		return trimZero(fmt.Sprintf("%.1f", f))
	case f >= 0.1 || f == 0:
		return trimZero(fmt.Sprintf("%.2f", f))
	}
	return trimZero(fmt.Sprintf("%.3f", f))
}

func trimZero(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func group3(s string) string {
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
