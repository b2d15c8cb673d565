package tool

import (
	"context"
	"slices"

	"handrail/internal/fault"
)

// Policy says how a destroying call is confirmed.
type Policy string

// The policies.
const (
	// Argument: the call carries confirm: true.
	Argument Policy = "argument"
	// Ask: a person is asked; a client that cannot ask cannot destroy.
	Ask Policy = "ask"
	// Auto: a person is asked where the client can; elsewhere confirm: true.
	Auto Policy = "auto"
)

// Policies lists every policy.
var Policies = []Policy{Argument, Ask, Auto}

// Valid reports whether p is one of the policies.
func (p Policy) Valid() bool { return slices.Contains(Policies, p) }

// Question is what a person is asked before something is destroyed.
type Question struct {
	// Message is the whole question, with what it is about as a person knows it.
	Message string
	// Target is what the answer is bound to: if it is no longer so when the
	// answer comes, nothing is destroyed.
	Target string
	// Fields are what else the person is asked to fill in. With OnlyFields there
	// is no yes or no besides them: to send them is the yes.
	Fields     []Field
	OnlyFields bool
	// Given has what the person filled in, once answered.
	Given map[string]string
}

// Field is one line of text in a question.
type Field struct {
	Name, Doc string
	// Enum has the only values there are, or nothing.
	Enum []string
}

// Answer is what became of a question.
type Answer int

// The answers.
const (
	// Pending: the question is on its way; the same call comes again with the
	// answer.
	Pending Answer = iota
	// Yes: the person accepted.
	Yes
	// No: the person said no or closed the dialog, or the answer was stale or for
	// another call.
	No
)

// Asker puts a question to the person behind a client.
type Asker interface {
	// Ask returns the answer, or Pending where the client will call again with
	// it. canonical are the call's arguments in canonical form: an answer to
	// other arguments is No. With Yes, q.Given has what the person filled in. The
	// sentence with No is for the caller.
	Ask(ctx context.Context, t Tool, canonical []byte, q *Question) (a Answer, why string, err error)
}

// confirmed settles the question of a destroying call. It returns the question
// to be asked where the answer is pending, and a fault where the call must not
// go on; both nil let it run.
func (d *Door) confirmed(ctx context.Context, c *Call, t Tool, in any, args []byte, given bool) (*Question, error) {
	if t.confirm {
		if done, err := d.byArgument(c, t, given); done || err != nil {
			return nil, err
		}
	}
	if t.question == nil {
		return nil, nil
	}
	q, err := t.question(ctx, c, in)
	if err != nil || q == nil {
		return nil, err
	}
	if c.Asker == nil {
		return nil, fault.New(fault.ConfirmationRequired, "a person must be asked first (%s), which this client cannot do (it does not declare elicitation); use a client that can", q.Message)
	}
	answer, why, err := c.Asker.Ask(ctx, t, args, q)
	switch {
	case err != nil:
		return nil, err
	case answer == Pending:
		return q, nil
	case answer == No:
		if why == "" {
			why = "the person said no; nothing was changed"
		}
		return nil, fault.New(fault.Declined, "%s", why)
	}
	c.Confirmed = q
	return nil, nil
}

// byArgument settles the confirmation of a destroying call as far as it can be
// without asking: done where the argument is enough.
func (d *Door) byArgument(c *Call, t Tool, given bool) (done bool, err error) {
	switch {
	case d.policy == Argument && given, d.policy == Auto && c.Asker == nil && given:
		return true, nil
	case d.policy == Argument:
		return false, fault.New(fault.InvalidInput, "confirm: must be true, because %s is permanent; get the user's explicit consent first, then call again with confirm: true", t.Spec.Name)
	case c.Asker == nil && d.policy == Auto:
		return false, fault.New(fault.ConfirmationRequired, "%s is permanent: get the user's explicit consent first, then call again with confirm: true", t.Spec.Name)
	case c.Asker == nil:
		return false, fault.New(fault.ConfirmationRequired, "%s is permanent and a person must be asked, which this client cannot do (it does not declare elicitation); use a client that can", t.Spec.Name)
	}
	return false, nil
}
