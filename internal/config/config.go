// Package config owns the settings: one table of options from which flags,
// environment names, help and documentation are made, and the presets that
// choose among them. It opens nothing and knows no toolset.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Config is the effective settings of one run.
type Config struct {
	// Preset is the name of the command.
	Preset string
	// DB is the path of the task database, taken literally.
	DB string
	// ReadOnly leaves out every tool that changes anything.
	ReadOnly bool
	// LogLevel is the least level of what is written to stderr.
	LogLevel slog.Level
}

// Kind is what an option's value looks like.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Path
	Bool
	Choice
)

// Option is one setting.
type Option struct {
	// Name is the flag, without its dashes.
	Name string
	// Kind and Choices say what values there are.
	Kind    Kind
	Choices []string
	// Value is the placeholder in the help.
	Value string
	// Doc is one sentence.
	Doc string

	set func(*Config, string) error
	get func(*Config) string
}

// Options is the table of all options, in the order of the help.
var Options = []Option{
	{
		Name: "db", Kind: Path, Value: "FILE",
		Doc: "The task database, a SQLite file; made where there is none. The path is taken literally.",
		set: func(c *Config, v string) error { c.DB = v; return nonEmpty(v) },
		get: func(c *Config) string { return c.DB },
	},
	{
		Name: "read-only", Kind: Bool,
		Doc: "Leave out every tool that changes anything; wins over everything else.",
		set: func(c *Config, v string) error { return parseBool(v, &c.ReadOnly) },
		get: func(c *Config) string { return fmt.Sprint(c.ReadOnly) },
	},
	{
		Name: "log-level", Kind: Choice, Choices: levels, Value: "LEVEL",
		Doc: "The least level of the log on stderr.",
		set: func(c *Config, v string) error { return parseLevel(v, &c.LogLevel) },
		get: func(c *Config) string { return strings.ToLower(c.LogLevel.String()) },
	},
}

// Find is the option of this name.
func Find(name string) (Option, bool) {
	i := slices.IndexFunc(Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return Option{}, false
	}
	return Options[i], true
}

// Preset is a command that serves: which options it has, their environment
// names and defaults.
type Preset struct {
	// Name is the command.
	Name string
	// Doc is one sentence; Replaces is the server that it can stand in for.
	Doc, Replaces string
	// Toolsets are what it serves.
	Toolsets []string
	// Settings are its options, in the order of the help.
	Settings []Setting
}

// Setting is an option as a preset has it.
type Setting struct {
	Option string
	// Env is the environment variable that sets it too.
	Env string
	// Default is its value where nothing sets it.
	Default string
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
		if err := o.set(&c, value); err != nil {
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

var levels = []string{"debug", "info", "warn", "error"}

func parseLevel(v string, to *slog.Level) error {
	if !slices.Contains(levels, strings.ToLower(v)) {
		return fmt.Errorf("%q is no log level; there are %s", v, strings.Join(levels, ", "))
	}
	return to.UnmarshalText([]byte(v))
}

func parseBool(v string, to *bool) error {
	switch strings.ToLower(v) {
	case "true", "1", "yes", "on":
		*to = true
	case "false", "0", "no", "off":
		*to = false
	default:
		return fmt.Errorf("%q is neither true nor false", v)
	}
	return nil
}

func nonEmpty(v string) error {
	if v == "" {
		return errors.New("must not be empty")
	}
	if strings.ContainsRune(v, 0) {
		return errors.New("must not contain a NUL character")
	}
	return nil
}
