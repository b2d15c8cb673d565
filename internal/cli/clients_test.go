package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/internal/config"
	"handrail/internal/testenv"
)

// A hostEntry is one server in a host's configuration, as a page shows it.
type hostEntry struct {
	page, heading, name string

	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`

	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers"`
	BearerToken string            `json:"bearer_token_env_var"`
}

var (
	fence     = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	sections  = regexp.MustCompile(`(?m)^## (.+)$`)
	tomlTable = regexp.MustCompile(`^\[mcp_servers\.([A-Za-z0-9_-]+)\]$`)
	tomlPair  = regexp.MustCompile(`^([a-z_]+) = (.+)$`)
	tomlKey   = regexp.MustCompile(`([A-Za-z0-9_]+) = `)
	continued = regexp.MustCompile(`\\\n\s*`)
	word      = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)
)

// hostEntries are all entries on all pages.
func hostEntries(t *testing.T) []hostEntry {
	t.Helper()
	var all []hostEntry
	for page, text := range pages(t) {
		for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
			heading := ""
			if before := sections.FindAllStringSubmatch(text[:at[0]], -1); len(before) > 0 {
				heading = before[len(before)-1][1]
			}
			language, block := text[at[2]:at[3]], text[at[4]:at[5]]
			var found []hostEntry
			switch language {
			case "json":
				found = jsonEntries(block)
			case "toml":
				found = tomlEntries(t, page, block)
			default:
				found = commandEntries(block)
			}
			for _, e := range found {
				e.page, e.heading = page, heading
				all = append(all, e)
			}
		}
	}
	return all
}

// jsonEntries are those of a block of JSON; none where it is something else.
func jsonEntries(block string) []hostEntry {
	var file map[string]json.RawMessage
	if json.Unmarshal([]byte(block), &file) != nil {
		return nil // TestConfigurationsInThePagesAreJSON says it
	}
	var all []hostEntry
	for _, key := range []string{"mcpServers", "servers", "context_servers"} {
		var servers map[string]hostEntry
		if file[key] == nil || json.Unmarshal(file[key], &servers) != nil {
			continue
		}
		for name, e := range servers {
			e.name = name
			all = append(all, e)
		}
	}
	return all
}

// tomlEntries reads the little TOML that the pages have: tables of text, lists
// of text, and inline tables of text. Anything else fails the test.
func tomlEntries(t *testing.T, page, block string) []hostEntry {
	t.Helper()
	var all []hostEntry
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if table := tomlTable.FindStringSubmatch(line); table != nil {
			all = append(all, hostEntry{name: table[1]})
			continue
		}
		pair := tomlPair.FindStringSubmatch(line)
		switch {
		case line == "":
			continue
		case pair == nil || len(all) == 0:
			t.Errorf("%s: this line of TOML is not understood: %s", page, line)
			continue
		}
		value := pair[2]
		if strings.HasPrefix(value, "{") {
			value = tomlKey.ReplaceAllString(value, `"$1": `)
		}
		if err := json.Unmarshal([]byte(`{"`+pair[1]+`": `+value+`}`), &all[len(all)-1]); err != nil {
			t.Errorf("%s: this line of TOML is not understood: %s: %v", page, line, err)
		}
	}
	return all
}

// commandEntries are those of lines such as `claude mcp add NAME -- handrail tasks`.
func commandEntries(block string) []hostEntry {
	var all []hostEntry
	for line := range strings.Lines(continued.ReplaceAllString(block, " ")) {
		_, rest, ok := strings.Cut(line, " mcp add ")
		before, command, local := strings.Cut(rest, " -- ")
		if !ok || !local {
			continue
		}
		e := hostEntry{Env: map[string]string{}}
		options := words(before)
		for i := 0; i < len(options); i++ {
			switch {
			case options[i] == "--env" && i+1 < len(options):
				key, value, _ := strings.Cut(options[i+1], "=")
				e.Env[key] = value
				i++
			case options[i] == "--scope":
				i++
			case e.name == "":
				e.name = options[i]
			}
		}
		line := words(command)
		e.Command, e.Args = line[0], line[1:]
		all = append(all, e)
	}
	return all
}

// words splits a line as a shell would that has no escapes.
func words(line string) []string {
	all := word.FindAllString(line, -1)
	for i := range all {
		all[i] = strings.NewReplacer(`"`, "", `'`, "").Replace(all[i])
	}
	return all
}

// within is the command line that wsl.exe starts in Linux.
func (e hostEntry) within() hostEntry {
	at := slices.Index(e.Args, "--")
	if e.Command != "wsl.exe" || at < 0 {
		return e
	}
	rest := e.Args[at+1:]
	e.Env = map[string]string{}
	if len(rest) > 0 && rest[0] == "env" {
		for rest = rest[1:]; len(rest) > 0 && strings.Contains(rest[0], "="); rest = rest[1:] {
			key, value, _ := strings.Cut(rest[0], "=")
			e.Env[key] = value
		}
	}
	if len(rest) > 0 {
		e.Command, e.Args = rest[0], rest[1:]
	}
	return e
}

// isOurs reports whether the entry starts Handrail, and not what it replaces.
func (e hostEntry) isOurs() bool {
	return strings.TrimSuffix(path.Base(e.Command), ".exe") == "handrail"
}

// preset is the command of an entry that is ours, or "".
func (e hostEntry) preset() string {
	if len(e.Args) == 0 || !e.isOurs() {
		return ""
	}
	return e.Args[0]
}

func TestTheProgramAcceptsEveryEntryForAHostInThePages(t *testing.T) {
	program := testenv.Binary(t)
	started := 0
	for _, shown := range hostEntries(t) {
		e := shown.within()
		where := e.page + ", " + e.heading + ", " + e.name
		if e.name == "workspace" || e.name == "" {
			t.Errorf("%s: a server cannot be called %q", where, e.name)
		}
		switch {
		case e.URL != "":
			e.checkRemote(t, where)
		case e.Command == "node" || e.Command == "mcp-taskfile-server": // what Handrail replaces
		case e.Command == "npx" && slices.Contains(e.Args, "mcp-remote"):
			if !slices.ContainsFunc(e.Args, isEndpoint) {
				t.Errorf("%s: no URL in %q", where, e.Args)
			}
		case e.isOurs():
			e.start(t, program, where)
			started++
		default:
			t.Errorf("%s starts %q, which is not Handrail", where, e.Command)
		}
	}
	if started < 20 {
		t.Errorf("only %d entries were started", started)
	}
}

func isEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Path == "/mcp"
}

func (e hostEntry) checkRemote(t *testing.T, where string) {
	t.Helper()
	if !isEndpoint(e.URL) || e.BearerToken == "" && !strings.HasPrefix(e.Headers["Authorization"], "Bearer ") {
		t.Errorf("%s: %s with %v is no entry that the server would accept", where, e.URL, e.Headers)
	}
}

// start runs the entry's command line as a host would, with a folder of its own
// in place of the paths, and closes its input.
func (e hostEntry) start(t *testing.T, program, where string) {
	t.Helper()
	p, known := config.FindPreset(e.preset())
	if !known {
		t.Errorf("%s: there is no preset %q", where, e.preset())
		return
	}
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "LOCALAPPDATA=" + home, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot")}
	for _, arg := range e.Args {
		cmd.Args = append(cmd.Args, here(t, home, arg))
	}
	for key, value := range e.Env {
		if !slices.ContainsFunc(p.Settings, func(s config.Setting) bool { return s.Env == key }) {
			t.Errorf("%s sets %s, which %s does not read", where, key, p.Name)
		}
		cmd.Env = append(cmd.Env, key+"="+here(t, home, value))
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("%s: handrail %q, %q: %v\n%s%s", where, cmd.Args[1:], slices.Sorted(maps.Keys(e.Env)), err, &out, &stderr)
	}
}

// here is a word with a path of this machine in place of one that a reader is
// to fill in: a database that is not there yet, or an empty folder.
func here(t *testing.T, home, word string) string {
	t.Helper()
	if !strings.ContainsAny(word, `/$~`) {
		return word
	}
	name := filepath.Join(home, strings.Trim(path.Base(word), "${})"))
	if path.Ext(name) == "" {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// The page of all clients leaves out none of them, and none of the presets
// that a person would configure.
func TestThePageOfClientsHasEveryPresetForEveryClient(t *testing.T) {
	want := []string{"tasks", "workspace", "basic", "taskfile"}
	got := map[string]map[string]bool{}
	for _, shown := range hostEntries(t) {
		if filepath.Base(shown.page) != "clients.md" || strings.Contains(shown.page, "zh") {
			continue
		}
		if got[shown.heading] == nil {
			got[shown.heading] = map[string]bool{}
		}
		got[shown.heading][shown.within().preset()] = true
	}
	for _, client := range []string{"Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "Zed", "A Windows host with the server in WSL"} {
		for _, preset := range want {
			if !got[client][preset] {
				t.Errorf("%s has no entry for %s", client, preset)
			}
		}
	}
}
