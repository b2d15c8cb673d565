package config

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Kind is what an option's value looks like.
type Kind int

// The kinds.
const (
	Text   Kind = iota
	Path        // a file or folder
	Bool        // true or false
	Choice      // one of Choices
	Number      // a positive integer
	Tools       // names of tools, separated by commas
	Names       // host names, separated by commas
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
	// Secret is set by the environment only, never by a flag, and never printed.
	Secret bool
	// OnlyHTTP has a meaning only with --http.
	OnlyHTTP bool

	set func(*Config, Preset, string) error
	get func(*Config) string
}

// Options is the table of all options.
var Options = slices.Concat(sharedOptions, taskfileOptions)

var sharedOptions = []Option{
	{
		Name: "db", Kind: Path, Value: "FILE",
		Doc: "The task database, a SQLite file; made where there is none. The path is taken literally.",
		set: text(func(c *Config) *string { return &c.DB }),
		get: func(c *Config) string { return c.DB },
	},
	{
		Name: "root", Kind: Path, Value: "DIR",
		Doc: "The folder of notes. Nothing outside of it can be reached.",
		set: setRoot,
		get: func(c *Config) string {
			return c.Root + strings.Join(c.Taskfile.Roots, string(filepath.ListSeparator)) // a preset has one of them
		},
	},
	{
		Name: "allow-write", Kind: Tools, Value: "TOOL,…",
		Doc: "The tools that change something and are switched on, by name; there is no wildcard.",
		set: setAllowWrite,
		get: func(c *Config) string { return strings.Join(c.AllowWrite, ",") },
	},
	{
		Name: "max-note-bytes", Kind: Number, Value: "N",
		Doc: "The largest size of a note after a write or an append, in bytes.",
		set: number(func(c *Config) *int { return &c.MaxNoteBytes }, 16<<20),
		get: func(c *Config) string { return strconv.Itoa(c.MaxNoteBytes) },
	},
	{
		Name: "max-read-bytes", Kind: Number, Value: "N",
		Doc: "The most bytes of one note that are returned; larger notes are cut, skipped by search and never replaced.",
		set: number(func(c *Config) *int { return &c.MaxReadBytes }, 16<<20),
		get: func(c *Config) string { return strconv.Itoa(c.MaxReadBytes) },
	},
	{
		Name: "max-search-results", Kind: Number, Value: "N",
		Doc: "The default and the upper bound of the limit of notes_search.",
		set: number(func(c *Config) *int { return &c.MaxSearchResults }, 1000),
		get: func(c *Config) string { return strconv.Itoa(c.MaxSearchResults) },
	},
	{
		Name: "audit-db", Kind: Path, Value: "FILE",
		Doc: "The database that keeps the record of calls, or off.",
		set: text(func(c *Config) *string { return &c.AuditDB }),
		get: func(c *Config) string { return c.AuditDB },
	},
	{
		Name: "confirm", Kind: Choice, Choices: policies, Value: "POLICY",
		Doc: "How a call that deletes is confirmed: by an argument, by asking a person, or auto: by asking where the client can.",
		set: choice(func(c *Config) *string { return &c.Confirm }, policies),
		get: func(c *Config) string { return c.Confirm },
	},
	{
		Name: "http", Kind: Bool,
		Doc: "Serve over Streamable HTTP instead of standard input and output.",
		set: func(c *Config, _ Preset, v string) error { return parseBool(v, &c.HTTP) },
		get: func(c *Config) string { return strconv.FormatBool(c.HTTP) },
	},
	{
		Name: "listen", Kind: Text, Value: "HOST:PORT", OnlyHTTP: true,
		Doc: "Where HTTP listens; stands before host and port.",
		set: setListen,
		get: func(c *Config) string { return c.Listen },
	},
	{
		Name: "host", Kind: Text, Value: "HOST", OnlyHTTP: true,
		Doc: "The address that HTTP listens on.",
		set: text(func(c *Config) *string { return &c.Host }),
		get: folded,
	},
	{
		Name: "port", Kind: Number, Value: "PORT", OnlyHTTP: true,
		Doc: "The port that HTTP listens on.",
		set: setPort,
		get: folded,
	},
	{
		Name: "allowed-hosts", Kind: Names, Value: "NAME,…", OnlyHTTP: true,
		Doc: "The host names by which clients may call, without scheme and port; required off this machine.",
		set: names(func(c *Config) *[]string { return &c.AllowedHosts }),
		get: func(c *Config) string { return strings.Join(c.AllowedHosts, ",") },
	},
	{
		Name: "allowed-origins", Kind: Names, Value: "NAME,…", OnlyHTTP: true,
		Doc: "The host names of web pages that may call, without scheme and port; required off this machine.",
		set: names(func(c *Config) *[]string { return &c.AllowedOrigins }),
		get: func(c *Config) string { return strings.Join(c.AllowedOrigins, ",") },
	},
	{
		Name: "rate-limit", Kind: Number, Value: "N", OnlyHTTP: true,
		Doc: "How many requests a second each user may send in the long run, twice as many at once; 0 for any number.",
		set: setRate,
		get: func(c *Config) string { return strconv.Itoa(c.Rate) },
	},
	{
		Name: "auth-tokens", Kind: Text, Secret: true, OnlyHTTP: true,
		Doc: "A JSON object of users and their bearer tokens, each of at least 32 bytes.",
		set: setTokens,
		get: func(c *Config) string { return redacted(len(c.Tokens) > 0) },
	},
	{
		Name: "auth-tokens-file", Kind: Path, Value: "FILE", OnlyHTTP: true,
		Doc: "A file that holds what MCP_AUTH_TOKENS_JSON would.",
		set: fromFile(setTokens),
		get: folded,
	},
	{
		Name: "state-secret", Kind: Text, Secret: true,
		Doc: "The secret that seals the state of confirmations, at least 32 bytes; replicas share it.",
		set: setSecret(func(c *Config) *string { return &c.StateSecret }),
		get: func(c *Config) string { return redacted(c.StateSecret != "") },
	},
	{
		Name: "state-secret-previous", Kind: Text, Secret: true,
		Doc: "The secret before the current one, accepted too while it is being replaced.",
		set: setSecret(func(c *Config) *string { return &c.PreviousSecret }),
		get: func(c *Config) string { return redacted(c.PreviousSecret != "") },
	},
	{
		Name: "read-only", Kind: Bool,
		Doc: "Leave out every tool that changes anything; wins over everything else.",
		set: func(c *Config, _ Preset, v string) error { return parseBool(v, &c.ReadOnly) },
		get: func(c *Config) string { return strconv.FormatBool(c.ReadOnly) },
	},
	{
		Name: "log-level", Kind: Choice, Choices: levels, Value: "LEVEL",
		Doc: "The least level of the log on stderr.",
		set: func(c *Config, _ Preset, v string) error { return parseLevel(v, &c.LogLevel) },
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

func text(field func(*Config) *string) func(*Config, Preset, string) error {
	return func(c *Config, _ Preset, v string) error {
		*field(c) = v
		if v == "" {
			return errors.New("must not be empty")
		}
		if strings.ContainsRune(v, 0) {
			return errors.New("must not contain a NUL character")
		}
		return nil
	}
}

func number(field func(*Config) *int, most int) func(*Config, Preset, string) error {
	return func(c *Config, _ Preset, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > most {
			return fmt.Errorf("%q is no whole number from 1 to %d", v, most)
		}
		*field(c) = n
		return nil
	}
}

// setAllowWrite takes names of the preset's tools that change something. Every
// other word is refused, a wildcard too.
func setAllowWrite(c *Config, p Preset, v string) error {
	var problems []error
	for _, name := range strings.Split(v, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(c.AllowWrite, name):
		case !slices.Contains(p.Writes, name):
			problems = append(problems, fmt.Errorf("%q is no tool that can be switched on; there are: %s", name, strings.Join(p.Writes, ", ")))
		default:
			c.AllowWrite = append(c.AllowWrite, name)
		}
	}
	return errors.Join(problems...)
}

// defaultAuditDB is where the record is kept when nothing says: in the user's
// folder for state. It is empty where there is no such folder.
func defaultAuditDB(getenv func(string) string) string {
	dir := getenv("XDG_STATE_HOME")
	if dir == "" || !filepath.IsAbs(dir) {
		dir = ""
		if runtime.GOOS == "windows" {
			dir = getenv("LOCALAPPDATA")
		} else if home := getenv("HOME"); home != "" {
			dir = filepath.Join(home, ".local", "state")
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "handrail", "audit.db")
}
