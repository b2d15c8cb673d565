package taskfile

import (
	"fmt"
	"os"
)

// Decl is one task as the runner found it, without anything of it evaluated.
type Decl struct {
	// Task is the name in the Taskfile, with its namespaces and its asterisks.
	Task string `json:"task"`
	// Desc and Summary are the author's, with static variables filled in and
	// secret ones masked.
	Desc    string `json:"desc,omitempty"`
	Summary string `json:"summary,omitempty"`
	// Aliases are the other names of the task, in the Taskfile's order.
	Aliases []string `json:"aliases,omitempty"`
	// Vars are what a caller may set, in the Taskfile's order.
	Vars []Var `json:"vars,omitempty"`
	// Match is how the parts of a wildcard's name are used.
	Match []Place `json:"match,omitempty"`
	// Prompts are the questions that the task, or one that it calls, asks before
	// it runs.
	Prompts []string `json:"prompts,omitempty"`
	// Reason says why the task can have no tool; empty where it can.
	Reason string `json:"reason,omitempty"`
}

// Wildcards is the number of asterisks in the task's name, each of which a call
// fills with one element of MATCH.
func (d Decl) Wildcards() int {
	n := 0
	for _, r := range d.Task {
		if r == '*' {
			n++
		}
	}
	return n
}

// Kind is the JSON type that a variable has.
type Kind string

// The kinds of variables that are offered. A number is accepted as text too.
const (
	Text   Kind = "string"
	Number Kind = "number"
	Bool   Kind = "boolean"
)

// Var is a variable that a caller may set.
type Var struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Default is the author's static value, or nil: a string, float64 or bool.
	// It is nil for secret variables.
	Default any `json:"default,omitempty"`
	// Required is true where the task says so itself.
	Required bool `json:"required,omitempty"`
	// Enum has the only values there are, or nothing.
	Enum []string `json:"enum,omitempty"`
	// Secret marks a variable whose value is never shown.
	Secret bool `json:"secret,omitempty"`
	// Places are where the value lands; a value must suit all of them. None
	// means that it lands nowhere that is known, and Bare is asked.
	Places []Place `json:"places,omitempty"`
}

// File is a file or folder that a Taskfile consists of, or would if it existed.
type File struct {
	Path string `json:"path"`
	// Sum changes when the file does; empty where there is none.
	Sum string `json:"sum,omitempty"`
}

// Listing is all that the runner says of one root.
type Listing struct {
	Tasks []Decl `json:"tasks,omitempty"`
	// Files are the local Taskfiles and .env files, reached or missing, also
	// where the listing failed.
	Files []File `json:"files,omitempty"`
	// Error says in one line, with paths relative to the root, why the root
	// cannot be used; empty where it can.
	Error string `json:"error,omitempty"`
}

// Sum is the state of a file as File.Sum has it: empty where there is none.
// Server and runner compute it alike, so that a change between a listing and
// the moment its files are watched is noticed.
func Sum(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%d-%s", info.Size(), info.ModTime().UnixNano(), info.Mode())
}
