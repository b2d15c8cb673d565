package taskfile

import (
	"context"
	"encoding/json"
	"maps"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/tool"
)

// spec is what the tools that run something have in common. The deadline is the
// run's own, which begins when its turn has come.
func spec(name, title, doc string) tool.Spec {
	return tool.Spec{Name: name, Title: title, Doc: doc, Effect: tool.Run, Outside: true, Slow: true, Timeout: tool.NoTimeout}
}

// task is the tool of one task.
func (c *commands) task(t taskfile.Tool) tool.Tool {
	s := spec(t.Name, t.Task, t.Description)
	s.Origin = t.URI + "\x00" + t.Task
	request := func(in tool.Arguments) (taskfile.Request, error) {
		req := taskfile.Request{Root: t.URI, Task: t.Task}
		if t.Decl.Wildcards() > 0 {
			match, err := matchOf(in[taskfile.MatchName])
			if err != nil {
				return req, err
			}
			req.Match = match
			in = maps.Clone(in)
			delete(in, taskfile.MatchName)
		}
		vars, err := values(in)
		req.Vars = vars
		return req, err
	}
	return tool.NewForeign(tool.Foreign{
		Spec: s, Schema: t.Schema,
		Refused: func(raw []byte, f *fault.Fault) []tool.Block {
			var in struct {
				Match []string `json:"MATCH"`
			}
			_ = json.Unmarshal(raw, &in) // what cannot be read has no name of its own
			return refused(taskfile.Fill(t.Task, in.Match), f)
		},
	}, func(_ context.Context, call *tool.Call, in tool.Arguments) (*tool.Question, error) {
		req, err := request(in)
		if err != nil {
			return nil, err
		}
		return c.ask(call, req)
	}, func(ctx context.Context, call *tool.Call, in tool.Arguments) (runData, error) {
		req, err := request(in)
		if err != nil {
			return runData{}, err
		}
		answered(call, &req)
		return c.perform(ctx, call, req)
	})
}

// ask is the question before a request, once the rest of it is known to be right:
// nobody is asked about a call that would be refused.
func (c *commands) ask(call *tool.Call, req taskfile.Request) (*tool.Question, error) {
	info, err := c.project.Plan().Find(req.Root, req.Task)
	if err != nil {
		return nil, err
	}
	q := question(call, info, req)
	checked := info.Decl
	if q != nil && len(q.Fields) > 0 {
		checked.Vars = optional(checked.Vars)
	}
	if err := c.project.Check(checked, req); err != nil {
		return nil, err
	}
	return q, nil
}

// optional are the variables as if none were required.
func optional(vars []taskfile.Var) []taskfile.Var {
	out := make([]taskfile.Var, len(vars))
	for i, v := range vars {
		v.Required = false
		out[i] = v
	}
	return out
}

func matchOf(raw json.RawMessage) ([]string, error) {
	if raw == nil {
		return nil, nil // the domain says how many there must be
	}
	var match []string
	if err := json.Unmarshal(raw, &match); err != nil {
		return nil, fault.Wrap(err, fault.InvalidInput, "%s: must be an array of strings", taskfile.MatchName)
	}
	return match, nil
}

// refused is the status of a call that was refused.
func refused(task string, f *fault.Fault) []tool.Block {
	return []tool.Block{{Text: taskfile.RefusedStatus(task, f)}}
}
