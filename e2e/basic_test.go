package e2e_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

// The users of the servers over HTTP, and what only they and the server know.
const (
	aliceToken  = "alice-Zq8vT3mR-alice-Zq8vT3mR-alice"
	bobToken    = "bob-Kd7wX2nP-bob-Kd7wX2nP-bob-Kd7wX"
	stateSecret = "state-Hf5yL9cB-state-Hf5yL9cB-state"
	tokens      = `{"alice":"` + aliceToken + `","bob":"` + bobToken + `"}`
)

// pair is two processes of `handrail basic` over one database, as two replicas
// would be, with everything logged.
type pair struct {
	db       string
	one, two *testenv.Server
}

func servePair(t *testing.T) pair {
	t.Helper()
	p := pair{db: newDB(t)}
	p.one, p.two = serveBasic(t, p.db), serveBasic(t, p.db)
	t.Cleanup(func() { silent(t, p.one); silent(t, p.two) })
	return p
}

// serveBasic serves a database to alice and bob.
func serveBasic(t *testing.T, db string, args ...string) *testenv.Server {
	t.Helper()
	env := []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "REQUEST_STATE_SECRET=" + stateSecret}
	return testenv.Serve(t, t.TempDir(), env, "basic", append([]string{"--db", db, "--rate-limit", "0", "--log-level", "debug"}, args...)...)
}

// requestState is what a sealed state looks like; nothing else in a log is that
// long.
var requestState = regexp.MustCompile(`[A-Za-z0-9_-]{100,}`)

// silent checks that nothing secret is in the log of a server.
func silent(t *testing.T, s *testenv.Server) {
	t.Helper()
	log := s.Log()
	for _, secret := range []string{aliceToken, bobToken, stateSecret, aliceToken[6:20], bobToken[4:18], "Bearer "} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if found := requestState.FindString(log); found != "" {
		t.Errorf("the log holds what may be a request state: %s", found)
	}
	if strings.Contains(log, "panic") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("something went wrong inside the server:\n%s", log)
	}
}

// drive runs one of clients/ with the teaching server and reports what it found.
func drive(t *testing.T, least int, name string, words []string, env []string, server ...string) {
	t.Helper()
	node := testenv.Node(t)
	if why := modules(); why != "" {
		testenv.LeftOut(t, why)
	}
	args := append(append([]string{filepath.Join("clients", name)}, words...), "--")
	cmd := exec.CommandContext(t.Context(), node, append(args, server...)...)
	cmd.Env = append(cmd.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, runErr := cmd.Output()
	var report struct {
		Passed   int
		Failures []struct{ Name, Detail string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v, %v\nstdout: %s\nstderr: %s", runErr, err, out, &stderr)
	}
	for _, f := range report.Failures {
		t.Errorf("%s: %s", f.Name, f.Detail)
	}
	if report.Passed < least {
		t.Errorf("only %d checks passed: the script ended early", report.Passed)
	}
	if t.Failed() {
		t.Logf("stderr: %s", &stderr)
	}
}

// clientsOfBasic are the scripts for the teaching server, each with its mode.
var clientsOfBasic = []struct{ name, script, mode string }{
	{"typescript v2 legacy", "basic-v2.mjs", "legacy"},
	{"typescript v2 modern", "basic-v2.mjs", "modern"},
	{"typescript v2 auto", "basic-v2.mjs", "auto"},
	{"typescript v1", "basic-v1.mjs", ""},
}

func TestTheTeachingServerOverStdio(t *testing.T) {
	t.Parallel()
	for _, c := range clientsOfBasic {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			drive(t, 300, c.script, []string{c.mode}, nil, testenv.Binary(t), "basic")
		})
	}
}

func TestTheTeachingServerOverHTTPWithTwoUsersAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range clientsOfBasic {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := servePair(t)
			drive(t, 310, c.script, []string{c.mode}, []string{"HANDRAIL_E2E_TOKENS=" + tokens}, p.one.URL, p.two.URL)
		})
	}
}
