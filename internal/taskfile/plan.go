package taskfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handrail/internal/fault"
)

// Loaded is one root with what the runner said of it.
type Loaded struct {
	// Dir is the root's path, and URI its canonical file URI.
	Dir, URI string
	Listing  Listing
}

// PlanOptions decide what a plan offers. The zero value offers every task.
type PlanOptions struct {
	// Taken are names that no tool may have.
	Taken []string
	// Allow has the names of the only tasks that are offered; nil: all of them.
	Allow []string
	// OnCollision is told of tasks whose tools would have had one name.
	OnCollision func(name string, tasks []string)
}

// Plan is what all roots together offer at one moment. It is never changed.
type Plan struct {
	// Generation grows with every plan of a project.
	Generation uint64
	// Roots are in the order in which they were given.
	Roots []RootInfo
	// Tools are by name, one for each task that is exposed.
	Tools []Tool
	// Tasks are all tasks but internal ones, by root and name.
	Tasks []TaskInfo
}

// RootInfo is one root of a plan.
type RootInfo struct {
	// Name tells the root apart from the others of the plan.
	Name string
	URI  string
	// Error is why the root has no tasks, in one line; empty where it is well.
	Error string
}

// Tool is a task as a tool.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
	// Root and Task are what Request wants to have. URI is the root's: it means the
	// same root for ever, where a name may come to mean another one.
	Root, Task, URI string
	Decl            Decl
}

// TaskInfo is a task as a list shows it.
type TaskInfo struct {
	Decl Decl
	// Root and URI are the root's.
	Root, URI string
	// Tool is the tool's name; empty where it has none.
	Tool string
	// Description is the tool's, or what it would be.
	Description string
	// Reason says why there is no tool; empty where there is one.
	Reason string
}

// NewPlan makes the plan of some roots. It is a pure function: the same roots
// have the same plan.
func NewPlan(roots []Loaded, o PlanOptions) *Plan {
	p := &Plan{}
	names := rootNames(roots)
	for i, root := range roots {
		p.Roots = append(p.Roots, RootInfo{Name: names[i], URI: root.URI, Error: root.Listing.Error})
		prefix := ""
		if len(roots) > 1 {
			prefix = RootPrefix(baseName(root.Dir))
		}
		decls := slices.SortedFunc(slices.Values(root.Listing.Tasks), func(a, b Decl) int { return cmp.Compare(a.Task, b.Task) })
		for _, d := range decls {
			info := TaskInfo{Decl: d, Root: names[i], URI: root.URI, Reason: d.Reason}
			if o.Allow != nil && !slices.Contains(o.Allow, d.Task) {
				info.Reason = "it is not among the tasks that may be run (--allow-run)"
			}
			info.Tool = ToolName(prefix, d.Task)
			p.Tasks = append(p.Tasks, info)
		}
	}
	p.tellApart(o)
	for i := range p.Tasks {
		info := &p.Tasks[i]
		info.Description = describe(info.Decl, info.Tool)
		if info.Reason != "" {
			info.Tool = ""
			continue
		}
		p.Tools = append(p.Tools, Tool{
			Name: info.Tool, Description: info.Description, Schema: info.Decl.Schema(),
			Root: info.Root, Task: info.Decl.Task, URI: info.URI, Decl: info.Decl,
		})
	}
	slices.SortFunc(p.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return p
}

// tellApart gives every exposed task of a name that several have, or that is
// taken, a suffix of its own.
func (p *Plan) tellApart(o PlanOptions) {
	suffixed := map[int]bool{}
	for {
		owners := map[string][]int{}
		for i, info := range p.Tasks {
			if info.Reason == "" {
				owners[info.Tool] = append(owners[info.Tool], i)
			}
		}
		again := false
		for name, all := range owners {
			if len(all) == 1 && !slices.Contains(o.Taken, name) {
				continue
			}
			var tasks []string
			for _, i := range all {
				tasks = append(tasks, p.Tasks[i].Decl.Task)
				if !suffixed[i] {
					suffixed[i], again = true, true
					p.Tasks[i].Tool = withSuffix(name, p.Tasks[i].URI, p.Tasks[i].Decl.Task)
				}
			}
			if o.OnCollision != nil && len(all) > 1 {
				o.OnCollision(name, tasks)
			}
		}
		if !again {
			return
		}
	}
}

// rootNames are names that tell the roots apart: those of their folders, with a
// hash where two are the same.
func rootNames(roots []Loaded) []string {
	count := map[string]int{}
	for _, r := range roots {
		count[RootPrefix(baseName(r.Dir))]++
	}
	names := make([]string, len(roots))
	for i, r := range roots {
		names[i] = RootPrefix(baseName(r.Dir))
		if count[names[i]] > 1 {
			names[i] += "_" + shortHash(r.URI)
		}
	}
	return names
}

func baseName(dir string) string {
	dir = strings.TrimRight(strings.ReplaceAll(dir, `\`, "/"), "/")
	return dir[strings.LastIndexByte(dir, '/')+1:]
}

// longestDescription is the most bytes of an author's description that are shown.
const longestDescription = 1500

// describe is the description of a task's tool.
func describe(d Decl, tool string) string {
	text := strings.TrimSpace(CleanText(d.Desc))
	if text == "" {
		text = strings.TrimSpace(CleanText(d.Summary))
	}
	if text == "" {
		text = "Execute task: " + shownName(d.Task)
	}
	if len(text) > longestDescription {
		text = strings.ToValidUTF8(text[:longestDescription], "") + "…"
	}
	if tool != d.Task {
		text += " (task: " + shownName(d.Task) + ")"
	}
	if len(d.Aliases) > 0 {
		text += " (aliases: " + shownName(strings.Join(d.Aliases, ", ")) + ")"
	}
	return text
}

// shownName is a name in one line of plain text.
func shownName(name string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(CleanText(name))
}

// Find is the task that a caller means, by its name or an alias; root may be
// empty where only one has it. Its faults are NotFound, Conflict where several
// have it, and InvalidInput where it may not be run.
func (p *Plan) Find(root, task string) (TaskInfo, error) {
	if root != "" && !slices.ContainsFunc(p.Roots, func(r RootInfo) bool { return r.Name == root || r.URI == root }) {
		return TaskInfo{}, fault.New(fault.NotFound, "there is no root %q", root)
	}
	var found []TaskInfo
	for _, exact := range []bool{true, false} {
		for _, info := range p.Tasks {
			if root != "" && info.Root != root && info.URI != root {
				continue
			}
			if exact && info.Decl.Task == task || !exact && slices.Contains(info.Decl.Aliases, task) {
				found = append(found, info)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		return TaskInfo{}, fault.New(fault.NotFound, "there is no task %q", task)
	case 1:
		if found[0].Reason != "" {
			return TaskInfo{}, fault.New(fault.InvalidInput, "task %q cannot be run: %s", task, found[0].Reason)
		}
		return found[0], nil
	}
	var in []string
	for _, info := range found {
		in = append(in, fmt.Sprintf("%s in %s", info.Decl.Task, info.Root))
	}
	return TaskInfo{}, fault.New(fault.Conflict, "%q means several tasks (%s): say which root", task, strings.Join(in, ", "))
}

// sum is the same for plans that show the same.
func (p *Plan) sum() [sha256.Size]byte {
	return sha256.Sum256(encode(struct {
		Roots []RootInfo
		Tasks []TaskInfo
	}{p.Roots, p.Tasks}))
}
