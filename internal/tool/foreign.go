package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"handrail/internal/fault"
)

// Foreign describes a tool that somebody else declared while the program runs,
// such as a Taskfile's author.
type Foreign struct {
	// Spec describes it. Its name may have up to MaxForeignName bytes and dots, and
	// its Args are not used.
	Spec Spec
	// Schema is the JSON Schema of its arguments: an object. Clients see it. The
	// door checks only that the arguments are an object of valid JSON without a key
	// given twice; whoever declared the tool checks the rest.
	Schema json.RawMessage
	// Refused makes the blocks of content for a call that failed before the tool
	// made its own, from its arguments as they came, which may be anything; nil for
	// the envelope as text.
	Refused func(raw []byte, f *fault.Fault) []Block
}

// MaxForeignName is the longest name of a foreign tool, in bytes.
const MaxForeignName = 128

// Arguments are the arguments of a foreign tool, as they came.
type Arguments map[string]json.RawMessage

// NewForeign makes a tool of a foreign description. ask decides whether a person
// must be asked first; its question is nil where nobody has to be. It panics
// where the name or the schema is not sound.
func NewForeign[Out any](f Foreign, ask func(ctx context.Context, c *Call, in Arguments) (*Question, error), run func(ctx context.Context, c *Call, in Arguments) (Out, error)) Tool {
	if !foreignName(f.Spec.Name) {
		panic(fmt.Sprintf("tool %q: a foreign name has 1 to %d letters, digits, '_', '-' and '.'", f.Spec.Name, MaxForeignName))
	}
	var shown struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(f.Schema, &shown); err != nil || shown.Type != "object" {
		panic(fmt.Sprintf("tool %s: the schema of its arguments is no object", f.Spec.Name))
	}
	out, err := outputSchema[Out]()
	if err != nil {
		panic(fmt.Sprintf("tool %s: data: %v", f.Spec.Name, err))
	}
	in := &node{s: &jsonschema.Schema{Type: "object", AdditionalProperties: anything}, shown: f.Schema}
	return made(f.Spec, map[Policy]*node{Argument: in, Ask: in, Auto: in}, out, f.Refused, ask, run)
}

// Asking makes a tool that may have to ask a person first: ask decides, as in
// NewForeign, and refused makes the blocks of a call that failed, as there.
func Asking[In, Out any](spec Spec, refused func(raw []byte, f *fault.Fault) []Block, ask func(ctx context.Context, c *Call, in In) (*Question, error), run func(ctx context.Context, c *Call, in In) (Out, error)) Tool {
	t := New(spec, run)
	return made(spec, t.inputs, t.out, refused, ask, run)
}

func made[In, Out any](spec Spec, inputs map[Policy]*node, out json.RawMessage, refused func(raw []byte, f *fault.Fault) []Block, ask func(context.Context, *Call, In) (*Question, error), run func(context.Context, *Call, In) (Out, error)) Tool {
	return Tool{
		Spec: spec, inputs: inputs, out: out, refused: refused,
		decode:   decoder[In],
		question: func(ctx context.Context, c *Call, v any) (*Question, error) { return ask(ctx, c, v.(In)) },
		run:      func(ctx context.Context, c *Call, v any) (any, error) { return run(ctx, c, v.(In)) },
	}
}

func foreignName(name string) bool {
	if name == "" || len(name) > MaxForeignName {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return true
}

// anything is the schema of a value that somebody else judges.
var anything = &jsonschema.Schema{}

// isOpen reports whether an object may have keys that its schema does not name.
func isOpen(s *jsonschema.Schema) bool {
	return s.Type == "" || s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil
}
