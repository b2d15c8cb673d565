// Package handrail_test holds the rules of the repository that no compiler
// knows: which package may import which (this file), how code is written
// (style_test.go), what may be in a tracked file (tracked_test.go) and what may
// be linked into the program (licence_test.go). A rule that fails says why it is
// there. To change the architecture, change the tables here, the picture in
// docs/architecture.md, and write an ADR, in one commit.
package handrail_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The floors of the building, from the ground up. A package imports only floors
// below its own; packages of one floor meet in internal/app.
const (
	ground   = iota // who is calling, what went wrong, settings, what tests need
	domains         // tasks, notes, commands, the record: no protocol, no database
	adapters        // the databases, and the one door
	sets            // what a toolset is
	toolsets        // one folder, one toolset
	protocol        // the only packages that know MCP
	wiring          // everything meets here
	commands        // the command line
	programs        // main packages, and what drives them from outside
)

// floors has every package of the module; a new package is added here first. A
// name with a slash at its end stands for the folder and everything below it.
var floors = map[string]int{
	"internal/actor":   ground,
	"internal/config":  ground,
	"internal/fault":   ground,
	"internal/testenv": ground,

	"internal/audit":    domains,
	"internal/note":     domains,
	"internal/task":     domains,
	"internal/taskfile": domains,
	"internal/todo":     domains,

	"internal/runner":          adapters, // knows nothing above taskfile
	"internal/store/postgres":  adapters,
	"internal/store/sqlite":    adapters,
	"internal/store/storetest": adapters,
	"internal/tool":            adapters,

	"internal/toolset": sets,

	"internal/toolset/demo":     toolsets,
	"internal/toolset/notes":    toolsets,
	"internal/toolset/taskfile": toolsets,
	"internal/toolset/tasks":    toolsets,
	"internal/toolset/todo":     toolsets,

	"internal/mcpclient": protocol,
	"internal/mcpserver": protocol,

	"internal/app": wiring,

	"internal/cli": commands,

	".":                           programs,
	"bench/":                      programs,
	"cmd/handrail":                programs,
	"cmd/handrail-runner":         programs,
	"e2e":                         programs,
	"internal/conformance":        programs,
	"internal/testenv/gofuzz":     programs,
	"internal/testenv/gogenerate": programs,
	"internal/testenv/gotest":     programs,
}

// sideDoors are the imports that the floors forbid and that are right all the
// same, each with its reason. The keys are "importer → imported".
var sideDoors = map[string]string{
	"internal/store/sqlite → internal/store/storetest":   "tests only: every store passes the one suite",
	"internal/store/postgres → internal/store/storetest": "tests only: every store passes the one suite",
	"internal/todo → internal/note":                      "tests only: three processes add tasks to one file through a vault's locks",
}

// A boundary is an import that only some packages may have.
type boundary struct {
	imports []string // import paths; each stands for everything below it too
	allowed []string // packages, named as in floors
	tests   bool     // whether any test may import it as well
	why     string
}

// boundaries has every module from outside, and the parts of the standard
// library that not every package may reach. A module that is in none of them
// may not be imported at all: dependencies are decided, not picked up.
var boundaries = []boundary{
	{
		imports: []string{"github.com/modelcontextprotocol/go-sdk"},
		allowed: []string{"internal/mcpserver", "internal/mcpclient", "internal/conformance", "examples/", "bench/", "e2e"},
		why:     "the SDK's types and faults stop at mcpserver and mcpclient, so that a new version is one package's work; the examples teach the SDK itself, bench and e2e stand outside",
	},
	{
		imports: []string{"github.com/mark3labs/mcp-go"},
		allowed: []string{"e2e", "bench/"},
		why:     "another implementation's client, to test against",
	},
	{
		imports: []string{"modernc.org/sqlite", "github.com/jackc/pgx", "database/sql"},
		allowed: []string{"internal/store/", "bench/"},
		why:     "a database is reached through a store, whose queries are all bound to a user",
	},
	{
		imports: []string{"github.com/go-task/task", "mvdan.cc/sh"},
		allowed: []string{"internal/runner", "cmd/handrail-runner"},
		why:     "handrail itself must not be able to run a command: go-task and the shell are in the second program",
	},
	{
		imports: []string{"os/exec"},
		allowed: []string{"internal/mcpclient", "internal/taskfile", "internal/runner", "internal/testenv/", "bench/"},
		tests:   true,
		why:     "handrail itself must not be able to run a command; mcpclient starts the server that it drives, taskfile the runner, and nothing else",
	},
	{
		imports: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
		allowed: []string{"internal/cli"},
		why:     "flags are the command line's; the rest of the program takes a config.Config",
	},
	{
		imports: []string{"github.com/go-json-experiment/json"},
		allowed: []string{"internal/tool", "internal/toolset/", "internal/todo", "internal/mcpserver", "internal/config"},
		tests:   true,
		why:     "what strangers send is decoded strictly in one place, the door; toolsets measure pages and write resources in the door's own encoding, todo edits a file of JSON in place",
	},
	{
		imports: []string{"github.com/google/jsonschema-go"},
		allowed: []string{"internal/tool"},
		tests:   true,
		why:     "schemas are inferred where tools are made, and are plain JSON from there on",
	},
	{
		imports: []string{"golang.org/x/mod/sumdb/note"},
		allowed: []string{"internal/audit", "internal/cli"},
		tests:   true,
		why:     "signed notes are the audit log's checkpoints",
	},
	{
		imports: []string{"golang.org/x/sys"},
		allowed: []string{"internal/note", "internal/store/", "internal/runner", "internal/testenv"},
		tests:   true,
		why:     "system calls are for those who own files, locks and processes; the rest is the same on every platform",
	},
	{
		imports: []string{"github.com/fsnotify/fsnotify"},
		allowed: []string{"internal/note", "internal/store/sqlite", "internal/taskfile"},
		tests:   true,
		why:     "file events are for those who watch files of their own: notes, another process's database writes, Taskfiles",
	},
	{
		imports: []string{"golang.org/x/time/rate", "github.com/VictoriaMetrics/metrics"},
		allowed: []string{"internal/mcpserver"},
		why:     "rates are limited and metrics are served where HTTP is",
	},
	{
		imports: []string{"go.yaml.in/yaml"},
		allowed: []string{"internal/runner", "internal/config"},
		tests:   true,
		why:     "Taskfiles are read by the runner; the settings' file is the only other YAML",
	},
	{
		imports: []string{"golang.org/x/text"},
		allowed: []string{"internal/note"},
		tests:   true,
		why:     "names of notes are compared in their Unicode normal form, and nothing else is",
	},
	{
		imports: []string{"net"},
		allowed: []string{"internal/config", "internal/mcpserver", "internal/mcpclient", "internal/app", "internal/cli", "internal/conformance", "examples/", "bench/", "e2e"},
		tests:   true,
		why:     "domains, stores and tools know no network; config reads addresses and opens none",
	},
	{
		imports: []string{"net/http", "net/http/httptest"},
		allowed: []string{"internal/mcpserver", "internal/mcpclient", "internal/app", "internal/cli", "internal/conformance", "examples/", "bench/", "e2e"},
		tests:   true,
		why:     "domains, stores and tools know no network",
	},
	{
		imports: []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "golang.org/x/tools/txtar"},
		allowed: []string{"internal/store/storetest"},
		tests:   true,
		why:     "these are for tests",
	},
	{
		imports: []string{"testing"},
		allowed: []string{"internal/testenv", "internal/store/storetest"},
		tests:   true,
		why:     "what ships is not built on the testing package",
	},
	{
		imports: []string{"internal/testenv"},
		allowed: []string{"internal/testenv/", "internal/store/storetest"},
		tests:   true,
		why:     "testenv is for tests",
	},
	{
		imports: []string{"unsafe"},
		allowed: []string{"internal/runner"},
		why:     "the program stays memory-safe; the runner hands Windows a pointer to the limits of its job",
	},
	{
		imports: []string{"C", "plugin"},
		why:     "the program builds with CGO_ENABLED=0",
	},
	{
		imports: []string{"log"},
		allowed: []string{"bench/"},
		tests:   true,
		why:     "logs are structured (log/slog) and go to the logger that was handed in",
	},
}

func TestEveryPackageHasAFloor(t *testing.T) {
	for _, p := range scan(t) {
		if strings.HasPrefix(p.dir, "examples/") {
			continue
		}
		if _, ok := floorOf(p.dir); !ok {
			t.Errorf("%s is on no floor: add it to floors in arch_test.go, so that everybody sees where it stands", p.dir)
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range scan(t) {
		for _, f := range p.files {
			for _, imported := range f.imports() {
				if why := climbs(p.dir, imported); why != "" {
					t.Errorf("%s: %s", f.path, why)
				}
			}
		}
	}
}

// climbs says why dir may not import the package, or "".
func climbs(dir, imported string) string {
	other, own := strings.CutPrefix(imported, module+"/")
	if !own || other == dir || other == "internal/testenv" || sideDoors[dir+" → "+other] != "" {
		return ""
	}
	from, ok := floorOf(dir)
	if strings.HasPrefix(dir, "examples/") {
		return fmt.Sprintf("%s imports %s: the examples teach the SDK, and stand alone", dir, other)
	}
	to, known := floorOf(other)
	switch {
	case !ok || !known:
		return "" // TestEveryPackageHasAFloor says it
	case from == programs && to == programs && strings.HasPrefix(other, dir+"/"):
		return "" // a program in several folders: bench and bench/wire
	case from == to:
		return fmt.Sprintf("%s imports its sibling %s: siblings meet in internal/app, so that each can be read and replaced alone", dir, other)
	case from < to:
		return fmt.Sprintf("%s (floor %d) imports %s (floor %d): imports point down, or the lower part cannot be understood without the upper", dir, from, other, to)
	}
	return ""
}

func TestEachOutsideImportStaysInItsPlace(t *testing.T) {
	for _, p := range scan(t) {
		for _, f := range p.files {
			for _, imported := range f.imports() {
				if why := strays(p.dir, f.test, imported); why != "" {
					t.Errorf("%s: %s", f.path, why)
				}
			}
		}
	}
}

// strays says why a file of dir may not import the package, or "".
func strays(dir string, test bool, imported string) string {
	known := false
	for _, b := range boundaries {
		if !slices.ContainsFunc(b.imports, func(path string) bool { return covers(path, imported) }) {
			continue
		}
		known = true
		if test && b.tests || slices.ContainsFunc(b.allowed, func(a string) bool { return allows(a, dir) }) {
			continue
		}
		return fmt.Sprintf("%s imports %s: %s", dir, imported, b.why)
	}
	first, _, _ := strings.Cut(imported, "/")
	if !known && strings.Contains(first, ".") {
		return fmt.Sprintf("%s imports %s, which no boundary in arch_test.go names: add one that says who may use it and why it earns its place", dir, imported)
	}
	return ""
}

// covers reports whether a path of a boundary stands for imported. A module
// covers its major versions and packages; a package of the standard library is
// meant alone, since log/slog is no part of log in this sense.
func covers(path, imported string) bool {
	if rest, ok := strings.CutPrefix(imported, module+"/"); ok {
		return path == rest
	}
	first, _, _ := strings.Cut(path, "/")
	return path == imported || strings.Contains(first, ".") && strings.HasPrefix(imported, path+"/")
}

// allows reports whether an entry of a table names dir.
func allows(entry, dir string) bool {
	return entry == dir || strings.HasSuffix(entry, "/") && strings.HasPrefix(dir+"/", entry)
}

// floorOf is the floor that dir stands on.
func floorOf(dir string) (floor int, ok bool) {
	if floor, ok := floors[dir]; ok {
		return floor, true
	}
	for entry, floor := range floors {
		if allows(entry, dir) {
			return floor, true
		}
	}
	return 0, false
}

func TestTheTablesNameOnlyWhatExists(t *testing.T) {
	for door := range sideDoors {
		from, to, _ := strings.Cut(door, " → ")
		if _, ok := floors[from]; !ok {
			t.Errorf("side door from %s, which is on no floor", from)
		}
		if _, ok := floors[to]; !ok {
			t.Errorf("side door to %s, which is on no floor", to)
		}
	}
}

func TestTheRulesCatchWhatTheyAreFor(t *testing.T) {
	tests := []struct {
		dir, imported string
		test          bool
		want          string // in the complaint; "" for an import that is right
	}{
		{"internal/task", "handrail/internal/store/sqlite", false, "imports point down"},
		{"internal/task", "handrail/internal/audit", true, "siblings"},
		{"internal/tool", "handrail/internal/app", false, "imports point down"},
		{"internal/app", "handrail/internal/mcpserver", false, ""},
		{"internal/store/sqlite", "handrail/internal/store/storetest", true, ""},
		{"internal/store/sqlite", "handrail/internal/tool", false, "siblings"},
		{"internal/task", "handrail/internal/testenv", true, ""},
		{"internal/task", "handrail/internal/testenv", false, "for tests"},
		{"internal/actor", "handrail/internal/testenv", true, ""},
		{"examples/lesson01", "handrail/internal/tool", false, "stand alone"},
		{"examples/lesson01", "github.com/modelcontextprotocol/go-sdk/mcp", false, ""},
		{"internal/cli", "github.com/modelcontextprotocol/go-sdk/mcp", false, "stop at mcpserver"},
		{"internal/toolset/tasks", "github.com/modelcontextprotocol/go-sdk/jsonrpc", true, "stop at mcpserver"},
		{"internal/app", "modernc.org/sqlite", false, "through a store"},
		{"cmd/handrail", "github.com/go-task/task/v3", false, "run a command"},
		{"internal/app", "os/exec", false, "run a command"},
		{"internal/app", "os/exec", true, ""},
		{"bench/baseline", "os/exec", false, ""},
		{"internal/app", "log/slog", false, ""},
		{"internal/app", "log", false, "structured"},
		{"internal/task", "net/http", false, "no network"},
		{"internal/task", "net/url", false, ""},
		{"internal/task", "example.com/new", false, "no boundary"},
		{"internal/task", "unsafe", true, "memory-safe"},
	}
	for _, tt := range tests {
		got := climbs(tt.dir, tt.imported) + strays(tt.dir, tt.test, tt.imported)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s importing %s (in a test: %v) says %q, want %q", tt.dir, tt.imported, tt.test, got, tt.want)
		}
	}
}
