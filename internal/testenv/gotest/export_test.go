package main

import "io"

// Report feeds lines of go test -json to a report and returns what it says of
// the outcome.
func Report(out io.Writer, all bool, lines ...string) (failed bool) {
	r := newReport(out)
	for _, l := range lines {
		r.line([]byte(l + "\n"))
	}
	return r.close(all)
}

// Split is how the packages of this module are tested: with -race, and without.
func Split() (raced, plain []string, err error) { return split() }
