package tool

import (
	"context"
	"encoding/json"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/fault"
)

// Call is one call of a tool: who calls, and what the caller's side can do
// while it runs.
type Call struct {
	// Who is calling. A call of nobody is refused.
	Who actor.Actor
	// Asker puts a question to the person behind the client; nil where the client
	// cannot.
	Asker Asker
	// Progress tells the client how far the call is; nil where it did not ask to
	// hear. total is zero where it is not known.
	Progress func(ctx context.Context, done, total float64, message string)
	// Log sends the client that calls, and no other, a line of a log at level info,
	// if it asked to hear of such; nil where the client has no log. data marshals to
	// a JSON object.
	Log func(ctx context.Context, logger string, data any)

	// ID is set by the door: it joins the entries of the call and is the
	// reference in an internal error.
	ID string
	// Confirmed is set by the door: the question that a person answered yes to,
	// nil where the confirmation was an argument.
	Confirmed *Question
}

// Outcome is how a call ended: with Data, with a Fault (and then perhaps Data
// beside it), or with a Question.
type Outcome struct {
	// Data is the tool's result, JSON. Beside a Fault it says how far a run came.
	Data json.RawMessage
	// Blocks are the content where the tool has its own; nil means the envelope as
	// text.
	Blocks []Block
	// Fault is what went wrong, flattened: its message may be shown.
	Fault *fault.Fault
	// Question waits for a person's answer; nothing was changed.
	Question *Question
}

// Envelope is the outcome as the wire contract has it:
// {"ok":true,"data":…} or {"ok":false,"error":{"code":"…","message":"…"}}.
// An outcome that asks has none.
func (o Outcome) Envelope() json.RawMessage {
	switch {
	case o.Fault != nil:
		b, err := json.Marshal(failure{Error: wireFault{string(o.Fault.Code), o.Fault.Message}, Data: o.Data})
		if err != nil { // strings and JSON that marshalled before
			panic(err)
		}
		return b
	case o.Data != nil:
		b := make([]byte, 0, len(o.Data)+len(okOpen)+1)
		b = append(append(append(b, okOpen...), o.Data...), '}')
		return b
	}
	return nil
}

const okOpen = `{"ok":true,"data":`

type failure struct {
	OK    bool            `json:"ok"`
	Error wireFault       `json:"error"`
	Data  json.RawMessage `json:"data,omitempty"`
}

type wireFault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// OK reports whether the call did what it was asked to.
func (o Outcome) OK() bool { return o.Fault == nil && o.Question == nil }

// recorded is the outcome's word on the record.
func (o Outcome) recorded() (audit.Outcome, string) {
	if o.Question != nil {
		return audit.Asked, ""
	}
	if o.Fault == nil {
		return audit.OK, ""
	}
	code := string(o.Fault.Code)
	switch o.Fault.Code {
	case fault.InvalidInput, fault.TooLarge, fault.Conflict, fault.ConfirmationRequired:
		return audit.Rejected, code
	case fault.NotFound:
		return audit.NotFound, code
	case fault.Declined:
		return audit.Declined, code
	}
	return audit.Error, code
}

// Block is one piece of content of a result.
type Block struct {
	Kind BlockKind
	// Text is for a text, and for a resource that is text.
	Text string
	// Data is for an image, a sound, and a resource that is bytes.
	Data []byte
	// MIMEType of Data or of a resource; URI of a resource.
	MIMEType, URI string
	// Meta is the block's _meta.
	Meta map[string]any
}

// BlockKind is what a block holds.
type BlockKind int

// The kinds.
const (
	TextBlock BlockKind = iota
	ImageBlock
	AudioBlock
	ResourceBlock
)

// Rendered is a result that has its own blocks of content.
type Rendered interface{ Blocks() []Block }

// withData is an error of a call that got somewhere before it failed.
type withData struct {
	error
	out any
}

func (w withData) Unwrap() error { return w.error }

// WithData is err with the result of a call that failed after it had begun: the
// outcome carries both. out is what the tool would have returned.
func WithData(err error, out any) error { return withData{err, out} }
