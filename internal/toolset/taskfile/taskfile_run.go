package taskfile

import (
	"context"
	"encoding/json"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/tool"
)

type runIn struct {
	Task  string                     `json:"task"`
	Vars  map[string]json.RawMessage `json:"vars,omitempty"`
	Match []string                   `json:"match,omitempty"`
	Root  string                     `json:"root,omitempty"`
}

func (in runIn) request() (taskfile.Request, error) {
	vars, err := values(in.Vars)
	return taskfile.Request{Root: in.Root, Task: in.Task, Vars: vars, Match: in.Match}, err
}

func (c *commands) run() tool.Tool {
	s := spec(RunName, "Run a task", "Run a task of a Taskfile by its name. "+ListName+
		" says which there are and what each takes. Answers when the task has ended, with what it printed.")
	s.Args = tool.Args{
		"task":    {Doc: "The task's name or an alias, as " + ListName + " shows it.", MinLength: 1, MaxLength: 1000},
		"vars":    {Doc: "The task's variables, by name.", Open: true},
		"match":   {Doc: "What stands for each * in the task's name, in order.", MaxItems: 100},
		"match[]": {MinLength: 1, MaxLength: 1000},
		"root":    {Doc: "The root's name or URI; needed where several roots have the task.", MinLength: 1, MaxLength: 4000},
	}
	return tool.Asking(s,
		func(raw []byte, f *fault.Fault) []tool.Block {
			var in struct {
				Task  string   `json:"task"`
				Match []string `json:"match"`
			}
			_ = json.Unmarshal(raw, &in) // what cannot be read has no name
			return refused(taskfile.Fill(in.Task, in.Match), f)
		},
		func(_ context.Context, call *tool.Call, in runIn) (*tool.Question, error) {
			req, err := in.request()
			if err != nil {
				return nil, err
			}
			return c.ask(call, req)
		},
		func(ctx context.Context, call *tool.Call, in runIn) (runData, error) {
			req, err := in.request()
			if err != nil {
				return runData{}, err
			}
			answered(call, &req)
			return c.perform(ctx, call, req)
		})
}
