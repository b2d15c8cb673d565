package conformance_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"encoding/json"

	"handrail/internal/config"
	"handrail/internal/testenv"
)

// presetFiles are what each preset needs in its folder, and presetArgs on its
// command line.
var (
	presetFiles = map[string]map[string]string{
		"workspace": {"notes/about.md": "# About\n\nA note.\n", "notes/tasks.json": `{"version":1,"tasks":[]}`},
		"taskfile":  {"Taskfile.yml": "version: '3'\ntasks:\n  hello:\n    desc: Say hello\n    cmds: [echo hello]\n"},
	}
	presetArgs = map[string][]string{
		"workspace": {"--root", "notes", "--audit-db", "audit.db"},
		"taskfile":  {"--root", ".", "--audit-db", "audit.db"},
	}
)

// generic are the scenarios that need no fixtures, by revision, with the
// capability that a server declares where it serves what they ask for.
var generic = map[string]map[string]string{
	"2026-07-28": {
		"server-stateless": "tools", "tools-list": "tools", "server-sse-multiple-streams": "tools",
		"dns-rebinding-protection": "tools", "caching": "tools", "http-header-validation": "tools",
		"input-required-result-unsupported-methods": "tools",
		"sep-2164-resource-not-found":               "resources", "resources-list": "resources",
		"prompts-list": "prompts", "completion-complete": "completions",
	},
	"2025-11-25": {
		"server-initialize": "tools", "ping": "tools", "server-session-lifecycle": "tools", "tools-list": "tools",
		"server-sse-multiple-streams": "tools", "dns-rebinding-protection": "tools",
		"logging-set-level": "logging", "resources-list": "resources", "prompts-list": "prompts",
		"completion-complete": "completions",
	},
}

// fixtureChecks are the checks of server-stateless that need a tool of the
// fixtures.
var fixtureChecks = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
}

func TestEveryPresetPassesWhatNeedsNoFixtures(t *testing.T) {
	suite(t)
	for _, p := range config.Presets {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			address := servePreset(t, p.Name)
			declared := capabilities(t, address)
			excused := func(_ string, c check) bool {
				needsFixture := slices.Contains(fixtureChecks, c.ID) && strings.HasPrefix(c.ErrorMessage, "Not testable")
				// A preset's lists change or not; where they do not, nothing is to be heard.
				constant := c.Status == "SKIPPED" && strings.HasSuffix(c.ID, "-list-changed-on-subscription")
				nothingToRead := c.ID == "sep-2549-resources-read-caching-hints" && p.Name != "basic" && p.Name != "workspace"
				return needsFixture || constant || nothingToRead
			}
			for revision, scenarios := range generic {
				found := runSuite(t, address, "--requirements", revision)
				var required []string
				for name, capability := range scenarios {
					if declared[capability] {
						required = append(required, name)
					}
				}
				found.require(t, required, excused)
				for name, checks := range found { // whatever a scenario asks for, what we send is valid
					for _, c := range checks {
						if c.ID == "wire-schema-valid" && c.Status == "FAILURE" {
							t.Errorf("%s, %s: %s: %s", revision, name, c.ID, c.ErrorMessage)
						}
					}
				}
				if n := found.count([]string{"server-stateless"})["SUCCESS"]; revision == "2026-07-28" && n < 24 {
					t.Errorf("server-stateless: %d checks succeeded, and 24 need no fixtures", n)
				}
				t.Logf("%s: %d scenarios, checks %v", revision, len(required), found.count(required))
			}
		})
	}
}

// servePreset serves a preset as a user would start it, and is the URL of a
// proxy before it.
func servePreset(t *testing.T, preset string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range presetFiles[preset] {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tokens := fmt.Sprintf(`MCP_AUTH_TOKENS_JSON={"suite":%q}`, token)
	s := testenv.Serve(t, dir, []string{tokens}, preset, presetArgs[preset]...)
	return proxy(t, s.Addr, token)
}

// capabilities are what a server says that it serves.
func capabilities(t *testing.T, address string) map[string]bool {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover",
	} {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, data, stream := strings.Cut(string(text), "data: ")
	if !stream {
		data = string(text)
	}
	var m struct {
		Result struct {
			Capabilities map[string]json.RawMessage
		}
	}
	if err := json.NewDecoder(strings.NewReader(data)).Decode(&m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	declared := map[string]bool{}
	for name := range m.Result.Capabilities {
		declared[name] = true
	}
	if !declared["tools"] {
		t.Fatalf("no tools are declared: %s", text)
	}
	return declared
}
