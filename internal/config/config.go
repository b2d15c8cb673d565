// Package config owns the settings: one table of options from which flags,
// environment names, help and documentation are made, and the presets that
// choose among them. It opens nothing and knows no toolset.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	// AuditDB is the path of the record where there is no task database; "off"
	// keeps none.
	AuditDB string
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
}

// Presets is the table of all presets.
var Presets = []Preset{
	{
		Name:     "tasks",
		Doc:      "Serve a task list in a SQLite file: add, list, search, complete, delete.",
		Replaces: "mcp-task-server",
		Toolsets: []string{"tasks"},
		Settings: []Setting{
			{Option: "db", Env: "TASKS_DB_PATH", Default: "tasks.db"},
			{Option: "read-only", Env: "HANDRAIL_READ_ONLY", Default: "false"},
			{Option: "log-level", Env: "HANDRAIL_LOG_LEVEL", Default: "info"},
		},
	},
	{
		Name:     "workspace",
		Doc:      "Serve a folder of Markdown notes and its tasks.json, read-only until tools are switched on by name.",
		Replaces: "mcp-workspace",
		Toolsets: []string{"notes", "todo"},
		Writes:   []string{"notes_write", "notes_append", "tasks_add", "tasks_complete"},
		Settings: []Setting{
			{Option: "root", Env: "MCP_WORKSPACE_ROOT", Required: true},
			{Option: "allow-write", Env: "MCP_WORKSPACE_ALLOW_WRITE", DefaultDoc: "none"},
			{Option: "max-note-bytes", Env: "MCP_WORKSPACE_MAX_NOTE_BYTES", Default: "100000"},
			{Option: "max-read-bytes", Env: "MCP_WORKSPACE_MAX_READ_BYTES", Default: "100000"},
			{Option: "max-search-results", Env: "MCP_WORKSPACE_MAX_SEARCH_RESULTS", Default: "20"},
			{Option: "audit-db", Env: "HANDRAIL_AUDIT_DB", DefaultDoc: "handrail/audit.db in $XDG_STATE_HOME"},
			{Option: "read-only", Env: "HANDRAIL_READ_ONLY", Default: "false"},
			{Option: "log-level", Env: "HANDRAIL_LOG_LEVEL", Default: "info"},
		},
	},
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
				problems = append(problems, fmt.Errorf("--%s or %s is required: %s", s.Option, s.Env, o.Doc))
			} else if s.Option == "audit-db" {
				c.AuditDB = defaultAuditDB(getenv)
			}
			continue
		}
		if err := o.set(&c, p, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", source, err))
		}
	}
	return c, errors.Join(problems...)
}

// Effective lists the settings as they are, in the order of the preset, for
// the operator. Secrets are never among them.
func Effective(p Preset, c Config) []slog.Attr {
	var attrs []slog.Attr
	for _, s := range p.Settings {
		if o, ok := Find(s.Option); ok {
			attrs = append(attrs, slog.String(o.Name, o.get(&c)))
		}
	}
	return attrs
}
