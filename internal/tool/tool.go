// Package tool owns what a tool is and the one door by which it is called:
// strict decoding, confirmation, deadline, record and the flattening of errors
// happen here and nowhere else. It knows no transport and no protocol library;
// resources, prompts and completions are values here for the same reason.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	jsonx "github.com/go-json-experiment/json"

	"handrail/internal/fault"
)

// Effect is what a tool does to the world.
type Effect int

// The effects, weakest first.
const (
	// Read changes nothing.
	Read Effect = iota
	// Write adds or updates.
	Write
	// Replace is a Write that can lose what was there; it is gated by being
	// enabled and by its annotation, not by a question.
	Replace
	// Destroy deletes for good: only Confirmed makes such a tool.
	Destroy
	// Run starts a program: its world is open.
	Run
)

// Spec describes a tool. The zero values of the optional fields are the right
// ones for a tool that reads.
type Spec struct {
	// Name is what callers say: a letter, then letters, digits, '_', '-', at most
	// MaxName bytes.
	Name string
	// Title is for people.
	Title string
	// Doc tells a model what the tool does and when to use it.
	Doc string
	// Effect is what it does to the world.
	Effect Effect
	// Idempotent says that calling twice is as good as once; reads always are.
	Idempotent bool
	// Outside says that the change is not in the database that keeps the record:
	// the door then records that it starts before it runs, and how it ended.
	Outside bool
	// Slow says that a call may take minutes, so that none waits for it.
	Slow bool
	// Origin tells apart what may stand behind a tool that comes and goes: one of
	// the same name and another origin is another tool.
	Origin string
	// Args are the rules and descriptions of the arguments, by path: "title",
	// "filter.status", and "tags[]" for each element.
	Args Args
	// Timeout is the deadline of a call; zero means the door's own, and NoTimeout
	// that the tool bounds its time itself.
	Timeout time.Duration
}

// MaxName is the longest tool name of ours, in bytes: some hosts put a prefix
// of their own before it and refuse more than 64 together.
const MaxName = 52

// NoTimeout is the Timeout of a tool that bounds its time itself.
const NoTimeout time.Duration = -1

// Args maps the path of an argument to its rule.
type Args map[string]Rule

// Rule bounds one argument. Lengths are in UTF-16 code units. A bound of zero
// is no bound, but for Min, which is used where Max or HasMin is set.
type Rule struct {
	// Doc is the description in the schema.
	Doc string
	// MinLength and MaxLength bound a string.
	MinLength, MaxLength int
	// Min and Max bound a number, inclusive.
	Min, Max int64
	HasMin   bool
	// MinItems and MaxItems bound an array.
	MinItems, MaxItems int
	// Enum lists the only values that a string may have.
	Enum []string
	// Format names the format of a string for the schema ("date").
	Format string
	// Default is shown in the schema; the tool itself applies it.
	Default any
	// Open says that an object's keys are the caller's: the tool judges them and
	// their values.
	Open bool
}

// Tool is a value that every transport can call through a Door.
type Tool struct {
	// Spec is how the tool was described.
	Spec Spec

	inputs   map[Policy]*node // what arguments are checked against, by policy
	out      json.RawMessage
	confirm  bool
	decode   func(canonical []byte) (any, error)
	question func(ctx context.Context, c *Call, in any) (*Question, error) // nil where nobody is asked
	refused  func(raw []byte, f *fault.Fault) []Block
	run      func(ctx context.Context, c *Call, in any) (any, error)
	rendered bool // its result has its own content
}

// New makes a tool from its description and a function. In and Out are structs
// whose json tags name the arguments and the fields of the data; an argument
// with omitempty, omitzero or a pointer type is optional. It panics where the
// description is not sound, and for Destroy, which needs its question.
func New[In, Out any](spec Spec, run func(ctx context.Context, c *Call, in In) (Out, error)) Tool {
	if spec.Effect == Destroy {
		panic(fmt.Sprintf("tool %s: a tool that destroys is made by tool.Confirmed", spec.Name))
	}
	return build(spec, false, nil, run)
}

// Confirmed makes a tool that destroys. ask makes the question that a person
// is asked before run; where policy takes an argument `confirm` instead, ask is
// not called. In run, Call.Confirmed holds the question that was answered.
func Confirmed[In, Out any](spec Spec, ask func(ctx context.Context, c *Call, in In) (Question, error), run func(ctx context.Context, c *Call, in In) (Out, error)) Tool {
	spec.Effect = Destroy
	question := func(ctx context.Context, c *Call, in any) (*Question, error) {
		q, err := ask(ctx, c, in.(In))
		return &q, err
	}
	return build(spec, true, question, run)
}

func build[In, Out any](spec Spec, confirm bool, question func(context.Context, *Call, any) (*Question, error), run func(context.Context, *Call, In) (Out, error)) Tool {
	if err := checkName(spec.Name); err != nil {
		panic(err.Error())
	}
	in, err := inputNode[In](spec)
	if err != nil {
		panic(fmt.Sprintf("tool %s: arguments: %v", spec.Name, err))
	}
	out, err := outputSchema[Out]()
	if err != nil {
		panic(fmt.Sprintf("tool %s: data: %v", spec.Name, err))
	}
	inputs := map[Policy]*node{Argument: in, Ask: in, Auto: in}
	if confirm {
		inputs[Argument] = in.with("confirm", confirmNode, true)
		inputs[Auto] = in.with("confirm", confirmNode, false)
	}
	_, rendered := any(*new(Out)).(Rendered)
	return Tool{
		rendered: rendered,
		Spec:     spec, inputs: inputs, out: out, confirm: confirm, question: question,
		decode: decoder[In],
		run:    func(ctx context.Context, c *Call, v any) (any, error) { return run(ctx, c, v.(In)) },
	}
}

// decoder reads arguments that were checked.
func decoder[In any](canonical []byte) (any, error) {
	var v In
	if err := jsonx.Unmarshal(canonical, &v); err != nil {
		return nil, fault.Wrap(err, fault.InvalidInput, "the arguments do not fit the tool's schema")
	}
	return v, nil
}

func checkName(name string) error {
	if len(name) == 0 || len(name) > MaxName {
		return fmt.Errorf("tool %q: a name has 1 to %d bytes", name, MaxName)
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '_' || c == '-')) {
			return fmt.Errorf("tool %q: a name is a letter, then letters, digits, '_' and '-'", name)
		}
	}
	return nil
}

// InputSchema is the JSON schema of the arguments under a confirmation policy:
// an object, closed at every depth.
func (t Tool) InputSchema(p Policy) json.RawMessage { return t.inputs[p].schema() }

// OutputSchema is the JSON schema of the envelope that the tool returns.
func (t Tool) OutputSchema() json.RawMessage { return t.out }

// Annotations are the hints that hosts show and decide by.
type Annotations struct {
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// Annotations of the tool, from its effect.
func (t Tool) Annotations() Annotations {
	e := t.Spec.Effect
	return Annotations{
		ReadOnly:    e == Read,
		Destructive: e == Replace || e == Destroy || e == Run,
		Idempotent:  e == Read || t.Spec.Idempotent,
		OpenWorld:   e == Run,
	}
}

// Doc is the description for a model under a policy: where a confirmation is
// an argument, it says that the person's consent comes first.
func (t Tool) Doc(p Policy) string {
	if t.confirm && p != Ask {
		return t.Spec.Doc + " Permanent: get the user's explicit consent first, then pass confirm: true."
	}
	return t.Spec.Doc
}

// Plain reports whether the tool needs nothing of its caller but the arguments,
// and its content is always the envelope.
func (t Tool) Plain() bool { return t.Spec.Effect != Run && !t.rendered && t.refused == nil }

// Quick reports whether a later call may have to wait for this one: true of
// reads and changes, not of what may run for minutes.
func (t Tool) Quick() bool { return t.Spec.Effect != Run && !t.Spec.Slow }
