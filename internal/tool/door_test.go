package tool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/tool"
)

type nothing struct{}

type id struct {
	ID int64 `json:"id"`
}

func failing(err error) tool.Tool {
	return tool.New(tool.Spec{Name: "fails", Title: "Fails", Doc: "Fails."}, func(context.Context, *tool.Call, nothing) (nothing, error) {
		return nothing{}, err
	})
}

func TestEveryErrorIsFlattenedToOneCodeAndRecordedUnderItsOutcome(t *testing.T) {
	rows := []struct {
		err     error
		code    fault.Code
		outcome audit.Outcome
	}{
		{fault.New(fault.InvalidInput, "x"), fault.InvalidInput, audit.Rejected},
		{fault.New(fault.TooLarge, "x"), fault.TooLarge, audit.Rejected},
		{fault.New(fault.Conflict, "x"), fault.Conflict, audit.Rejected},
		{fault.New(fault.ConfirmationRequired, "x"), fault.ConfirmationRequired, audit.Rejected},
		{fmt.Errorf("reading: %w", fault.New(fault.NotFound, "no task 7")), fault.NotFound, audit.NotFound},
		{fault.New(fault.Declined, "x"), fault.Declined, audit.Declined},
		{fault.New(fault.Unavailable, "x"), fault.Unavailable, audit.Error},
		{fault.New(fault.InvalidStore, "x"), fault.InvalidStore, audit.Error},
		{context.DeadlineExceeded, fault.Timeout, audit.Error},
		{fmt.Errorf("waiting: %w", context.Canceled), fault.Cancelled, audit.Error},
		{errors.New("disk on fire at /secret/path"), fault.Internal, audit.Error},
	}
	for _, r := range rows {
		t.Run(r.err.Error(), func(t *testing.T) {
			log := &book{}
			o := open(log, tool.Argument).Call(t.Context(), me(), failing(r.err), nil)
			if o.OK() || o.Fault.Code != r.code {
				t.Fatalf("got %v, want %s", o.Fault, r.code)
			}
			if strings.Contains(o.Fault.Message, "secret") || o.Fault.Message == "" {
				t.Errorf("the caller sees %q", o.Fault.Message)
			}
			if len(log.queued) != 1 || log.queued[0].Outcome != r.outcome || log.queued[0].Code != string(r.code) {
				t.Errorf("recorded %+v", log.queued)
			}
		})
	}
}

func TestAnInternalErrorAndAPanicCarryAReferenceThatTheLogRepeats(t *testing.T) {
	panics := tool.New(tool.Spec{Name: "panics", Title: "Panics", Doc: "Panics."}, func(context.Context, *tool.Call, nothing) (nothing, error) {
		var none []int
		return nothing{}, errors.New(strconv.Itoa(none[len(none)]))
	})
	for _, target := range []tool.Tool{panics, failing(errors.New("cause"))} {
		var logged bytes.Buffer
		log := &book{}
		d := tool.NewDoor(tool.Options{Log: log, Logger: slog.New(slog.NewJSONHandler(&logged, nil))})
		o := d.Call(t.Context(), me(), target, nil)
		if o.Fault == nil || o.Fault.Code != fault.Internal {
			t.Fatalf("got %+v", o)
		}
		words := strings.Fields(o.Fault.Message)
		ref := words[len(words)-1]
		if !strings.Contains(logged.String(), ref) || !strings.Contains(logged.String(), target.Spec.Name) {
			t.Errorf("reference %s is not in the log: %s", ref, logged.String())
		}
		if len(log.queued) != 1 || log.queued[0].Outcome != audit.Error || log.queued[0].CallID != ref {
			t.Errorf("recorded %+v", log.queued)
		}
	}
}

func TestACallEndsAtItsDeadline(t *testing.T) {
	slow := tool.New(tool.Spec{Name: "slow", Title: "Slow", Doc: "Waits.", Timeout: time.Millisecond}, func(ctx context.Context, _ *tool.Call, _ nothing) (nothing, error) {
		<-ctx.Done()
		return nothing{}, ctx.Err()
	})
	o := open(&book{}, tool.Argument).Call(t.Context(), me(), slow, nil)
	if o.Fault == nil || o.Fault.Code != fault.Timeout {
		t.Fatalf("got %+v, want timeout", o)
	}
}

func TestAChangeOutsideTheDatabaseIsRecordedBeforeItBeginsAndAfterItEnds(t *testing.T) {
	log := &book{}
	began := false
	outside := tool.New(tool.Spec{Name: "outside", Title: "Outside", Doc: "Writes a file.", Effect: tool.Write, Outside: true},
		func(context.Context, *tool.Call, nothing) (nothing, error) {
			began = true
			if len(log.appended) != 1 || log.appended[0].Outcome != audit.Started {
				t.Errorf("when it began the record had %+v", log.appended)
			}
			return nothing{}, nil
		})
	d := open(log, tool.Argument)
	if o := d.Call(t.Context(), me(), outside, nil); !o.OK() || !began {
		t.Fatalf("got %+v", o)
	}
	if len(log.queued) != 1 || log.queued[0].Outcome != audit.OK || log.queued[0].CallID != log.appended[0].CallID {
		t.Errorf("the end %+v does not join the beginning %+v", log.queued, log.appended)
	}

	began, log.refuse = false, errors.New("disk full")
	o := d.Call(t.Context(), me(), outside, nil)
	if o.Fault == nil || o.Fault.Code != fault.Unavailable || began {
		t.Errorf("without a record: %+v, began %v; want unavailable and not begun", o, began)
	}
}

func TestAChangeThatRecordedItselfIsNotRecordedTwice(t *testing.T) {
	log := &book{}
	target := tool.New(tool.Spec{Name: "settles", Title: "Settles", Doc: "Commits with its entry.", Effect: tool.Write},
		func(ctx context.Context, _ *tool.Call, _ nothing) (nothing, error) {
			p := audit.From(ctx)
			if e := p.Entry(audit.OK, ""); e.Tool != "settles" || e.User != "local" || e.CallID == "" {
				t.Errorf("entry %+v", e)
			}
			p.Settle()
			return nothing{}, nil
		})
	if o := open(log, tool.Argument).Call(t.Context(), me(), target, nil); !o.OK() {
		t.Fatal(o.Fault)
	}
	if len(log.queued)+len(log.appended) != 0 {
		t.Errorf("recorded again: %+v %+v", log.queued, log.appended)
	}
}

func TestNobodyMayCall(t *testing.T) {
	o := open(&book{}, tool.Argument).Call(t.Context(), tool.Call{}, failing(nil), nil)
	if o.Fault == nil || o.Fault.Code != fault.Internal {
		t.Fatalf("got %+v", o)
	}
}

// asker answers as it is told and remembers what it was asked.
type asker struct {
	answer tool.Answer
	asked  []tool.Question
	args   string
}

func (a *asker) Ask(_ context.Context, _ tool.Tool, canonical []byte, q *tool.Question) (tool.Answer, string, error) {
	a.asked, a.args = append(a.asked, *q), string(canonical)
	return a.answer, "", nil
}

func TestADestroyingCallIsConfirmedAsThePolicySays(t *testing.T) {
	rows := []struct {
		name   string
		policy tool.Policy
		asker  *asker
		raw    string
		code   fault.Code // empty: it ran
		asked  bool
		waits  bool
	}{
		{name: "argument, given", policy: tool.Argument, raw: `{"id":1,"confirm":true}`},
		{name: "argument, missing", policy: tool.Argument, raw: `{"id":1}`, code: fault.InvalidInput},
		{name: "argument, null", policy: tool.Argument, raw: `{"id":1,"confirm":null}`, code: fault.InvalidInput},
		{name: "argument, false", policy: tool.Argument, raw: `{"id":1,"confirm":false}`, code: fault.InvalidInput},
		{name: "argument, text", policy: tool.Argument, raw: `{"id":1,"confirm":"true"}`, code: fault.InvalidInput},
		{name: "argument, one", policy: tool.Argument, raw: `{"id":1,"confirm":1}`, code: fault.InvalidInput},
		{name: "argument, twice", policy: tool.Argument, raw: `{"id":1,"confirm":false,"confirm":true}`, code: fault.InvalidInput},
		{name: "argument never asks", policy: tool.Argument, asker: &asker{answer: tool.Yes}, raw: `{"id":1}`, code: fault.InvalidInput},
		{name: "ask, yes", policy: tool.Ask, asker: &asker{answer: tool.Yes}, raw: `{"id":1}`, asked: true},
		{name: "ask, no", policy: tool.Ask, asker: &asker{answer: tool.No}, raw: `{"id":1}`, code: fault.Declined, asked: true},
		{name: "ask, pending", policy: tool.Ask, asker: &asker{answer: tool.Pending}, raw: `{"id":1}`, asked: true, waits: true},
		{name: "ask, cannot", policy: tool.Ask, raw: `{"id":1}`, code: fault.ConfirmationRequired},
		{name: "ask takes no argument", policy: tool.Ask, asker: &asker{answer: tool.Yes}, raw: `{"id":1,"confirm":true}`, code: fault.InvalidInput},
		{name: "auto, asks where it can", policy: tool.Auto, asker: &asker{answer: tool.No}, raw: `{"id":1,"confirm":true}`, code: fault.Declined, asked: true},
		{name: "auto, cannot ask, given", policy: tool.Auto, raw: `{"id":1,"confirm":true}`},
		{name: "auto, cannot ask, missing", policy: tool.Auto, raw: `{"id":1}`, code: fault.ConfirmationRequired},
		{name: "auto, cannot ask, false", policy: tool.Auto, raw: `{"id":1,"confirm":false}`, code: fault.InvalidInput},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			ran := false
			destroy := tool.Confirmed(tool.Spec{Name: "destroy", Title: "Destroy", Doc: "Destroys."},
				func(context.Context, *tool.Call, id) (tool.Question, error) {
					return tool.Question{Message: "Really?", Target: "the thing"}, nil
				},
				func(_ context.Context, c *tool.Call, in id) (id, error) {
					ran = true
					if asked := c.Confirmed != nil; asked != (r.asker != nil) {
						t.Errorf("Confirmed is %v", c.Confirmed)
					}
					return in, nil
				})
			log := &book{}
			call := me()
			if r.asker != nil {
				call.Asker = r.asker
			}
			o := open(log, r.policy).Call(t.Context(), call, destroy, []byte(r.raw))
			if want := r.code == "" && !r.waits; ran != want {
				t.Errorf("ran %v, want %v (%v)", ran, want, o.Fault)
			}
			if got := fault.CodeOf(asError(o)); got != r.code {
				t.Errorf("code %q, want %q", got, r.code)
			}
			if r.waits && (o.Question == nil || log.queued[0].Outcome != audit.Asked) {
				t.Errorf("question %v, recorded %+v", o.Question, log.queued)
			}
			if r.asked && (len(r.asker.asked) != 1 || r.asker.args != `{"id":1}`) {
				t.Errorf("asked %v about %s", r.asker.asked, r.asker.args)
			}
		})
	}
}

func asError(o tool.Outcome) error {
	if o.Fault == nil {
		return nil
	}
	return o.Fault
}

func TestTheSchemaAsksForConfirmOnlyWhereItIsAnArgument(t *testing.T) {
	destroy := tool.Confirmed(tool.Spec{Name: "destroy", Title: "Destroy", Doc: "Destroys."},
		func(context.Context, *tool.Call, id) (tool.Question, error) { return tool.Question{}, nil },
		func(_ context.Context, _ *tool.Call, in id) (id, error) { return in, nil })
	for policy, want := range map[tool.Policy]string{
		tool.Argument: `"required":["id","confirm"]`,
		tool.Auto:     `"required":["id"]`,
		tool.Ask:      `"required":["id"]`,
	} {
		schema := string(destroy.InputSchema(policy))
		if !strings.Contains(schema, want) {
			t.Errorf("%s: %s lacks %s", policy, schema, want)
		}
		if has := strings.Contains(schema, `"confirm":`); has != (policy != tool.Ask) {
			t.Errorf("%s: confirm in the schema is %v", policy, has)
		}
	}
}

func TestAToolThatDestroysCannotBeMadeWithoutItsQuestion(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was made")
		}
	}()
	tool.New(tool.Spec{Name: "destroy", Title: "Destroy", Doc: "Destroys.", Effect: tool.Destroy}, echo)
}

func TestTheEnvelopeIsExactlyWhatTheContractSays(t *testing.T) {
	for want, o := range map[string]tool.Outcome{
		`{"ok":true,"data":{"a":1}}`:                                      {Data: []byte(`{"a":1}`)},
		`{"ok":false,"error":{"code":"not_found","message":"no task 7"}}`: {Fault: fault.New(fault.NotFound, "no task 7")},
	} {
		if got := string(o.Envelope()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
