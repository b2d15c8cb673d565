// Command gotest is `go tool task test`: it runs go test, shows what a person
// wants to see of it, and ends with everything that was left out and why. Its
// arguments are go test's; without any it tests the whole module. It adds -race
// where the machine can build for it, and where it can find something.
//
// With HANDRAIL_TEST_ALL=1 nothing may be left out: a skipped test is a failure.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"handrail/internal/testenv"
)

func main() {
	failed, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// run starts go test and reports it to out. failed tells the outcome of the
// tests, err that they could not be run.
func run(args []string, out io.Writer) (failed bool, err error) {
	report := newReport(out)
	runs := [][]string{args}
	why := noRace()
	switch whole := len(args) == 0 || slices.Equal(args, []string{"./..."}); {
	case why != "":
		report.leaveOut("-race, the search for data races", why)
		if whole {
			runs = [][]string{{"./..."}}
		}
	case whole:
		raced, plain, err := split()
		if err != nil {
			return false, err
		}
		runs = [][]string{append([]string{"-race"}, raced...), plain}
	default:
		runs[0] = append([]string{"-race"}, args...)
	}
	for _, args := range runs {
		exit, err := goTest(report, args)
		if err != nil {
			return false, err
		}
		failed = failed || exit != 0
	}
	return report.close(testenv.All()) || failed, nil
}

// goTest runs go test once, hands the report what it says, and returns its exit
// status.
func goTest(report *report, args []string) (exit int, err error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	if slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			report.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	if err := cmd.Wait(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			return 0, err
		}
	}
	return cmd.ProcessState.ExitCode(), nil
}

// outside are the folders whose tests drive programs that run in processes of
// their own, or only read files. The race detector would see nothing there, and
// a second build of everything below them would take minutes.
var outside = []string{"handrail", "handrail/bench/", "handrail/cmd/", "handrail/e2e/", "handrail/examples/", "handrail/internal/testenv/"}

// split lists the packages of the module, those first that are tested with -race.
func split() (raced, plain []string, err error) {
	cmd := exec.Command("go", "list", "./...")
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	for _, pkg := range strings.Fields(string(list)) {
		if slices.ContainsFunc(outside, func(entry string) bool {
			return pkg == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(pkg+"/", entry)
		}) {
			plain = append(plain, pkg)
		} else {
			raced = append(raced, pkg)
		}
	}
	return raced, plain, nil
}

// noRace says why this machine cannot build with -race, or "". The race detector
// needs a C compiler and a platform that it was ported to; goTest sees to cgo.
func noRace() string {
	out, err := exec.Command("go", "env", "GOOS", "GOARCH", "CC").Output()
	env := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	if err != nil || len(env) < 3 {
		return "go env does not answer"
	}
	platform := env[0] + "/" + env[1]
	ported := []string{
		"darwin/amd64", "darwin/arm64", "freebsd/amd64", "linux/amd64", "linux/arm64",
		"linux/loong64", "linux/ppc64le", "linux/riscv64", "linux/s390x", "windows/amd64",
	}
	if !slices.Contains(ported, platform) {
		return "the race detector does not know " + platform
	}
	cc, _, _ := strings.Cut(cmp.Or(env[2], "cc"), " ")
	if _, err := exec.LookPath(cc); err != nil {
		return "no C compiler (" + cc + ") on PATH"
	}
	return ""
}
