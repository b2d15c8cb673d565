package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"handrail/internal/testenv"
)

// oldestNode is the major version of Node that the suite asks for.
const oldestNode = 22

// clients is the npm project that pins the suite.
var clients = filepath.Join("..", "..", "e2e", "node_modules")

// suite is the command line of the official suite, up to its subcommand. Without
// it the test is left out.
func suite(t *testing.T) []string {
	t.Helper()
	program := filepath.Join(clients, "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		testenv.LeftOut(t, "the conformance suite is not installed; run go tool task e2e:install")
	}
	return []string{testenv.NodeAtLeast(t, oldestNode), program}
}

// check is one finding of the suite.
type check struct {
	ID, Status, ErrorMessage string
}

// report is what the suite found, by scenario.
type report map[string][]check

// patience is how long one run of the suite may take.
const patience = 4 * time.Minute

// runSuite runs the suite's server scenarios and reads what it found.
func runSuite(t *testing.T, url string, args ...string) report {
	t.Helper()
	out := t.TempDir()
	// The status is no use: it is not zero where an optional scenario fails. What
	// counts is in the files.
	log := command(t, append([]string{"server", "--url", url, "-o", out}, args...)...)
	found := report{}
	files, err := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the suite left no results: %v\n%s", err, log)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scenario := folder.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if scenario == nil {
			t.Fatalf("%s is in a folder of no scenario", file)
		}
		found[scenario[1]] = append(found[scenario[1]], checks...)
	}
	return found
}

// command runs the suite and returns what it said.
func command(t *testing.T, args ...string) string {
	t.Helper()
	words := append(suite(t), args...)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	stop := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer stop.Stop()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 0) {
		t.Fatalf("the suite did not end by itself: %v\n%s", err, &said)
	}
	return said.String()
}

// folder is how the suite names the folder of a scenario's results.
var folder = regexp.MustCompile(`^server-(.+?)-\d{4}-\d\d-\d\dT`)

// requirements are the server scenarios of a revision of the specification, as the suite's own
// list has them: those that count, and those that are run beside them.
func requirements(t *testing.T, revision string) (scored, beside []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(clients, "@modelcontextprotocol", "conformance", "requirements", revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Server    []string
		NotScored []struct{ Scenario, Leg string } `yaml:"not_scored"`
	}
	if err := yaml.Unmarshal(text, &list); err != nil || len(list.Server) == 0 {
		t.Fatalf("the requirements of %s: %d scenarios, %v", revision, len(list.Server), err)
	}
	for _, s := range list.NotScored {
		if s.Leg == "server" {
			beside = append(beside, s.Scenario)
		}
	}
	return list.Server, beside
}

// all are the names of every server scenario that the suite has.
func all(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range listed.FindAllStringSubmatch(command(t, "list", "--server"), -1) {
		names = append(names, m[1])
	}
	if len(names) < 60 {
		t.Fatalf("the suite lists only %d scenarios: %v", len(names), names)
	}
	return names
}

var listed = regexp.MustCompile(`(?m)^  - (\S+) \[`)

// count is how many checks of these scenarios had which end.
func (r report) count(scenarios []string) map[string]int {
	n := map[string]int{}
	for _, name := range scenarios {
		for _, c := range r[name] {
			n[c.Status]++
		}
	}
	return n
}

// require fails the test for each of these scenarios that did not run to a
// success, and for each check that ended as anything but one, unless excused
// says that it may.
func (r report) require(t *testing.T, scenarios []string, excused func(scenario string, c check) bool) {
	t.Helper()
	for _, name := range scenarios {
		if r.count([]string{name})["SUCCESS"] == 0 {
			t.Errorf("%s did not run to a success", name)
		}
		for _, c := range r[name] {
			switch {
			case c.Status == "SUCCESS" || c.Status == "INFO" || excused(name, c):
			case c.Status == "WARNING":
				t.Logf("%s warns: %s: %s", name, c.ID, c.ErrorMessage)
			default:
				t.Errorf("%s: %s: %s: %s", name, c.Status, c.ID, c.ErrorMessage)
			}
		}
	}
}
