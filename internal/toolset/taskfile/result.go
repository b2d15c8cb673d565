package taskfile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/tool"
)

// runData is the data of a run: also of one that failed.
type runData struct {
	Task  string `json:"task"`
	Root  string `json:"root"`
	RunID string `json:"runId"`
	// ExitCode is null where nothing of the task ran to an end.
	ExitCode   *int  `json:"exitCode"`
	DurationMs int64 `json:"durationMs"`
	TimedOut   bool  `json:"timedOut"`
	Cancelled  bool  `json:"cancelled"`
	Skipped    bool  `json:"skipped"`
	Truncated  bool  `json:"truncated"`

	StdoutBytes int64  `json:"stdoutBytes"`
	StderrBytes int64  `json:"stderrBytes"`
	StdoutURI   string `json:"stdoutUri,omitempty"`
	StderrURI   string `json:"stderrUri,omitempty"`

	blocks []tool.Block
}

// Blocks implements tool.Rendered: the status, then what was printed.
func (d runData) Blocks() []tool.Block { return d.blocks }

func dataOf(r taskfile.Result) runData {
	d := runData{
		Task: r.Task, Root: r.Root, RunID: r.RunID, ExitCode: r.ExitCode, DurationMs: r.Duration.Milliseconds(),
		TimedOut: r.TimedOut, Cancelled: r.Cancelled, Skipped: r.Skipped != "", Truncated: r.Truncated,
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes,
	}
	if r.StdoutLog {
		d.StdoutURI = logURI(r.RunID, taskfile.Stdout)
	}
	if r.StderrLog {
		d.StderrURI = logURI(r.RunID, taskfile.Stderr)
	}
	d.blocks = []tool.Block{{Text: r.Status()}}
	for _, s := range []struct{ name, text string }{{taskfile.Stdout, r.Stdout}, {taskfile.Stderr, r.Stderr}} {
		if s.text != "" {
			d.blocks = append(d.blocks, tool.Block{Text: s.text, Meta: map[string]any{"stream": s.name}})
		}
	}
	return d
}

// perform runs a request for a call, telling the client how it goes.
func (c *commands) perform(ctx context.Context, call *tool.Call, req taskfile.Request) (runData, error) {
	if log := call.Log; log != nil {
		req.Line = func(stream, text string) {
			log(ctx, "task", map[string]any{"event": "task.output", "task": req.Task, "stream": stream, "line": text})
		}
	}
	if progress := call.Progress; progress != nil {
		n := 0.0
		req.Progress = func(text string) {
			n++
			progress(ctx, n, 0, text)
		}
	}
	result, err := c.project.Run(ctx, req)
	if result.RunID == "" {
		return runData{}, err
	}
	c.owns(call.Who.User, result.RunID)
	data := dataOf(result)
	if err != nil {
		return data, tool.WithData(err, data)
	}
	return data, nil
}

// question is what a person is asked before a run: the prompts of the task, and
// what it needs and was not given. Nil where there is nothing to ask, or nobody.
func question(call *tool.Call, info taskfile.TaskInfo, req taskfile.Request) *tool.Question {
	q := &tool.Question{Target: req.Root}
	if call.Asker != nil {
		q.Fields = missing(info.Decl, req.Vars)
	}
	name := taskfile.Fill(info.Decl.Task, req.Match)
	switch {
	case len(info.Decl.Prompts) > 0:
		q.Message = "Task " + name + " asks before it runs:"
		for _, p := range info.Decl.Prompts {
			q.Message += "\n" + p
		}
		q.Message += settings(info.Decl, req.Vars)
	case len(q.Fields) > 0:
		q.Message, q.OnlyFields = "Task "+name+" needs to know more before it runs.", true
	default:
		return nil
	}
	q.Target += "\x00" + q.Message
	return q
}

// mostShown is how many characters of a value a question shows.
const mostShown = 200

// settings are the values with which a task would run, a line each, as far as the
// caller gave them or its prompts name them: go-task would fill a prompt in only
// while it runs, and nobody can agree to "Deploy to {{.STAGE}}?". A value is
// quoted, so that none can look like a line of the question.
func settings(d taskfile.Decl, given map[string]any) string {
	var b strings.Builder
	for _, v := range d.Vars {
		value := given[v.Name]
		if value == nil && slices.ContainsFunc(d.Prompts, func(p string) bool { return strings.Contains(p, v.Name) }) {
			value = v.Default
		}
		if value == nil {
			continue
		}
		text := "(secret)"
		if !v.Secret {
			runes := []rune(fmt.Sprint(value))
			text = strconv.Quote(string(runes[:min(len(runes), mostShown)]))
			if len(runes) > mostShown {
				text += "…"
			}
		}
		fmt.Fprintf(&b, "\n%s = %s", v.Name, text)
	}
	return b.String()
}

// missing are the variables that a task needs and a call does not give. A secret
// is not asked for: what a person types passes through the client.
func missing(d taskfile.Decl, vars map[string]any) []tool.Field {
	var fields []tool.Field
	for _, v := range d.Vars {
		if !v.Required || vars[v.Name] != nil {
			continue
		}
		if v.Secret || v.Name == "confirm" {
			return nil // the call is refused, with the reason
		}
		fields = append(fields, tool.Field{Name: v.Name, Enum: v.Enum, Doc: "A variable of the task, of type " + string(v.Kind) + "."})
	}
	return fields
}

// answered puts what a person filled in among the variables of a request.
func answered(call *tool.Call, req *taskfile.Request) {
	if call.Confirmed == nil {
		return
	}
	req.Yes = !call.Confirmed.OnlyFields
	for name, text := range call.Confirmed.Given {
		if req.Vars[name] == nil {
			req.Vars[name] = text
		}
	}
}

// values reads the caller's values as the domain wants them: numbers as written.
func values(in map[string]json.RawMessage) (map[string]any, error) {
	out := make(map[string]any, len(in))
	for name, raw := range in {
		switch raw[0] {
		case '{', '[':
			return nil, fault.New(fault.InvalidInput, "%s: must be a string, a number or a boolean", name)
		case '"':
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, fault.Wrap(err, fault.InvalidInput, "%s: not a valid string", name)
			}
			out[name] = text
		case 't', 'f':
			out[name] = raw[0] == 't'
		case 'n': // as if it were absent
		default:
			out[name] = json.Number(raw)
		}
	}
	return out, nil
}
