package config_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/config"
)

// settings is every option of every preset as users know it: its environment
// name and its default. It is written by hand, so that a name which callers use
// cannot change with the table that the program runs on. The default !required
// is none: something must set it; !machine depends on the machine.
var settings = map[string]map[string][2]string{
	"tasks": with(map[string][2]string{
		"db":      {"TASKS_DB_PATH", "tasks.db"},
		"confirm": {"HANDRAIL_CONFIRM", "argument"},
	}),
	"workspace": with(map[string][2]string{
		"root":               {"MCP_WORKSPACE_ROOT", "!required"},
		"allow-write":        {"MCP_WORKSPACE_ALLOW_WRITE", ""},
		"max-note-bytes":     {"MCP_WORKSPACE_MAX_NOTE_BYTES", "100000"},
		"max-read-bytes":     {"MCP_WORKSPACE_MAX_READ_BYTES", "100000"},
		"max-search-results": {"MCP_WORKSPACE_MAX_SEARCH_RESULTS", "20"},
		"audit-db":           {"HANDRAIL_AUDIT_DB", "!machine"},
		"confirm":            {"HANDRAIL_CONFIRM", "argument"},
	}),
	"basic": with(map[string][2]string{
		"db":      {"MCP_DB_PATH", "data/tasks.db"},
		"confirm": {"HANDRAIL_CONFIRM", "ask"},
	}),
	"taskfile": with(map[string][2]string{
		"root":             {"HANDRAIL_TASKFILE_ROOTS", ""},
		"allow-run":        {"HANDRAIL_ALLOW_RUN", "all"},
		"timeout":          {"HANDRAIL_RUN_TIMEOUT", "10m0s"},
		"raw-var":          {"HANDRAIL_RAW_VARS", ""},
		"env":              {"HANDRAIL_RUN_ENV", "all"},
		"allow-remote":     {"HANDRAIL_ALLOW_REMOTE", ""},
		"max-output-bytes": {"HANDRAIL_MAX_OUTPUT_BYTES", "65536"},
		"runs-per-task":    {"HANDRAIL_RUNS_PER_TASK", "1"},
		"no-static-tools":  {"HANDRAIL_NO_STATIC_TOOLS", "false"},
		"audit-db":         {"HANDRAIL_AUDIT_DB", "!machine"},
		"confirm":          {"HANDRAIL_CONFIRM", "auto"},
		"log-level":        {"MCP_TASKFILE_LOG_LEVEL", "info"},
	}),
}

// with is own and what every preset has.
func with(own map[string][2]string) map[string][2]string {
	all := map[string][2]string{
		"read-only":             {"HANDRAIL_READ_ONLY", "false"},
		"http":                  {"HANDRAIL_HTTP", "false"},
		"listen":                {"HANDRAIL_LISTEN", "127.0.0.1:3000"},
		"host":                  {"MCP_HOST", "127.0.0.1"},
		"port":                  {"MCP_PORT", "3000"},
		"allowed-hosts":         {"MCP_ALLOWED_HOSTS", ""},
		"allowed-origins":       {"MCP_ALLOWED_ORIGINS", ""},
		"rate-limit":            {"HANDRAIL_RATE_LIMIT", "200"},
		"auth-tokens":           {"MCP_AUTH_TOKENS_JSON", ""},
		"auth-tokens-file":      {"MCP_AUTH_TOKENS_FILE", ""},
		"state-secret":          {"REQUEST_STATE_SECRET", ""},
		"state-secret-previous": {"REQUEST_STATE_SECRET_PREVIOUS", ""},
		"log-level":             {"HANDRAIL_LOG_LEVEL", "info"},
	}
	maps.Copy(all, own)
	return all
}

// value is an option as it ended up, as text. host and port show in listen, and
// the file in the tokens that it held.
func value(c config.Config, option string) string {
	switch option {
	case "db":
		return c.DB
	case "root":
		return c.Root + strings.Join(c.Taskfile.Roots, "|")
	case "allow-run":
		return allOr(c.Taskfile.AllowRun)
	case "timeout":
		return c.Taskfile.RunTimeout.String()
	case "raw-var":
		return strings.Join(c.Taskfile.RawVars, ",")
	case "env":
		return allOr(c.Taskfile.RunEnv)
	case "allow-remote":
		return strings.Join(c.Taskfile.AllowRemote, ",")
	case "max-output-bytes":
		return fmt.Sprint(c.Taskfile.OutputBytes)
	case "runs-per-task":
		return fmt.Sprint(c.Taskfile.RunsPerTask)
	case "no-static-tools":
		return fmt.Sprint(c.Taskfile.NoStaticTools)
	case "allow-write":
		return strings.Join(c.AllowWrite, ",")
	case "max-note-bytes":
		return fmt.Sprint(c.MaxNoteBytes)
	case "max-read-bytes":
		return fmt.Sprint(c.MaxReadBytes)
	case "max-search-results":
		return fmt.Sprint(c.MaxSearchResults)
	case "audit-db":
		return c.AuditDB
	case "confirm":
		return c.Confirm
	case "read-only":
		return fmt.Sprint(c.ReadOnly)
	case "http":
		return fmt.Sprint(c.HTTP)
	case "listen":
		return c.Listen
	case "host":
		return c.Host
	case "port":
		return c.Port
	case "allowed-hosts":
		return strings.Join(c.AllowedHosts, ",")
	case "allowed-origins":
		return strings.Join(c.AllowedOrigins, ",")
	case "rate-limit":
		return fmt.Sprint(c.Rate)
	case "auth-tokens":
		return pairs(c.Tokens)
	case "auth-tokens-file":
		return pairs(c.Tokens)
	case "state-secret":
		return c.StateSecret
	case "state-secret-previous":
		return c.PreviousSecret
	case "log-level":
		return strings.ToLower(c.LogLevel.String())
	}
	return "the tests know no option " + option
}

// allOr is a list that stands for everything where it is not there.
func allOr(list []string) string {
	if list == nil {
		return "all"
	}
	return strings.Join(list, ",")
}

func pairs(m map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, k+"="+m[k])
	}
	return strings.Join(all, " ")
}

// trial is two values that an option takes, other than its default, as they are
// given and as they end up.
type trial struct{ one, other, oneIs, otherIs string }

func same(one, other string) trial { return trial{one, other, one, other} }

// trials has a row for every option there is.
func trials(t *testing.T) map[string]trial {
	t.Helper()
	return map[string]trial{
		"db":                    same("some where/x?y#.db", "file:other.db"),
		"root":                  same("/notes", "my notes"),
		"allow-write":           {"notes_append,tasks_add", " tasks_complete , notes_write,,", "notes_append,tasks_add", "tasks_complete,notes_write"},
		"max-note-bytes":        same("1", "16777216"),
		"max-read-bytes":        same("7", "200000"),
		"max-search-results":    same("1", "1000"),
		"audit-db":              same("record.db", "off"),
		"confirm":               same("auto", "argument"),
		"read-only":             {"yes", "0", "true", "false"},
		"http":                  {"TRUE", "off", "true", "false"},
		"listen":                {"0.0.0.0:80", "[::1]:0", "0.0.0.0:80", "[::1]:0"},
		"host":                  same("0.0.0.0", "::1"),
		"port":                  same("0", "65535"),
		"allowed-hosts":         {"a.example, b.example", "c", "a.example,b.example", "c"},
		"allowed-origins":       {"a.example,", "b", "a.example", "b"},
		"rate-limit":            same("0", "1000000"),
		"auth-tokens":           {`{"ann":"t1"}`, `{"bob":"t2"}`, "ann=t1", "bob=t2"},
		"auth-tokens-file":      {file(t, `{"ann":"f1"}`+"\r\n"), file(t, `{"bob":"f2"}`), "ann=f1", "bob=f2"},
		"state-secret":          same(strings.Repeat("a", 32), strings.Repeat("ü", 20)),
		"state-secret-previous": same(strings.Repeat("b", 32), strings.Repeat("c", 99)),
		"allow-run":             {"build,start:*", ",", "build,start:*", ""},
		"timeout":               {"90s", "24h", "1m30s", "24h0m0s"},
		"raw-var":               {"build.X, a.b.Y,", "c.Z", "build.X,a.b.Y", "c.Z"},
		"env":                   {"PATH,HOME,PATH", " ,", "PATH,HOME", ""},
		"allow-remote":          same("example.com,git.example.com:8443", "a"),
		"max-output-bytes":      same("1", "96000"),
		"runs-per-task":         same("2", "64"),
		"no-static-tools":       {"on", "no", "true", "false"},
		"log-level":             {"DEBUG", "warn", "debug", "warn"},
	}
}

// load is config.Load with everything that is required, a token, and what the
// test gives.
func load(preset string, flags, env map[string]string) (config.Config, error) {
	p, known := config.FindPreset(preset)
	if !known {
		return config.Config{}, fmt.Errorf("no preset %s", preset)
	}
	return config.Load(p, flags, func(name string) string {
		if v, given := env[name]; given {
			return v
		}
		return map[string]string{"MCP_WORKSPACE_ROOT": "default root", "XDG_STATE_HOME": state}[name]
	})
}

var state = absolute("state")

// absolute is an absolute path on this platform; nothing is there.
func absolute(name string) string {
	if runtime.GOOS == "windows" {
		return `C:\` + name
	}
	return "/" + name
}

func TestEveryPresetHasTheOptionsEnvironmentNamesAndDefaultsThatUsersKnow(t *testing.T) {
	for _, p := range config.Presets {
		known := settings[p.Name]
		if known == nil {
			t.Errorf("write down the settings of %s at the top of this file", p.Name)
			continue
		}
		got := map[string][2]string{}
		c, err := load(p.Name, nil, nil)
		if err != nil {
			t.Errorf("%s with nothing but what is required: %v", p.Name, err)
		}
		for _, s := range p.Settings {
			what := value(c, s.Option)
			switch {
			case s.Required:
				what = "!required"
			case s.Option == "audit-db":
				what = "!machine"
			}
			got[s.Option] = [2]string{s.Env, what}
		}
		if diff := cmp.Diff(known, got); diff != "" {
			t.Errorf("%s (-as users know it +as it is):\n%s", p.Name, diff)
		}
	}
}

func TestAFlagBeatsTheEnvironmentWhichBeatsTheDefault(t *testing.T) {
	all := trials(t)
	for _, p := range config.Presets {
		for _, s := range p.Settings {
			try, known := all[s.Option]
			if !known {
				t.Errorf("the option %s has no row of values to try", s.Option)
				continue
			}
			o, _ := config.Find(s.Option)
			tokens := map[string]string{"MCP_AUTH_TOKENS_JSON": `{"ann":"t"}`} // http needs one
			check := func(how, want string, flags, env map[string]string) {
				t.Helper()
				c, err := load(p.Name, flags, env)
				if got := value(c, s.Option); err != nil || got != want {
					t.Errorf("%s: %s by %s is %q, want %q, %v", p.Name, s.Option, how, got, want, err)
				}
			}
			env := maps.Clone(tokens)
			env[s.Env] = try.one
			check("the environment", try.oneIs, nil, env)
			if o.Secret {
				continue // no flag
			}
			check("a flag", try.oneIs, map[string]string{s.Option: try.one}, tokens)
			check("a flag before the environment", try.otherIs, map[string]string{s.Option: try.other}, env)
			env[s.Env] = ""
			if plain, err := load(p.Name, nil, tokens); err != nil {
				t.Error(err)
			} else if !s.Required {
				check("an empty variable, which is none", value(plain, s.Option), nil, env)
			}
		}
	}
}

func TestAnEmptyVariableDoesNotGiveWhatIsRequired(t *testing.T) {
	_, err := load("workspace", nil, map[string]string{"MCP_WORKSPACE_ROOT": ""})
	if err == nil || !strings.Contains(err.Error(), "--root or MCP_WORKSPACE_ROOT is required") {
		t.Error(err)
	}
}

func TestHostAndPortMakeTheAddressUnlessOneIsGivenWhole(t *testing.T) {
	for _, row := range []struct {
		flags, env map[string]string
		want       string
	}{
		{nil, map[string]string{"MCP_HOST": "::1", "MCP_PORT": "8080"}, "[::1]:8080"},
		{map[string]string{"port": "81"}, map[string]string{"MCP_HOST": "::1", "MCP_PORT": "8080"}, "[::1]:81"},
		{map[string]string{"listen": "localhost:1"}, map[string]string{"MCP_HOST": "::1", "MCP_PORT": "8080"}, "localhost:1"},
		{map[string]string{"port": "81"}, map[string]string{"HANDRAIL_LISTEN": "localhost:1"}, "localhost:1"},
	} {
		if c, err := load("tasks", row.flags, row.env); err != nil || c.Listen != row.want {
			t.Errorf("%v %v: %q, want %q, %v", row.flags, row.env, c.Listen, row.want, err)
		}
	}
}

func TestTheRecordIsKeptInTheUsersFolderForState(t *testing.T) {
	p, _ := config.FindPreset("workspace")
	home, there := absolute("home"), func(dirs ...string) string {
		return filepath.Join(append(dirs, "handrail", "audit.db")...)
	}
	rows := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"XDG_STATE_HOME": state, "HOME": home, "LOCALAPPDATA": home}, there(state)},
		{map[string]string{}, ""},
		{map[string]string{"XDG_STATE_HOME": "relative"}, ""}, // the XDG specification: ignore it
		{map[string]string{"XDG_STATE_HOME": state, "HANDRAIL_AUDIT_DB": "off"}, config.AuditOff},
	}
	if runtime.GOOS == "windows" {
		rows = append(rows, struct {
			env  map[string]string
			want string
		}{map[string]string{"LOCALAPPDATA": home}, there(home)})
	} else {
		rows = append(rows, struct {
			env  map[string]string
			want string
		}{map[string]string{"HOME": home, "XDG_STATE_HOME": "relative"}, there(home, ".local", "state")})
	}
	for _, row := range rows {
		row.env["MCP_WORKSPACE_ROOT"] = "x"
		c, err := config.Load(p, nil, func(name string) string { return row.env[name] })
		if err != nil || c.AuditDB != row.want {
			t.Errorf("%v: %q, want %q, %v", row.env, c.AuditDB, row.want, err)
		}
	}
}

func TestEveryPresetNamesOptionsOfTheTableOnceAndEachByAVariableOfItsOwn(t *testing.T) {
	used := map[string]bool{}
	for _, p := range config.Presets {
		options, variables := map[string]bool{}, map[string]bool{}
		for _, s := range p.Settings {
			if _, there := config.Find(s.Option); !there || options[s.Option] {
				t.Errorf("%s: %s is not in the table, or twice in the preset", p.Name, s.Option)
			}
			if s.Env == "" || variables[s.Env] {
				t.Errorf("%s: %s has no variable, or that of another option: %q", p.Name, s.Option, s.Env)
			}
			options[s.Option], variables[s.Env], used[s.Option] = true, true, true
		}
		if got, there := config.FindPreset(p.Name); !there || got.Name != p.Name {
			t.Errorf("%s is not found by its name", p.Name)
		}
	}
	for _, o := range config.Options {
		if !used[o.Name] {
			t.Errorf("no preset has the option %s", o.Name)
		}
	}
	if _, there := config.FindPreset("Tasks"); there {
		t.Error("a preset is found by another name")
	}
}
