package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
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
	t.Cleanup(func() {
		for _, s := range []*testenv.Server{p.one, p.two} {
			silent(t, s)
			// The test's own context has ended by now.
			res, err := http.Get("http://" + s.Addr + "/metrics")
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(text), "handrail_users ") {
				t.Errorf("metrics: %v: %.200s", err, text)
			}
			tells(t, "metrics", string(text))
			if strings.Contains(string(text), "alice") || strings.Contains(string(text), "bob") {
				t.Errorf("the metrics name a user:\n%s", text)
			}
		}
	})
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

// silent checks that nothing secret is in the log of a server, and nothing that
// went wrong inside it.
func silent(t *testing.T, s *testenv.Server) {
	t.Helper()
	log := s.Log()
	tells(t, "log", log)
	if strings.Contains(log, "panic") || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("something went wrong inside the server:\n%s", log)
	}
}

// tells fails the test where a text holds something secret.
func tells(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{aliceToken, bobToken, stateSecret, aliceToken[6:20], bobToken[4:18], "Bearer "} {
		if strings.Contains(text, secret) {
			t.Errorf("the %s holds %q", what, secret)
		}
	}
	if found := requestState.FindString(text); found != "" {
		t.Errorf("the %s holds what may be a request state: %s", what, found)
	}
}

// drive runs one of clients/, with words before its server, and reports what it
// found; least is how many checks it makes.
func drive(t *testing.T, least int, name string, words []string, env []string, server ...string) {
	t.Helper()
	driveWith(t, testenv.Node(t), least, name, words, env, server...)
}

func driveWith(t *testing.T, node string, least int, name string, words []string, env []string, server ...string) {
	t.Helper()
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

// basicClient is a script for the teaching server: with its mode, the least
// number of checks that it makes, and the Node that it needs.
type basicClient struct {
	name, script, mode string
	least, node        int
	onlyHTTP           bool
}

func (c basicClient) drive(t *testing.T, env []string, server ...string) {
	t.Helper()
	var words []string
	if c.mode != "" {
		words = []string{c.mode}
	}
	driveWith(t, testenv.NodeAtLeast(t, max(c.node, 20)), c.least, c.script, words, env, server...)
}

var basicClients = []basicClient{
	{name: "typescript v2 legacy", script: "basic-v2.mjs", mode: "legacy", least: 300},
	{name: "typescript v2 modern", script: "basic-v2.mjs", mode: "modern", least: 300},
	{name: "typescript v2 auto", script: "basic-v2.mjs", mode: "auto", least: 300},
	{name: "typescript v1", script: "basic-v1.mjs", least: 300},
	{name: "mcp-remote legacy", script: "basic-v1.mjs", mode: "legacy", least: 300, node: 22, onlyHTTP: true},
	{name: "mcp-remote auto", script: "basic-v1.mjs", mode: "auto", least: 300, node: 22, onlyHTTP: true},
	{name: "inspector legacy", script: "inspector-basic.mjs", mode: "legacy", least: 20},
	{name: "inspector modern", script: "inspector-basic.mjs", mode: "modern", least: 20},
	{name: "mcporter", script: "mcporter-basic.mjs", least: 6, onlyHTTP: true},
}

func TestTheTeachingServerOverStdio(t *testing.T) {
	t.Parallel()
	for _, c := range basicClients {
		if c.onlyHTTP {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.drive(t, nil, testenv.Binary(t), "basic")
		})
	}
}

func TestTheTeachingServerOverHTTPWithTwoUsersAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range basicClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := servePair(t)
			c.drive(t, []string{"HANDRAIL_E2E_TOKENS=" + tokens}, p.one.URL, p.two.URL)
			verified(t, p.db)
			if strings.HasPrefix(c.script, "basic-") && !strings.Contains(strings.Join(audited(t, p.db, "process_steps", "error"), ""), `"cancelled"`) {
				t.Error("the record has no call that was cancelled: the client gave up and the server did not hear of it")
			}
		})
	}
}
