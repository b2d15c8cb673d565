package runner

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-task/task/v3/taskfile/ast"

	"handrail/internal/taskfile"
)

// asDefault is a variable that a task takes from its caller or else has a value
// for: '{{.X | default "y"}}' or '{{default "y" .X}}'. Groups: name, literal.
var asDefault = []*regexp.Regexp{
	regexp.MustCompile("^\\{\\{-?\\s*\\.(\\w+)\\s*\\|\\s*default\\s+(\"[^\"]*\"|`[^`]*`|[\\w.]+)\\s*-?\\}\\}$"),
	regexp.MustCompile("^\\{\\{-?\\s*default\\s+(?:\"[^\"]*\"|`[^`]*`|[\\w.]+)\\s+\\.(\\w+)\\s*-?\\}\\}$"),
}

var swapped = regexp.MustCompile("default\\s+(\"[^\"]*\"|`[^`]*`|[\\w.]+)\\s+\\.")

// takes reports whether a task-level variable leaves the caller a say, and with
// which static default, if it has one.
func takes(name string, v ast.Var) (fallback string, static, ok bool) {
	text, isText := v.Value.(string)
	if !isText || v.Sh != nil || v.Ref != "" {
		return "", false, false
	}
	text = strings.TrimSpace(text)
	literal := ""
	if m := asDefault[0].FindStringSubmatch(text); m != nil && m[1] == name {
		literal = m[2]
	} else if m := asDefault[1].FindStringSubmatch(text); m != nil && m[1] == name {
		literal = swapped.FindStringSubmatch(text)[1]
	} else {
		return "", false, false
	}
	if unquoted, err := strconv.Unquote(literal); err == nil {
		return unquoted, true, true
	}
	if strings.HasPrefix(literal, ".") {
		return "", false, true // the default is another variable
	}
	return literal, true, true
}

// offer is what a caller of the task may set, in the Taskfile's order: its
// required variables first, then those that it takes itself, then the global ones
// that neither the task nor its include decides.
func offer(t *ast.Task, merged *ast.Taskfile) []taskfile.Var {
	var all []taskfile.Var
	at := map[string]int{}
	fixed := map[string]bool{}
	add := func(v taskfile.Var) {
		if taskfile.Reserved(v.Name) || v.Name == "" || fixed[v.Name] {
			return
		}
		if i, ok := at[v.Name]; ok {
			if all[i].Default == nil && !all[i].Secret {
				all[i].Default, all[i].Kind, all[i].Secret = v.Default, v.Kind, v.Secret
			}
			return
		}
		at[v.Name] = len(all)
		all = append(all, v)
	}
	var own []taskfile.Var
	for _, vars := range []*ast.Vars{t.IncludeVars, t.Vars} {
		for name, v := range vars.All() {
			fallback, static, ok := takes(name, v)
			if !ok {
				fixed[name] = true
				continue
			}
			delete(fixed, name)
			taken := taskfile.Var{Name: name, Kind: taskfile.Text, Secret: v.Secret}
			if static && !v.Secret {
				taken.Default = fallback
			}
			own = append(own, taken)
		}
	}
	if t.Requires != nil {
		for _, r := range t.Requires.Vars {
			if r == nil {
				continue
			}
			v := taskfile.Var{Name: r.Name, Kind: taskfile.Text, Required: true}
			if r.Enum != nil {
				v.Enum = r.Enum.Value
			}
			add(v)
		}
	}
	for _, v := range own {
		add(v)
	}
	for name, v := range merged.Vars.All() {
		if global, ok := settable(name, v); ok {
			add(global)
		}
	}
	return all
}

// settable is a global variable as a caller may set it. Lists, maps and
// references cannot be.
func settable(name string, v ast.Var) (taskfile.Var, bool) {
	out := taskfile.Var{Name: name, Kind: taskfile.Text, Secret: v.Secret}
	if v.Ref != "" {
		return out, false
	}
	if v.Sh != nil {
		return out, true
	}
	switch x := v.Value.(type) {
	case nil:
	case string:
		if !strings.Contains(x, "{{") {
			out.Default = x
		}
	case bool:
		out.Kind, out.Default = taskfile.Bool, x
	case int:
		out.Kind, out.Default = taskfile.Number, float64(x)
	case uint64:
		out.Kind, out.Default = taskfile.Number, float64(x)
	case float64:
		out.Kind, out.Default = taskfile.Number, x
	default:
		return out, false
	}
	if v.Secret {
		out.Default = nil
	}
	return out, true
}
