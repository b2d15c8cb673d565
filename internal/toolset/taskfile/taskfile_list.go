package taskfile

import (
	"context"
	"encoding/json"
	"strconv"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

type listIn struct {
	Root   string  `json:"root,omitempty"`
	Status *bool   `json:"status,omitempty"`
	Cursor *string `json:"cursor,omitempty"`
}

type listOut struct {
	Roots      []rootEntry `json:"roots"`
	Tasks      []taskEntry `json:"tasks"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

type rootEntry struct {
	Root  string `json:"root"`
	URI   string `json:"uri"`
	Error string `json:"error,omitempty"`
}

type taskEntry struct {
	Task        string     `json:"task"`
	Tool        string     `json:"tool,omitempty"`
	Root        string     `json:"root"`
	Description string     `json:"description"`
	Vars        []varEntry `json:"vars"`
	Wildcards   int        `json:"wildcards"`
	// UpToDate is there where it was asked for: true, false, or null where only a
	// command could tell.
	UpToDate any    `json:"upToDate,omitzero"`
	Exposed  bool   `json:"exposed"`
	Reason   string `json:"reason,omitempty"`
}

type varEntry struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Required bool     `json:"required"`
	Default  any      `json:"default,omitzero"`
	Enum     []string `json:"enum,omitempty"`
}

func (c *commands) list() tool.Tool {
	return tool.New(tool.Spec{
		Name: ListName, Title: "List tasks",
		Doc: "List the tasks of the project's Taskfiles, with the tool of each and what it takes. Runs nothing.",
		Args: tool.Args{
			"root":   {Doc: "Only this root, by its name or URI.", MinLength: 1, MaxLength: 4000},
			"status": {Doc: "Also say which tasks are up to date, by their sources and what they generate."},
			"cursor": {Doc: "nextCursor of the answer before.", MinLength: 1, MaxLength: 200},
		},
	}, c.listed)
}

func (c *commands) listed(ctx context.Context, _ *tool.Call, in listIn) (listOut, error) {
	plan := c.project.Plan()
	out := listOut{Roots: []rootEntry{}, Tasks: []taskEntry{}}
	for _, r := range plan.Roots {
		if in.Root == "" || in.Root == r.Name || in.Root == r.URI {
			out.Roots = append(out.Roots, rootEntry{Root: r.Name, URI: r.URI, Error: r.Error})
		}
	}
	if in.Root != "" && len(out.Roots) == 0 {
		return listOut{}, fault.New(fault.NotFound, "there is no root %q", in.Root)
	}
	var status map[string]map[string]*bool
	if in.Status != nil && *in.Status {
		var err error
		if status, err = c.status(ctx, out.Roots); err != nil {
			return listOut{}, err
		}
	}
	shown := map[string]bool{}
	for _, r := range out.Roots {
		shown[r.Root] = true
	}
	for _, info := range plan.Tasks {
		if shown[info.Root] {
			out.Tasks = append(out.Tasks, entry(info, status))
		}
	}
	return out.page([]any{in.Root, status != nil, plan.Generation}, in.Cursor)
}

// page cuts the tasks to what fits, from the cursor on.
func (out listOut) page(scope any, cursor *string) (listOut, error) {
	from := 0
	if cursor != nil {
		key, err := toolset.ParseCursor(scope, *cursor)
		if err != nil {
			return listOut{}, err
		}
		if from, err = strconv.Atoi(key); err != nil || from < 0 || from > len(out.Tasks) {
			return listOut{}, fault.New(fault.InvalidInput, "cursor: not one that this server gave out")
		}
	}
	rest := out.Tasks[from:]
	n, err := toolset.Fit(rest)
	if err != nil {
		return listOut{}, err
	}
	if n < len(rest) {
		out.NextCursor = toolset.Cursor(scope, strconv.Itoa(from+n))
	}
	out.Tasks = rest[:n]
	return out, nil
}

// status asks each root which of its tasks are up to date.
func (c *commands) status(ctx context.Context, roots []rootEntry) (map[string]map[string]*bool, error) {
	all := map[string]map[string]*bool{}
	for _, r := range roots {
		if r.Error != "" {
			continue
		}
		tasks, err := c.project.Status(ctx, r.URI)
		if err != nil {
			return nil, err
		}
		all[r.Root] = tasks
	}
	return all, nil
}

func entry(info taskfile.TaskInfo, status map[string]map[string]*bool) taskEntry {
	e := taskEntry{
		Task: info.Decl.Task, Tool: info.Tool, Root: info.Root, Description: info.Description,
		Vars: []varEntry{}, Wildcards: info.Decl.Wildcards(), Exposed: info.Reason == "", Reason: info.Reason,
	}
	for _, v := range info.Decl.Vars {
		e.Vars = append(e.Vars, varEntry{Name: v.Name, Type: string(v.Kind), Required: v.Required, Default: v.Default, Enum: v.Enum})
	}
	if status != nil {
		e.UpToDate = json.RawMessage("null")
		if is := status[info.Root][info.Decl.Task]; is != nil {
			e.UpToDate = *is
		}
	}
	return e
}
