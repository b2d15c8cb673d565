// Package testenv owns what tests need from the machine they run on: the built
// program, Node, a user without root's rights, and the two switches that widen
// a run. It is imported by tests only, and knows nothing of tasks, tools or
// protocols.
//
// Two environment variables change what a run does:
//
//	HANDRAIL_TEST_ALL=1  nothing may be left out: whatever is missing is a failure
//	HANDRAIL_LONG=1      crash, soak and scale tests take minutes instead of seconds
package testenv

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

const (
	// allVar turns every test that had to be left out into a failure.
	allVar = "HANDRAIL_TEST_ALL"
	// longVar selects the long forms of the tests that have one.
	longVar = "HANDRAIL_LONG"
	// leftOutPrefix begins the message of every skip; the summary of
	// `go tool task test` looks for it.
	leftOutPrefix = "LEFT OUT: "
	// oldestNode is the major version of Node that the client packages ask for.
	oldestNode = 20
)

// All reports whether this run may leave nothing out.
func All() bool { return os.Getenv(allVar) == "1" }

// Long reports whether the long forms of the tests were asked for. A test that
// has no short form still runs one: it never skips because a run is short.
func Long() bool { return os.Getenv(longVar) == "1" }

// LeftOut ends the test because something that it needs is missing. It is a skip
// that the summary repeats, and a failure where nothing may be left out. why
// says what is missing and how to get it: "no C compiler on PATH; install gcc".
func LeftOut(t testing.TB, why string) {
	t.Helper()
	if All() {
		t.Fatalf("%s%s (and %s=1 allows no test to be left out)", leftOutPrefix, why, allVar)
		return
	}
	t.Skip(leftOutPrefix + why)
}

// Node is the path of a Node that runs the client packages, version 20 or newer.
// Without one the test is left out.
func Node(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		LeftOut(t, "no Node on PATH; install Node 20 or newer")
	}
	out, err := exec.CommandContext(t.Context(), path, "--version").Output()
	if err != nil {
		LeftOut(t, "node --version does not answer: "+err.Error())
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		LeftOut(t, "Node is too old ("+version+"); install Node 20 or newer")
	}
	return path
}
