// Package config owns the settings: one table of options from which flags,
// environment names, help and documentation are made, and the presets that
// choose among them. It opens nothing and knows no toolset.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
)

// Config is the effective settings of one run.
type Config struct {
	// Preset is the name of the command.
	Preset string
	// DB is the path of the task database, taken literally.
	DB string
	// Root is the folder of notes.
	Root string
	// AllowWrite names the tools that change something and are switched on, where
	// the preset has them off by default.
	AllowWrite []string
	// MaxNoteBytes, MaxReadBytes and MaxSearchResults bound the notes.
	MaxNoteBytes, MaxReadBytes, MaxSearchResults int
	// Taskfile are the settings of a project's own commands.
	Taskfile Taskfile
	// AuditDB is the path of the record where there is no task database; "off"
	// keeps none.
	AuditDB string
	// Confirm is how destroying calls are confirmed: argument, ask or auto.
	Confirm string
	// HTTP serves over Streamable HTTP instead of standard input and output.
	HTTP bool
	// Host and Port, or Listen before them, are where HTTP listens.
	Host, Port, Listen string
	// AllowedHosts and AllowedOrigins are host names without scheme and port.
	AllowedHosts, AllowedOrigins []string
	// Rate is how many requests a second a user may send over HTTP; 0: any.
	Rate int
	// Tokens maps users to bearer tokens. Never printed.
	Tokens map[string]string
	// StateSecret seals the state of confirmations; PreviousSecret is accepted
	// too. Never printed.
	StateSecret, PreviousSecret string
	// ReadOnly leaves out every tool that changes anything.
	ReadOnly bool
	// LogLevel is the least level of what is written to stderr.
	LogLevel slog.Level
}

// AuditOff is the value of audit-db that keeps no record.
const AuditOff = "off"

// Preset is a command that serves: which options it has, their environment
// names and defaults.
type Preset struct {
	// Name is the command.
	Name string
	// Doc is one sentence; Replaces is the server that it can stand in for.
	Doc, Replaces string
	// Toolsets are what it serves.
	Toolsets []string
	// Writes are its tools that change something and have to be switched on by
	// name; nil where all its tools are on by default.
	Writes []string
	// MakesFolders says that the folder of the database is made where there is
	// none.
	MakesFolders bool
	// Settings are its options, in the order of the help.
	Settings []Setting
}

// Setting is an option as a preset has it.
type Setting struct {
	Option string
	// Env is the environment variable that sets it too.
	Env string
	// Default is its value where nothing sets it; Required says that there is
	// none and something must. DefaultDoc describes a default that depends on
	// the machine.
	Default    string
	Required   bool
	DefaultDoc string
	// Doc says it better than the option's own.
	Doc string
	// Join ends each value of a flag that may be given several times; empty where
	// the last one counts.
	Join string
	// Lenient has the variable count as unset where its value is none that there
	// is: what the original of the preset did.
	Lenient bool
}

// About is the option as the preset has it.
func (s Setting) About() Option {
	o, ok := Find(s.Option)
	if !ok {
		panic("there is no option " + s.Option + " in the table")
	}
	if s.Doc != "" {
		o.Doc = s.Doc
	}
	return o
}

// common are the settings that every preset has, behind its own.
func common(confirm string, own ...Setting) []Setting {
	all := []Setting{
		Setting{Option: "confirm", Env: "HANDRAIL_CONFIRM", Default: confirm},
		Setting{Option: "read-only", Env: "HANDRAIL_READ_ONLY", Default: "false"},
		Setting{Option: "http", Env: "HANDRAIL_HTTP", Default: "false"},
		Setting{Option: "listen", Env: "HANDRAIL_LISTEN", DefaultDoc: "MCP_HOST and MCP_PORT"},
		Setting{Option: "host", Env: "MCP_HOST", Default: "127.0.0.1"},
		Setting{Option: "port", Env: "MCP_PORT", Default: "3000"},
		Setting{Option: "allowed-hosts", Env: "MCP_ALLOWED_HOSTS", DefaultDoc: "this machine's own names"},
		Setting{Option: "allowed-origins", Env: "MCP_ALLOWED_ORIGINS", DefaultDoc: "this machine's own names"},
		Setting{Option: "rate-limit", Env: "HANDRAIL_RATE_LIMIT", Default: "200"},
		Setting{Option: "auth-tokens", Env: "MCP_AUTH_TOKENS_JSON", DefaultDoc: "none"},
		Setting{Option: "auth-tokens-file", Env: "MCP_AUTH_TOKENS_FILE", DefaultDoc: "none"},
		Setting{Option: "state-secret", Env: "REQUEST_STATE_SECRET", DefaultDoc: "random at each start"},
		Setting{Option: "state-secret-previous", Env: "REQUEST_STATE_SECRET_PREVIOUS", DefaultDoc: "none"},
		Setting{Option: "log-level", Env: "HANDRAIL_LOG_LEVEL", Default: "info"},
	}
	all = slices.DeleteFunc(all, func(s Setting) bool {
		return slices.ContainsFunc(own, func(o Setting) bool { return o.Option == s.Option })
	})
	return append(own, all...)
}

// Presets is the table of all presets.
var Presets = []Preset{
	{
		Name:     "tasks",
		Doc:      "Serve a task list in a SQLite file: add, list, search, complete, delete.",
		Replaces: "mcp-task-server",
		Toolsets: []string{"tasks"},
		Settings: common("argument", Setting{Option: "db", Env: "TASKS_DB_PATH", Default: "tasks.db"}),
	},
	{
		Name:     "workspace",
		Doc:      "Serve a folder of Markdown notes and its tasks.json, read-only until tools are switched on by name.",
		Replaces: "mcp-workspace",
		Toolsets: []string{"notes", "todo"},
		Writes:   []string{"notes_write", "notes_append", "tasks_add", "tasks_complete"},
		Settings: common("argument",
			Setting{Option: "root", Env: "MCP_WORKSPACE_ROOT", Required: true},
			Setting{Option: "allow-write", Join: ",", Env: "MCP_WORKSPACE_ALLOW_WRITE", DefaultDoc: "none"},
			Setting{Option: "max-note-bytes", Env: "MCP_WORKSPACE_MAX_NOTE_BYTES", Default: "100000"},
			Setting{Option: "max-read-bytes", Env: "MCP_WORKSPACE_MAX_READ_BYTES", Default: "100000"},
			Setting{Option: "max-search-results", Env: "MCP_WORKSPACE_MAX_SEARCH_RESULTS", Default: "20"},
			Setting{Option: "audit-db", Env: "HANDRAIL_AUDIT_DB", DefaultDoc: "handrail/audit.db in $XDG_STATE_HOME"},
		),
	},
	{
		Name:     "basic",
		Doc:      "Serve a teaching server: the whole protocol over stdio or HTTP, with tasks of each user and small demo tools.",
		Replaces: "Basic MCP Server",
		Toolsets: []string{"demo", "board"},

		MakesFolders: true,
		Settings:     common("ask", Setting{Option: "db", Env: "MCP_DB_PATH", Default: "data/tasks.db"}),
	},
	taskfilePreset,
}

// FindPreset is the preset of this name.
func FindPreset(name string) (Preset, bool) {
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return Presets[i], true
}

// PresetNames lists the presets, in order.
func PresetNames() []string {
	names := make([]string, len(Presets))
	for i, p := range Presets {
		names[i] = p.Name
	}
	return names
}

// Load makes the settings of a preset: a flag beats the environment, which
// beats the default. flags holds only what was given on the command line. An
// empty environment variable counts as unset. The error lists every problem.
func Load(p Preset, flags map[string]string, getenv func(string) string) (Config, error) {
	c := Config{Preset: p.Name}
	var problems []error
	wrong := map[string]bool{} // the options that have a problem
	for _, s := range p.Settings {
		o, ok := Find(s.Option)
		if !ok {
			panic(fmt.Sprintf("preset %s has an option %s that is not in the table", p.Name, s.Option))
		}
		value, source := s.Default, "default"
		if v := getenv(s.Env); s.Env != "" && v != "" {
			value, source = v, s.Env
		}
		if v, given := flags[s.Option]; given {
			value, source = v, "--"+s.Option
		}
		if source == "default" && value == "" {
			if s.Required {
				problems = append(problems, fmt.Errorf("--%s or %s is required: %s", s.Option, s.Env, firstWords(o.Doc)))
			} else if s.Option == "audit-db" {
				c.AuditDB = defaultAuditDB(getenv)
			}
			continue
		}
		if o.Secret && source == "--"+s.Option {
			panic("a secret came from a flag: " + s.Option)
		}
		err := o.set(&c, p, value)
		if err != nil && s.Lenient && source == s.Env {
			err = o.set(&c, p, s.Default)
		}
		for _, err := range each(err) {
			problems = append(problems, fmt.Errorf("%s: %w", source, err))
			wrong[s.Option] = true
		}
	}
	c.finish()
	if c.HTTP && len(c.Tokens) == 0 && !wrong["auth-tokens"] && !wrong["auth-tokens-file"] {
		problems = append(problems, errors.New("--http needs users: set MCP_AUTH_TOKENS_JSON, or MCP_AUTH_TOKENS_FILE, to a JSON object of users and their tokens"))
	}
	return c, errors.Join(problems...)
}

// firstWords is the first sentence of a text, to go on with after a colon.
func firstWords(doc string) string {
	first, _, _ := strings.Cut(doc, ".")
	return strings.ToLower(first[:1]) + first[1:]
}

// each is the list of errors that were joined.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// finish settles what depends on several options.
func (c *Config) finish() {
	if c.Listen == "" {
		c.Listen = net.JoinHostPort(c.Host, c.Port)
	}
}

// Effective lists the settings as they are, in the order of the preset, for
// the operator. Secrets are never among them.
func Effective(p Preset, c Config) []slog.Attr {
	var attrs []slog.Attr
	for _, s := range p.Settings {
		if o, ok := Find(s.Option); ok && (c.HTTP || !o.OnlyHTTP) {
			if v := o.get(&c); v != "" {
				attrs = append(attrs, slog.String(o.Name, v))
			}
		}
	}
	return attrs
}
