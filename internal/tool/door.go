package tool

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	jsonx "github.com/go-json-experiment/json"

	"handrail/internal/audit"
	"handrail/internal/fault"
)

// DefaultTimeout is the deadline of a call whose tool names none.
const DefaultTimeout = 60 * time.Second

// Options make a Door. Log is required; every other zero value is a default.
type Options struct {
	// Log is where calls are recorded.
	Log audit.Log
	// Policy is how destroying calls are confirmed; Argument by default.
	Policy Policy
	// Now is the clock.
	Now func() time.Time
	// Timeout is the deadline of a call; DefaultTimeout by default.
	Timeout time.Duration
	// Logger is for the operator; nothing is logged by default.
	Logger *slog.Logger
}

// Door is the single way in to every tool, for every transport.
type Door struct {
	log     audit.Log
	policy  Policy
	now     func() time.Time
	timeout time.Duration
	logger  *slog.Logger
}

// NewDoor makes a door.
func NewDoor(o Options) *Door {
	d := &Door{log: o.Log, policy: o.Policy, now: o.Now, timeout: o.Timeout, logger: o.Logger}
	if d.policy == "" {
		d.policy = Argument
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.timeout == 0 {
		d.timeout = DefaultTimeout
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	return d
}

// Policy is how this door has destroying calls confirmed.
func (d *Door) Policy() Policy { return d.policy }

// Call runs a tool on raw argument bytes: it decodes strictly, has a
// destroying call confirmed, runs under a deadline, flattens the error and
// records the call, refused ones too. It never panics and always answers.
func (d *Door) Call(ctx context.Context, c Call, t Tool, raw []byte) (o Outcome) {
	c.ID = rand.Text()
	pending := audit.NewPending(c.Who.User, t.Spec.Name, c.ID, raw, d.now)
	defer func() {
		if p := recover(); p != nil {
			o = d.flatten(c, t, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		if o.Fault != nil && o.Blocks == nil && t.refused != nil {
			o.Blocks = t.refused(raw, o.Fault)
		}
		d.record(pending, o)
	}()
	if !c.Who.Known() {
		return d.flatten(c, t, fault.New(fault.Internal, "a call without a user reached the door"))
	}
	o, err := d.perform(ctx, &c, t, raw, pending)
	if err != nil {
		return d.flatten(c, t, err)
	}
	return o
}

// perform is Call between the record's beginning and its end.
func (d *Door) perform(ctx context.Context, c *Call, t Tool, raw []byte, pending *audit.Pending) (Outcome, error) {
	args, given, err := t.arguments(raw, d.policy)
	if err != nil {
		return Outcome{}, err
	}
	in, err := t.decode(args)
	if err != nil {
		return Outcome{}, err
	}
	timeout := d.timeout
	if t.Spec.Timeout != 0 {
		timeout = t.Spec.Timeout
	}
	if timeout != NoTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	ctx = audit.With(ctx, pending)

	question, err := d.confirmed(ctx, c, t, in, args, given)
	if err != nil || question != nil {
		return Outcome{Question: question}, err
	}
	if t.Spec.Outside {
		if err := d.log.Append(ctx, pending.Entry(audit.Started, "")); err != nil {
			return Outcome{}, fault.Wrap(err, fault.Unavailable, "the call could not be recorded, so it was not begun; it is safe to try again")
		}
	}
	out, err := t.run(ctx, c, in)
	if err != nil {
		return Outcome{}, err
	}
	return render(out)
}

// render makes the outcome of a result.
func render(out any) (Outcome, error) {
	data, err := jsonx.Marshal(out, jsonx.Deterministic(true))
	if err != nil {
		return Outcome{}, fmt.Errorf("the result cannot be written as JSON: %w", err)
	}
	o := Outcome{Data: json.RawMessage(data)}
	if r, ok := out.(Rendered); ok {
		o.Blocks = r.Blocks()
	}
	return o, nil
}

// flatten turns any error into what the caller may see and tells the operator
// the rest.
func (d *Door) flatten(c Call, t Tool, err error) Outcome {
	f := fault.Of(err)
	log := d.logger.With("tool", t.Spec.Name, "user", c.Who.User, "ref", c.ID)
	switch f.Code {
	case fault.Internal:
		log.Error("call failed", "error", err)
		f = fault.Wrap(err, fault.Internal, "something went wrong inside the server; the operator's log has the cause under reference %s", c.ID)
	case fault.Unavailable, fault.InvalidStore:
		log.Warn("call failed", "code", f.Code, "error", err)
	default:
		log.Debug("call refused", "code", f.Code, "error", err)
	}
	o := Outcome{Fault: f}
	var got withData
	if errors.As(err, &got) {
		if part, err := render(got.out); err == nil {
			o.Data, o.Blocks = part.Data, part.Blocks
		} else {
			log.Error("what a failed call had done is lost", "error", err)
		}
	}
	return o
}

// record writes how the call ended, unless the change already did.
func (d *Door) record(pending *audit.Pending, o Outcome) {
	if !pending.Settled() {
		d.log.Queue(pending.Entry(o.recorded()))
	}
}
