package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Taskfile are the settings of a project's own commands.
type Taskfile struct {
	// Roots are the folders of the Taskfiles; none: the client's, else the working
	// directory.
	Roots []string
	// AllowRun names the only tasks that may be run; nil: all of them.
	AllowRun []string
	// RawVars are TASK.VAR whose values are not checked for their place.
	RawVars []string
	// RunEnv names the only variables of the environment that runs get; nil: all but
	// Handrail's own.
	RunEnv []string
	// AllowRemote has the hosts whose Taskfiles may be included.
	AllowRemote []string
	// RunTimeout ends a run.
	RunTimeout time.Duration
	// OutputBytes is how much of what a run prints is returned.
	OutputBytes int
	// RunsPerTask is how many runs of one task there may be at once.
	RunsPerTask int
	// NoStaticTools leaves out taskfile_list and taskfile_run.
	NoStaticTools bool
}

// taskfileOptions are the options that only Taskfiles have.
var taskfileOptions = []Option{
	{
		Name: "allow-run", Kind: Names, Value: "TASK,…",
		Doc: "The only tasks that may be run, by their names; there is no wildcard.",
		set: words(func(c *Config) *[]string { return &c.Taskfile.AllowRun }, "*"),
		get: func(c *Config) string { return strings.Join(c.Taskfile.AllowRun, ",") },
	},
	{
		Name: "timeout", Kind: Text, Value: "TIME",
		Doc: "When a run is ended, such as 90s or 1h.",
		set: setTimeout,
		get: func(c *Config) string { return c.Taskfile.RunTimeout.String() },
	},
	{
		Name: "raw-var", Kind: Names, Value: "TASK.VAR,…",
		Doc: "Variables whose values are not checked for the place where the Taskfile puts them: only where it quotes them well.",
		set: setRawVars,
		get: func(c *Config) string { return strings.Join(c.Taskfile.RawVars, ",") },
	},
	{
		Name: "env", Kind: Names, Value: "NAME,…",
		Doc: "The only environment variables that tasks get.",
		set: words(func(c *Config) *[]string { return &c.Taskfile.RunEnv }, "=", " "),
		get: func(c *Config) string { return strings.Join(c.Taskfile.RunEnv, ",") },
	},
	{
		Name: "allow-remote", Kind: Names, Value: "HOST,…",
		Doc: "The hosts whose Taskfiles may be included, from go-task's cache; nothing is ever fetched to list.",
		set: words(func(c *Config) *[]string { return &c.Taskfile.AllowRemote }, "/", "*", " "),
		get: func(c *Config) string { return strings.Join(c.Taskfile.AllowRemote, ",") },
	},
	{
		Name: "max-output-bytes", Kind: Number, Value: "N",
		Doc: "How much of what a run prints is returned: the beginning and the end, of both streams together.",
		set: number(func(c *Config) *int { return &c.Taskfile.OutputBytes }, 96_000),
		get: func(c *Config) string { return strconv.Itoa(c.Taskfile.OutputBytes) },
	},
	{
		Name: "runs-per-task", Kind: Number, Value: "N",
		Doc: "How many runs of one task there may be at once; further ones wait.",
		set: number(func(c *Config) *int { return &c.Taskfile.RunsPerTask }, 64),
		get: func(c *Config) string { return strconv.Itoa(c.Taskfile.RunsPerTask) },
	},
	{
		Name: "no-static-tools", Kind: Bool,
		Doc: "Leave out taskfile_list and taskfile_run: only the tools of the tasks themselves.",
		set: func(c *Config, _ Preset, v string) error { return parseBool(v, &c.Taskfile.NoStaticTools) },
		get: func(c *Config) string { return strconv.FormatBool(c.Taskfile.NoStaticTools) },
	},
}

var taskfilePreset = Preset{
	Name:     "taskfile",
	Doc:      "Serve a project's own commands: one tool for each task of its Taskfiles.",
	Replaces: "mcp-taskfile-server",
	Toolsets: []string{"taskfile"},
	Settings: common("auto",
		Setting{
			Option: "root", Join: rootMark, Env: "HANDRAIL_TASKFILE_ROOTS", DefaultDoc: "the client's roots, else the working directory",
			Doc: "A folder with a Taskfile in itself; may be given several times, and the variable holds a list like PATH.",
		},
		Setting{Option: "allow-run", Join: ",", Env: "HANDRAIL_ALLOW_RUN", DefaultDoc: "all"},
		Setting{Option: "timeout", Env: "HANDRAIL_RUN_TIMEOUT", Default: "10m"},
		Setting{Option: "raw-var", Join: ",", Env: "HANDRAIL_RAW_VARS", DefaultDoc: "none"},
		Setting{Option: "env", Join: ",", Env: "HANDRAIL_RUN_ENV", DefaultDoc: "all but Handrail's own settings"},
		Setting{Option: "allow-remote", Join: ",", Env: "HANDRAIL_ALLOW_REMOTE", DefaultDoc: "none"},
		Setting{Option: "max-output-bytes", Env: "HANDRAIL_MAX_OUTPUT_BYTES", Default: "65536"},
		Setting{Option: "runs-per-task", Env: "HANDRAIL_RUNS_PER_TASK", Default: "1"},
		Setting{Option: "no-static-tools", Env: "HANDRAIL_NO_STATIC_TOOLS", Default: "false"},
		Setting{Option: "audit-db", Env: "HANDRAIL_AUDIT_DB", DefaultDoc: "handrail/audit.db in $XDG_STATE_HOME"},
		Setting{Option: "log-level", Env: "MCP_TASKFILE_LOG_LEVEL", Default: "info", Lenient: true},
	),
}

// Own are the environment variables that are Handrail's: no command that it
// starts sees them. A name that ends in * stands for all that begin so.
func Own() []string {
	own := []string{"HANDRAIL_*"}
	for _, p := range Presets {
		for _, s := range p.Settings {
			if s.Env != "" && !strings.HasPrefix(s.Env, "HANDRAIL_") && !slices.Contains(own, s.Env) {
				own = append(own, s.Env)
			}
		}
	}
	return own
}

// rootMark ends each folder that a flag names: no path has it.
const rootMark = "\x00"

// setRoot takes one folder, or where the preset serves Taskfiles several: each
// with its mark from flags, a list like PATH from the environment.
func setRoot(c *Config, p Preset, v string) error {
	if !slices.Contains(p.Toolsets, "taskfile") {
		return text(func(c *Config) *string { return &c.Root })(c, p, v)
	}
	flags, byFlag := strings.CutSuffix(v, rootMark)
	dirs := filepath.SplitList(v)
	if byFlag {
		dirs = strings.Split(flags, rootMark)
	}
	if len(dirs) == 0 {
		return errors.New("must not be empty")
	}
	for _, dir := range dirs {
		if dir == "" {
			return errors.New("must not be empty")
		}
		if strings.Contains(dir, rootMark) {
			return errors.New("must not contain a NUL character")
		}
		if !slices.Contains(c.Taskfile.Roots, dir) {
			c.Taskfile.Roots = append(c.Taskfile.Roots, dir)
		}
	}
	return nil
}

func setTimeout(c *Config, _ Preset, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second || d > 24*time.Hour {
		return fmt.Errorf("%q is no time from 1s to 24h", v)
	}
	c.Taskfile.RunTimeout = d
	return nil
}

// words takes names that are separated by commas, none of which has a part of
// never, or is it. An empty list is one too: it says none.
func words(field func(*Config) *[]string, never ...string) func(*Config, Preset, string) error {
	return func(c *Config, _ Preset, v string) error {
		list := []string{}
		for _, name := range strings.Split(v, ",") {
			if name = strings.TrimSpace(name); name == "" || slices.Contains(list, name) {
				continue
			}
			for _, part := range never {
				if name == part || part != "*" && strings.Contains(name, part) {
					return fmt.Errorf("%q is no name", name)
				}
			}
			list = append(list, name)
		}
		*field(c) = list
		return nil
	}
}

func setRawVars(c *Config, p Preset, v string) error {
	if err := words(func(c *Config) *[]string { return &c.Taskfile.RawVars })(c, p, v); err != nil {
		return err
	}
	for _, entry := range c.Taskfile.RawVars {
		if i := strings.LastIndexByte(entry, '.'); i < 1 || i == len(entry)-1 {
			return fmt.Errorf("%q is no TASK.VAR", entry)
		}
	}
	return nil
}
