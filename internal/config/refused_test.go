package config_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/internal/config"
)

// file is a new file with this content.
func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAValueThatAnOptionCannotHaveStopsTheStart(t *testing.T) {
	rows := map[string][]string{
		"db":                 {"", "a\x00b"},
		"root":               {"", "a\x00b"},
		"allow-write":        {"*", "all", "notes_*", "notes_read", "notes_Append", "tasks_add,nope", "delete_task", "add_task"},
		"max-note-bytes":     {"", "0", "-1", "1.5", "1e5", "100k", "16777217", "99999999999999999999", "0x10", " 1"},
		"max-read-bytes":     {"0", "x"},
		"max-search-results": {"0", "1001", "many"},
		"audit-db":           {"", "a\x00b"},
		"confirm":            {"", "no", "Argument", "ask,auto"},
		"read-only":          {"", "perhaps", "2"},
		"http":               {"", "y"},
		"listen":             {"", "localhost", "host:port", "host:70000", ":-1"},
		"host":               {""},
		"port":               {"", "-1", "65536", "http"},
		"rate-limit":         {"", "-1", "1000001", "1.5"},
		"auth-tokens-file":   {filepath.Join(t.TempDir(), "missing"), t.TempDir(), file(t, "not json"), file(t, "")},
		"allow-run":          {"*", "build,*"},
		"timeout":            {"", "0", "10", "-1s", "999ms", "25h", "soon"},
		"raw-var":            {"X", ".X", "build.", "a.b,c"},
		"env":                {"A=B", "PATH,A B"},
		"allow-remote":       {"https://example.com", "*"},
		"max-output-bytes":   {"", "0", "96001", "64k"},
		"runs-per-task":      {"", "0", "65"},
		"no-static-tools":    {"", "perhaps"},
		"log-level":          {"", "loud", "trace"},
	}
	refuses := func(option string) bool {
		// A list of host names is judged by whoever serves them.
		return option != "allowed-hosts" && option != "allowed-origins"
	}
	for _, p := range config.Presets {
		for _, s := range p.Settings {
			o, _ := config.Find(s.Option)
			if o.Secret {
				continue
			}
			if refuses(s.Option) && len(rows[s.Option]) == 0 {
				t.Errorf("the option %s has no row of values that it refuses", s.Option)
			}
			for _, bad := range rows[s.Option] {
				if s.Option == "allow-write" && p.Name != "workspace" {
					continue
				}
				_, err := load(p.Name, map[string]string{s.Option: bad}, nil)
				if err == nil || !strings.Contains(err.Error(), "--"+s.Option+": ") {
					t.Errorf("%s --%s %q: %v", p.Name, s.Option, bad, err)
				}
				if bad == "" {
					continue // an empty variable is none
				}
				c, err := load(p.Name, nil, map[string]string{s.Env: bad})
				if s.Lenient {
					if err != nil || value(c, s.Option) != s.Default {
						t.Errorf("%s %s=%q: %q, %v; want the default, as the original has it", p.Name, s.Env, bad, value(c, s.Option), err)
					}
					continue
				}
				if err == nil || !strings.Contains(err.Error(), s.Env+": ") {
					t.Errorf("%s %s=%q: %v", p.Name, s.Env, bad, err)
				}
			}
		}
	}
}

func TestAnUnknownToolNamesTheOnesThatCanBeSwitchedOn(t *testing.T) {
	_, err := load("workspace", map[string]string{"allow-write": "notes_append,notes_delete"}, nil)
	for _, word := range []string{`"notes_delete"`, "notes_write, notes_append, tasks_add, tasks_complete"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s is missing in: %v", word, err)
		}
	}
}

func TestEveryProblemIsListedAtOnceEachOnALineOfItsOwn(t *testing.T) {
	_, err := load("workspace", map[string]string{"allow-write": "one,notes_append,two", "max-note-bytes": "none", "confirm": "never"},
		map[string]string{"MCP_WORKSPACE_ROOT": "", "MCP_WORKSPACE_MAX_READ_BYTES": "0", "HANDRAIL_HTTP": "true", "REQUEST_STATE_SECRET": "short"})
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	for _, want := range []string{"--root or MCP_WORKSPACE_ROOT is required", `--allow-write: "one"`, `--allow-write: "two"`, `--max-note-bytes: "none"`,
		`MCP_WORKSPACE_MAX_READ_BYTES: "0"`, `--confirm: "never"`, "REQUEST_STATE_SECRET: has 5 bytes", "--http needs users"} {
		found := 0
		for _, line := range lines {
			if strings.HasPrefix(line, want) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%q begins %d lines of:\n%v", want, found, err)
		}
	}
	if len(lines) != 8 {
		t.Errorf("%d lines of 8:\n%v", len(lines), err)
	}
	joined, many := err.(interface{ Unwrap() []error })
	if !many || len(joined.Unwrap()) != 8 {
		t.Errorf("%d problems of 8", len(joined.Unwrap()))
	}
}

func TestASecretIsShortNeverShownAndNeverAFlag(t *testing.T) {
	const secret = "tell nobody that it is swordfish"
	env := map[string]string{"REQUEST_STATE_SECRET": secret, "REQUEST_STATE_SECRET_PREVIOUS": secret + "2", "MCP_AUTH_TOKENS_JSON": `{"ann":"` + secret + `"}`, "HANDRAIL_HTTP": "true"}
	for _, p := range config.Presets {
		c, err := load(p.Name, nil, env)
		if err != nil || c.StateSecret != secret || c.Tokens["ann"] != secret {
			t.Fatalf("%s: %v", p.Name, err)
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).LogAttrs(context.Background(), slog.LevelInfo, "settings", config.Effective(p, c)...)
		if strings.Contains(log.String(), "swordfish") || strings.Count(log.String(), "set, not shown") != 3 {
			t.Errorf("%s: %s", p.Name, &log)
		}
	}
	for name, bad := range map[string]string{
		"REQUEST_STATE_SECRET": "swordfish", "REQUEST_STATE_SECRET_PREVIOUS": "31 bytes with swordfish in them",
		"MCP_AUTH_TOKENS_JSON": `{"ann":"swordfish","ann":"swordfish"}`,
	} {
		_, err := load("basic", nil, map[string]string{name: bad})
		if err == nil || strings.Contains(err.Error(), "swordfish") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{`["swordfish"]`, `{"ann":7,"x":"swordfish"}`, `swordfish`, `{"ann":"swordfish"} swordfish`, `{"ann":{"token":"swordfish"}}`} {
		if _, err := load("basic", nil, map[string]string{"MCP_AUTH_TOKENS_JSON": bad}); err == nil || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, o := range config.Options {
		if !o.Secret {
			continue
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken from a flag", o.Name)
				}
			}()
			_, _ = load("basic", map[string]string{o.Name: strings.Repeat("x", 40)}, nil)
		}()
	}
}

func TestTheSettingsShowWhatIsInForceAndNothingOfHTTPWithoutIt(t *testing.T) {
	p, _ := config.FindPreset("workspace")
	c, err := load("workspace", map[string]string{"allow-write": "tasks_add"}, map[string]string{"MCP_WORKSPACE_MAX_SEARCH_RESULTS": "7"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range config.Effective(p, c) {
		got[a.Key] = a.Value.String()
	}
	for name, want := range map[string]string{"root": "default root", "allow-write": "tasks_add", "max-note-bytes": "100000", "max-read-bytes": "100000",
		"max-search-results": "7", "read-only": "false", "audit-db": filepath.Join(state, "handrail", "audit.db"), "listen": "", "rate-limit": ""} {
		if got[name] != want {
			t.Errorf("%s is shown as %q, want %q", name, got[name], want)
		}
	}
}

func TestTheRootsOfTaskfilesAreAListLikePATHOrOneForEachFlag(t *testing.T) {
	list := string(filepath.ListSeparator)
	c, err := load("taskfile", nil, map[string]string{"HANDRAIL_TASKFILE_ROOTS": "a" + list + "b c" + list + "a"})
	if got := strings.Join(c.Taskfile.Roots, "|"); err != nil || got != "a|b c" {
		t.Errorf("%q, %v", got, err)
	}
	// What the command line hands over for --root a:b --root c.
	c, err = load("taskfile", map[string]string{"root": "a" + list + "b\x00c\x00"}, nil)
	if got := strings.Join(c.Taskfile.Roots, "|"); err != nil || got != "a"+list+"b|c" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNoRunSeesTheSettingsAndSecretsOfHandrail(t *testing.T) {
	own := config.Own()
	for _, p := range config.Presets {
		for _, s := range p.Settings {
			if s.Env != "" && !slices.Contains(own, s.Env) && !strings.HasPrefix(s.Env, "HANDRAIL_") {
				t.Errorf("%s is handed to tasks", s.Env)
			}
		}
	}
	if !slices.Contains(own, "HANDRAIL_*") {
		t.Error("what is named after Handrail is handed to tasks")
	}
}
