package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/tool"
)

// foreign is a tool somebody else declared; it returns its arguments.
func foreign(t *testing.T, ask func(*tool.Call, tool.Arguments) (*tool.Question, error)) tool.Tool {
	t.Helper()
	return tool.NewForeign(tool.Foreign{
		Spec:   tool.Spec{Name: "build.x-1", Title: "Build", Doc: "Builds.", Effect: tool.Run, Outside: true},
		Schema: json.RawMessage(`{"type":"object","properties":{"A":{"type":"string"}},"additionalProperties":false}`),
		Refused: func(raw []byte, f *fault.Fault) []tool.Block {
			return []tool.Block{{Text: "refused " + string(raw) + ": " + f.Message}}
		},
	}, func(_ context.Context, c *tool.Call, in tool.Arguments) (*tool.Question, error) { return ask(c, in) },
		func(_ context.Context, c *tool.Call, in tool.Arguments) (map[string]any, error) {
			out := map[string]any{}
			for k, v := range in {
				out[k] = json.RawMessage(v)
			}
			if c.Confirmed != nil {
				out["given"] = c.Confirmed.Given
			}
			return out, nil
		})
}

func nobody(*tool.Call, tool.Arguments) (*tool.Question, error) { return nil, nil }

func TestAForeignToolGetsItsArgumentsAsTheyCame(t *testing.T) {
	rows := []struct{ raw, data, refusal string }{
		{raw: ``, data: `{}`},
		{raw: `null`, data: `{}`},
		{raw: `{"A":"x","b c":1e3,"d":[1,null,"é"],"e":{"f":{}},"g":true,"h":null}`, data: `{"A":"x","b c":1e3,"d":[1,null,"é"],"e":{"f":{}},"g":true}`},
		{raw: `{"\u0041":12345678901234567890}`, data: `{"A":12345678901234567890}`},
		{raw: `{"A":1,"A":2}`, refusal: "given twice"},
		{raw: `{"A":{"b":1,"b":1}}`, refusal: "given twice"},
		{raw: `[]`, refusal: "must be an object"},
		{raw: `{"A":"\ud800"}`, refusal: "not valid Unicode"},
		{raw: "{\"A\":\"\xff\"}", refusal: "not valid Unicode"},
		{raw: `{"A":"\u0000"}`, refusal: "NUL"},
		{raw: `{"A":1} {}`, refusal: "after the end"},
		{raw: `{"A":` + strings.Repeat("[", 100000), refusal: ""},
	}
	for _, r := range rows {
		log := &book{}
		o := open(log, tool.Argument).Call(t.Context(), me(), foreign(t, nobody), []byte(r.raw))
		if r.data == "" {
			if o.Fault == nil || o.Fault.Code != fault.InvalidInput || !strings.Contains(o.Fault.Message, r.refusal) {
				t.Errorf("%.40s: %v", r.raw, o.Fault)
			}
			if len(o.Blocks) != 1 || !strings.HasPrefix(o.Blocks[0].Text, "refused ") {
				t.Errorf("%.40s: blocks %v", r.raw, o.Blocks)
			}
			if len(log.queued) != 1 || log.queued[0].Outcome != audit.Rejected {
				t.Errorf("%.40s: recorded %v", r.raw, log.queued)
			}
			continue
		}
		if o.Fault != nil || string(o.Data) != r.data {
			t.Errorf("%s: %s, %v", r.raw, o.Data, o.Fault)
		}
	}
}

func TestAToolThatHasToAskIsNotRunWithoutAnAnswer(t *testing.T) {
	must := func(*tool.Call, tool.Arguments) (*tool.Question, error) {
		return &tool.Question{Message: "Which?", Target: "t", Fields: []tool.Field{{Name: "ENV"}}, OnlyFields: true}, nil
	}
	for _, policy := range tool.Policies {
		log := &book{}
		o := open(log, policy).Call(t.Context(), me(), foreign(t, must), []byte(`{}`))
		if o.Fault == nil || o.Fault.Code != fault.ConfirmationRequired || !strings.Contains(o.Fault.Message, "Which?") {
			t.Errorf("%s, nobody can be asked: %v", policy, o.Fault)
		}
		for _, r := range []struct {
			answer tool.Answer
			code   fault.Code
			asked  bool
		}{{tool.Yes, "", false}, {tool.No, fault.Declined, false}, {tool.Pending, "", true}} {
			c := me()
			c.Asker = &asker{answer: r.answer}
			o := open(&book{}, policy).Call(t.Context(), c, foreign(t, must), []byte(`{}`))
			if got := fault.Code(""); o.Fault != nil {
				if got = o.Fault.Code; got != r.code {
					t.Errorf("%s, answer %v: %v", policy, r.answer, o.Fault)
				}
			} else if (o.Question != nil) != r.asked || o.OK() != (r.answer == tool.Yes) {
				t.Errorf("%s, answer %v: %+v", policy, r.answer, o)
			}
		}
	}
}

func TestADescriptionThatIsNotSoundStopsTheProgram(t *testing.T) {
	for _, f := range []tool.Foreign{
		{Spec: tool.Spec{Name: ""}, Schema: json.RawMessage(`{"type":"object"}`)},
		{Spec: tool.Spec{Name: "a b"}, Schema: json.RawMessage(`{"type":"object"}`)},
		{Spec: tool.Spec{Name: strings.Repeat("a", 129)}, Schema: json.RawMessage(`{"type":"object"}`)},
		{Spec: tool.Spec{Name: "a"}, Schema: json.RawMessage(`{"type":"array"}`)},
		{Spec: tool.Spec{Name: "a"}, Schema: json.RawMessage(`{`)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q with %s was made", f.Spec.Name, f.Schema)
				}
			}()
			tool.NewForeign(f, func(context.Context, *tool.Call, tool.Arguments) (*tool.Question, error) { return nil, nil },
				func(context.Context, *tool.Call, tool.Arguments) (struct{}, error) { return struct{}{}, nil })
		}()
	}
}
