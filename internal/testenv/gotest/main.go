// Command gotest is `go tool task test`: it runs go test, shows what a person
// wants to see of it, and ends with everything that was left out and why. Its
// arguments are go test's; without any it tests the whole module. It adds -race
// where the machine can build for it.
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
	goArgs := []string{"test", "-json"}
	if why := noRace(); why == "" {
		goArgs = append(goArgs, "-race")
	} else {
		report.leaveOut("-race, the search for data races", why)
	}
	if len(args) == 0 {
		args = []string{"./..."}
	}
	cmd := exec.Command("go", append(goArgs, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
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
			return false, err
		}
	}
	err = cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return false, err
	}
	return report.close(testenv.All()) || err != nil, nil
}

// noRace says why this machine cannot build with -race, or "". The race detector
// needs cgo, a C compiler, and a platform that it was ported to.
func noRace() string {
	out, err := exec.Command("go", "env", "GOOS", "GOARCH", "CGO_ENABLED", "CC").Output()
	env := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	if err != nil || len(env) < 4 {
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
	if env[2] != "1" {
		return "CGO_ENABLED is 0"
	}
	cc, _, _ := strings.Cut(cmp.Or(env[3], "cc"), " ")
	if _, err := exec.LookPath(cc); err != nil {
		return "no C compiler (" + cc + ") on PATH"
	}
	return ""
}
