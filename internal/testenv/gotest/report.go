package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event is one line of go test -json, as `go doc test2json` describes it.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a package that does not build, as "pkg [pkg.test]"
	Test       string
	Output     string
}

// testKey names a test.
type testKey struct{ pkg, test string }

// omission is something that did not run.
type omission struct{ what, why string }

// report turns events into what a person reads: one line a package as go test
// prints it, the output of what failed, and the counts.
type report struct {
	out     io.Writer
	passed  int
	failed  int
	left    []omission           // in the order found
	skipped int                  // tests among left
	said    map[testKey][]string // output of tests that have not ended, and of packages under ""
	broken  map[string]bool      // packages with a failed test
}

func newReport(out io.Writer) *report {
	return &report{out: out, said: map[testKey][]string{}, broken: map[string]bool{}}
}

// leaveOut notes something other than a test that this run does without.
func (r *report) leaveOut(what, why string) {
	r.left = append(r.left, omission{what, why})
}

// line takes one line of go test's output. What is not an event is shown as it
// is: the go command's own complaints.
func (r *report) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		r.out.Write(line)
		return
	}
	key := testKey{e.Package, e.Test}
	switch e.Action {
	case "output":
		switch {
		case strings.HasPrefix(e.Output, "=== "): // progress, of use only while one watches
		case e.Test != "":
			r.said[key] = append(r.said[key], e.Output)
		case framing(e.Output): // a bare PASS or FAIL says less than the line after it
		case strings.HasPrefix(e.Output, "ok "), strings.HasPrefix(e.Output, "FAIL\t"),
			strings.HasPrefix(e.Output, "?   "), strings.HasPrefix(e.Output, "\t"):
			io.WriteString(r.out, e.Output)
		default:
			r.said[key] = append(r.said[key], e.Output)
		}
	case "build-output":
		io.WriteString(r.out, e.Output)
	case "pass", "fail", "skip":
		r.end(key, e.Action)
	}
}

// end takes the outcome of a test, or of a package where key.test is empty.
func (r *report) end(key testKey, action string) {
	said := r.said[key]
	delete(r.said, key)
	switch {
	case key.test == "" && action == "fail":
		r.endOfBroken(key.pkg, said)
	case key.test == "": // a package that passed, or has no tests
	case action == "pass":
		r.passed++
	case action == "skip":
		r.skipped++
		r.leaveOut(key.pkg+": "+key.test, reason(said))
	default:
		r.failed++
		r.broken[key.pkg] = true
		io.WriteString(r.out, strings.Join(said, ""))
	}
}

// endOfBroken reports a package that failed: what its tests said that never came
// to an end (a panic, a deadline), and what it said outside of any test. A
// package that failed without a failed test counts as one failure.
func (r *report) endOfBroken(pkg string, said []string) {
	for key, lines := range r.said {
		if key.pkg == pkg {
			r.failed++
			r.broken[pkg] = true
			io.WriteString(r.out, strings.Join(lines, ""))
			delete(r.said, key)
		}
	}
	io.WriteString(r.out, strings.Join(said, ""))
	if !r.broken[pkg] {
		r.failed++
	}
}

// close prints what was left out and the counts, and reports whether the run
// failed. With all, leaving something out is a failure.
func (r *report) close(all bool) (failed bool) {
	if len(r.left) > 0 {
		fmt.Fprintf(r.out, "\n%s\nLEFT OUT of this run, %d:\n", strings.Repeat("=", 72), len(r.left))
		for _, o := range r.left {
			fmt.Fprintf(r.out, "  - %s\n      because: %s\n", o.what, o.why)
		}
		if all {
			fmt.Fprintln(r.out, "HANDRAIL_TEST_ALL=1 allows nothing to be left out: this run has failed.")
		}
		fmt.Fprintln(r.out, strings.Repeat("=", 72))
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.failed > 0 || all && len(r.left) > 0
}

// framing reports whether a package's line of output is only go test's frame.
func framing(line string) bool {
	return line == "PASS\n" || line == "FAIL\n"
}

// place is the file and line that go test puts before what a test logs.
var place = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: `)

// reason is what a skipped test said, without go test's own lines.
func reason(said []string) string {
	var words []string
	for line := range strings.Lines(strings.Join(said, "")) {
		if strings.HasPrefix(strings.TrimSpace(line), "--- ") {
			continue
		}
		line = strings.TrimSpace(place.ReplaceAllString(line, ""))
		words = append(words, strings.TrimPrefix(line, "LEFT OUT: "))
	}
	if text := strings.TrimSpace(strings.Join(words, " ")); text != "" {
		return text
	}
	return "it gives no reason"
}
