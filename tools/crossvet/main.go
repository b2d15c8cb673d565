// Command crossvet is go vet for several platforms at once. go vet compiles all
// that a package depends on for each of them, which for go-task's 930 packages
// takes minutes; crossvet reads the same packages from source and runs the same
// checks, in seconds.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("dir", ".", "the folder of the module")
	systems := flag.String("os", "linux,darwin,windows", "the platforms, as GOOS has them")
	flag.Parse()
	bad := false
	for _, goos := range strings.Split(*systems, ",") {
		found, err := look(*dir, goos)
		if err != nil {
			fmt.Fprintf(os.Stderr, "crossvet: %s: %v\n", goos, err)
			os.Exit(2)
		}
		bad = bad || found
	}
	if bad {
		os.Exit(1)
	}
}

// look vets the module in dir for a platform. It prints what it finds.
func look(dir, goos string) (found bool, err error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Tests: true,
		Env: append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return false, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return true, nil
	}
	graph, err := checker.Analyze(vet.Suite, pkgs, nil)
	if err != nil {
		return false, err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return false, fmt.Errorf("%s: %w", act, act.Err)
		}
		found = found || len(act.Diagnostics) > 0
	}
	return found, graph.PrintText(os.Stdout, -1)
}
