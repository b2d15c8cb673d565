package runner

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-task/task/v3/taskfile/ast"

	"handrail/internal/taskfile"
)

// mostVisits bounds how many calls of tasks are followed from one task.
const mostVisits = 2000

// flow follows a caller's variables through one Taskfile.
type flow struct {
	merged *ast.Taskfile
	names  []taskfile.Decl // every task's name and aliases, in order
	cache  map[string]*globals
}

func newFlow(merged *ast.Taskfile) *flow {
	f := &flow{merged: merged, cache: map[string]*globals{}}
	for name, t := range merged.Tasks.All(nil) {
		f.names = append(f.names, taskfile.Decl{Task: name, Aliases: t.Aliases})
	}
	return f
}

// trip is what following one task found.
type trip struct {
	*flow
	places  map[string]map[taskfile.Place]bool
	prompts []string
	badly   string // why go-task would not survive it
	search  bool   // whether a called name must be looked for among wildcards
	tasks   map[string]bool
	visited map[string]bool
	offered taints
}

// follow finds where the offered variables of a task land, in it and in all that
// it calls.
func (f *flow) follow(t *ast.Task, vars []taskfile.Var) *trip {
	tr := &trip{flow: f, places: map[string]map[taskfile.Place]bool{}, tasks: map[string]bool{}, visited: map[string]bool{}, offered: taints{}}
	for _, v := range vars {
		tr.offered[v.Name] = true
	}
	begin := f.begin(vars)
	for _, m := range begin.marks {
		tr.record(m.from, m.place)
	}
	match := variants{nil}
	if strings.Contains(t.Task, "*") {
		tr.search = true
		match = unknown(taints{"MATCH": true}, raw)
	}
	tr.task(t, begin.vars, nil, match)
	return tr
}

func (tr *trip) record(from taints, place taskfile.Place) {
	for name := range from {
		if tr.places[name] == nil {
			tr.places[name] = map[taskfile.Place]bool{}
		}
		tr.places[name][place] = true
	}
}

// unsearchable says why go-task would not survive its own search for a wildcard, or
// nothing: it cannot compile the names of all tasks that are needed.
func (tr *trip) unsearchable() string {
	if !tr.search {
		return ""
	}
	for _, d := range tr.names {
		if tr.tasks[d.Task] && unwieldy(d.Task, d.Aliases) {
			return fmt.Sprintf("go-task cannot look for a task while there is one named %q, which is no valid pattern", d.Task)
		}
	}
	return ""
}

// task follows one call of a task.
func (tr *trip) task(t *ast.Task, begin map[string]variants, handed map[string]variants, match variants) {
	key := t.Task + "\x00" + fingerprint(handed) + "\x00" + match.String()
	if tr.visited[key] {
		return
	}
	if len(tr.visited) >= mostVisits {
		tr.record(tr.offered.with(taints{"MATCH": true}), taskfile.Fixed)
		return
	}
	tr.visited[key] = true
	tr.tasks[t.Task] = true
	if v, ok := t.Vars.Get("MATCH"); ok && v.Value != nil {
		tr.badly = fmt.Sprintf("task %q declares a variable MATCH, which go-task keeps for itself", t.Task)
	}
	for _, p := range t.Prompt {
		if p != "" {
			tr.prompts = append(tr.prompts, p)
		}
	}
	s := scope{vars: maps.Clone(begin)}
	s.vars["MATCH"] = match
	s.vars["TASK"] = known(t.Task)
	s.vars["ALIAS"] = unknown(match.from(), raw)
	for name, v := range t.IncludeVars.All() {
		s.define(name, v, false, tr.record)
	}
	for name, v := range t.IncludedTaskfileVars.All() {
		s.define(name, v, tr.offered[name], tr.record)
	}
	maps.Copy(s.vars, handed)
	for name, v := range t.Vars.All() {
		s.define(name, v, false, tr.record)
	}
	env := shellVars{}
	s.environment(tr.merged.Env, env, tr.record)
	s.environment(t.Env, env, tr.record)
	tr.fields(t, s, env)
	for _, d := range t.Deps {
		if d != nil {
			for _, inner := range s.loop(d.For, t) {
				tr.calls(d.Task, d.Vars, inner, begin)
			}
		}
	}
	for _, c := range t.Cmds {
		if c == nil {
			continue
		}
		for _, inner := range s.loop(c.For, t) {
			inShell(inner.expand(c.If), env, tr.record)
			if c.Task != "" {
				tr.calls(c.Task, c.Vars, inner, begin)
			} else {
				inShell(inner.expand(c.Cmd), env, tr.record)
			}
		}
	}
}

// fields judges everything of a task but its commands and calls.
func (tr *trip) fields(t *ast.Task, s scope, env shellVars) {
	inShell(s.expand(t.If), env, tr.record)
	for _, status := range t.Status {
		inShell(s.expand(status), env, tr.record)
	}
	for _, p := range t.Preconditions {
		if p != nil {
			inShell(s.expand(p.Sh), env, tr.record)
		}
	}
	landing(s.expand(t.Dir), taskfile.Path, tr.record)
	landing(s.expand(t.Method), taskfile.Name, tr.record)
	for _, path := range t.Dotenv {
		landing(s.expand(path), taskfile.Name, tr.record)
	}
	for _, globs := range [][]*ast.Glob{t.Sources, t.Generates} {
		for _, g := range globs {
			if g != nil {
				landing(s.expand(g.Glob), taskfile.Path, tr.record)
			}
		}
	}
}

// loop is the scopes in which the body of a for runs; without one, its own.
func (s scope) loop(f *ast.For, t *ast.Task) []scope {
	if f == nil {
		return []scope{s}
	}
	item := unknown(nil, raw)
	switch {
	case f.Matrix.Len() > 0:
		var from taints
		for _, row := range f.Matrix.All() {
			if row.Ref != "" {
				from = from.with(s.expand("{{" + row.Ref + "}}").from())
			}
		}
		item = unknown(from, opaque)
	case len(f.List) > 0:
		item = variants{}
		for _, element := range f.List {
			item = item.or(known(fmt.Sprint(element)))
		}
	case f.Var != "":
		item = s.variable([]string{f.Var}).blur(split(f.Split))
	case f.From == "sources" || f.From == "generates":
		var from taints
		for _, g := range slices.Concat(t.Sources, t.Generates) {
			from = from.with(s.expand(g.Glob).from())
		}
		item = unknown(from, opaque)
	}
	name := f.As
	if name == "" {
		name = "ITEM"
	}
	inner := scope{vars: maps.Clone(s.vars)}
	inner.vars[name] = item
	inner.vars["KEY"] = item.blur(opaque)
	return []scope{inner}
}

// calls follows a call from one task to another.
func (tr *trip) calls(name string, vars *ast.Vars, s scope, begin map[string]variants) {
	handed := map[string]variants{}
	for key, v := range vars.All() {
		value := s.of(v, tr.record)
		landing(value, taskfile.Bare, tr.record) // it is a template once more
		handed[key] = value
	}
	names := s.expand(name)
	for _, v := range names {
		pattern, first := "", true
		for _, p := range v {
			if p.hole == nil {
				pattern += regexp.QuoteMeta(p.text)
				first = first && p.text == ""
				continue
			}
			if first {
				tr.record(p.hole.from, taskfile.Fixed)
			}
			pattern += ".*"
		}
		from := variants{v}.from()
		landing(variants{v}, taskfile.Name, tr.record)
		match := unknown(from, opaque)
		if text, ok := (variants{v}).literal(); ok {
			hit, err := taskfile.Hit(tr.names, text)
			tr.search = tr.search || err != nil || strings.Contains(hit, "*")
			if err == nil {
				if t, ok := tr.merged.Tasks.Get(hit); ok {
					tr.task(t, begin, handed, match)
				}
			}
			continue
		}
		tr.search = true
		re, err := regexp.Compile("^(?s:" + pattern + ")$")
		if err != nil {
			continue
		}
		for name, t := range tr.merged.Tasks.All(nil) {
			if strings.Contains(name, "*") || re.MatchString(name) || slices.ContainsFunc(t.Aliases, re.MatchString) {
				tr.task(t, begin, handed, match)
			}
		}
	}
}

// found is the places of a variable, most forgiving first.
func (tr *trip) found(name string) []taskfile.Place {
	var all []taskfile.Place
	for _, p := range taskfile.Places {
		if tr.places[name][p] {
			all = append(all, p)
		}
	}
	if len(all) > 0 && all[len(all)-1] == taskfile.Fixed {
		return []taskfile.Place{taskfile.Fixed}
	}
	return all
}

// String is the variants in a form that is the same for the same ones.
func (a variants) String() string {
	var b strings.Builder
	for _, v := range a {
		for _, p := range v {
			if p.hole == nil {
				fmt.Fprintf(&b, "%q", p.text)
				continue
			}
			fmt.Fprintf(&b, "<%v %d>", p.hole.from.names(), p.hole.manner)
		}
		b.WriteByte('|')
	}
	return b.String()
}

func fingerprint(vars map[string]variants) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		b.WriteString(name + "=" + vars[name].String() + ";")
	}
	return b.String()
}
