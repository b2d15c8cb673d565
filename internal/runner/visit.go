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

// A task that is called with ever new values calls itself: past these bounds it
// cannot be told where anything lands.
const (
	mostOfOneTask = 100
	mostVisits    = 20000
)

// visit is one call of a task, with the values that it is handed. Whoever begins
// with the same variables and comes by shares it.
type visit struct {
	task    string
	places  places
	prompts []string
	badly   string
	search  bool
	next    []*visit
}

func (v *visit) record(from taints, place taskfile.Place) { v.places.record(from, place) }

// visit is the visit of a task, made where nobody has come by yet.
func (g *globals) visit(f *flow, t *ast.Task, handed map[string]variants, match variants) *visit {
	key := t.Task + "\x00" + fingerprint(handed) + "\x00" + match.String()
	if v, ok := g.visits[key]; ok {
		return v
	}
	v := &visit{task: t.Task, places: places{}}
	g.of[t.Task]++
	if g.of[t.Task] > mostOfOneTask || len(g.visits) >= mostVisits {
		v.record(g.offered.with(taints{"MATCH": true}), taskfile.Fixed)
		return v
	}
	g.visits[key] = v
	if m, ok := t.Vars.Get("MATCH"); ok && m.Value != nil {
		v.badly = fmt.Sprintf("task %q declares a variable MATCH, which go-task keeps for itself", t.Task)
	}
	for _, p := range t.Prompt {
		if p != "" {
			v.prompts = append(v.prompts, taskfile.CleanText(p))
		}
	}
	s := scope{vars: maps.Clone(g.vars)}
	s.vars["MATCH"] = match
	s.vars["TASK"] = known(t.Task)
	s.vars["ALIAS"] = unknown(match.from(), raw)
	for name, value := range t.IncludeVars.All() {
		s.define(name, value, false, v.record)
	}
	for name, value := range t.IncludedTaskfileVars.All() {
		s.define(name, value, g.offered[name], v.record)
	}
	maps.Copy(s.vars, handed)
	for name, value := range t.Vars.All() {
		s.define(name, value, false, v.record)
	}
	v.body(t, s, f, g)
	return v
}

// body judges what a task does.
func (v *visit) body(t *ast.Task, s scope, f *flow, g *globals) {
	env := shellVars{}
	s.environment(f.merged.Env, env, v.record)
	s.environment(t.Env, env, v.record)
	v.fields(t, s, env)
	for _, d := range t.Deps {
		if d != nil {
			for _, inner := range s.loop(d.For, t) {
				v.calls(d.Task, d.Vars, inner, f, g)
			}
		}
	}
	for _, c := range t.Cmds {
		if c == nil {
			continue
		}
		for _, inner := range s.loop(c.For, t) {
			inShell(inner.expand(c.If), env, v.record)
			if c.Task != "" {
				v.calls(c.Task, c.Vars, inner, f, g)
			} else {
				inShell(inner.expand(c.Cmd), env, v.record)
			}
		}
	}
}

// fields judges everything of a task but its commands and calls.
func (v *visit) fields(t *ast.Task, s scope, env shellVars) {
	inShell(s.expand(t.If), env, v.record)
	for _, status := range t.Status {
		inShell(s.expand(status), env, v.record)
	}
	for _, p := range t.Preconditions {
		if p != nil {
			inShell(s.expand(p.Sh), env, v.record)
		}
	}
	landing(s.expand(t.Dir), taskfile.Path, v.record)
	landing(s.expand(t.Method), taskfile.Name, v.record)
	for _, path := range t.Dotenv {
		landing(s.expand(path), taskfile.Name, v.record)
	}
	for _, globs := range [][]*ast.Glob{t.Sources, t.Generates} {
		for _, g := range globs {
			if g != nil {
				landing(s.expand(g.Glob), taskfile.Path, v.record)
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
func (v *visit) calls(name string, vars *ast.Vars, s scope, f *flow, g *globals) {
	handed := map[string]variants{}
	for key, handing := range vars.All() {
		value := s.of(handing, v.record)
		landing(value, taskfile.Bare, v.record) // it is a template once more
		handed[key] = value
	}
	names := s.expand(name)
	for _, called := range names {
		pattern, first := "", true
		for _, p := range called {
			if p.hole == nil {
				pattern += regexp.QuoteMeta(p.text)
				first = first && p.text == ""
				continue
			}
			if first {
				v.record(p.hole.from, taskfile.Fixed)
			}
			pattern += ".*"
		}
		from := variants{called}.from()
		landing(variants{called}, taskfile.Name, v.record)
		match := unknown(from, opaque)
		if text, ok := (variants{called}).literal(); ok {
			hit, err := taskfile.Hit(f.names, text)
			v.search = v.search || err != nil || strings.Contains(hit, "*")
			if err == nil {
				if t, ok := f.merged.Tasks.Get(hit); ok {
					v.next = append(v.next, g.visit(f, t, handed, match))
				}
			}
			continue
		}
		v.search = true
		re, err := regexp.Compile("^(?s:" + pattern + ")$")
		if err != nil {
			continue
		}
		for name, t := range f.merged.Tasks.All(nil) {
			if strings.Contains(name, "*") || re.MatchString(name) || slices.ContainsFunc(t.Aliases, re.MatchString) {
				v.next = append(v.next, g.visit(f, t, handed, match))
			}
		}
	}
}
