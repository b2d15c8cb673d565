package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"handrail/internal/tool"
)

// ExitHelp is the text about exit statuses.
const ExitHelp = exitHelp

// Argument is a line about one argument of a tool.
type Argument struct {
	Name, Rule, Doc string
	Required        bool
}

// Arguments lists the arguments of an input schema, as `handrail tools` does.
func Arguments(input json.RawMessage) ([]Argument, error) {
	list, err := arguments(input)
	var out []Argument
	for _, a := range list {
		out = append(out, Argument{Name: a.name, Rule: a.rule, Doc: a.doc, Required: a.required})
	}
	return out, err
}

// What the package does to text, what a preset can offer, and the demo with
// another program in place of the server.
var (
	Visible     = visible
	VisibleJSON = visibleJSON
	Meant       = meant
	Everything  = everything
)

// RunDemo plays the demo, or with all the whole course, with the program self as
// the server.
func RunDemo(ctx context.Context, env Env, self string, all, keep bool) error {
	if all {
		return runDemo(ctx, env, self, (*stage).playCourse, keep)
	}
	return runDemo(ctx, env, self, (*stage).play, keep)
}

// Coloured reports whether the output of env would be coloured.
func Coloured(env Env) bool { return bool(newPaint(env)) }

// CallAsking calls a tool for a person who types into in and reads out.
func CallAsking(ctx context.Context, door *tool.Door, t tool.Tool, raw string, in io.Reader, out io.Writer) tool.Outcome {
	return callDoor(ctx, door, t, raw, &terminal{in: bufio.NewReader(in), out: out})
}
