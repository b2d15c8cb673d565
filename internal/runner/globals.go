package runner

import (
	"fmt"
	"strings"

	"github.com/go-task/task/v3/taskfile/ast"

	"handrail/internal/taskfile"
)

// globals are the variables that every task begins with that offers the same, the
// places that their own commands have, and the visits of tasks from there.
type globals struct {
	vars    map[string]variants
	places  places
	offered taints
	visits  map[string]*visit
	of      map[string]int // visits of each task
}

// begin calculates the global variables with the offered ones unknown. Tasks that
// offer the same share the work.
func (f *flow) begin(vars []taskfile.Var) *globals {
	offered := taints{}
	for _, v := range vars {
		offered[v.Name] = true
	}
	key := strings.Join(offered.names(), "\x00")
	if g, ok := f.cache[key]; ok {
		return g
	}
	g := &globals{vars: map[string]variants{}, places: places{}, offered: offered, visits: map[string]*visit{}, of: map[string]int{}}
	s := scope{vars: g.vars}
	for name := range offered {
		g.vars[name] = unknown(taints{name: true}, raw)
	}
	for _, all := range []*ast.Vars{f.merged.Env, f.merged.Vars} {
		for name, v := range all.All() {
			s.define(name, v, offered[name], g.places.record)
		}
	}
	f.cache[key] = g
	return g
}

// define calculates a variable of the Taskfile. One that is offered may be the
// caller's instead, or what the Taskfile makes of other variables of the caller.
func (s scope) define(name string, v ast.Var, offered bool, rec record) {
	value := s.of(v, rec)
	if !offered {
		s.vars[name] = value
		return
	}
	s.vars[name] = unknown(taints{name: true}, raw)
	if len(value.from()) > 0 {
		s.vars[name] = s.vars[name].or(value)
	}
}

// exported is what a command of a variable finds in its environment: all that is
// known so far.
func (s scope) exported() shellVars {
	vars := shellVars{}
	for name, v := range s.vars {
		if from := v.from(); len(from) > 0 {
			vars[name] = from
		}
	}
	return vars
}

func (s scope) of(v ast.Var, rec record) variants {
	if v.Ref != "" {
		return s.expand("{{" + v.Ref + "}}")
	}
	if v.Sh != nil {
		command := s.expand(*v.Sh)
		vars := s.exported()
		inShell(command, vars, rec)
		return printedBy(command, vars)
	}
	switch x := v.Value.(type) {
	case nil:
		return variants{nil}
	case string:
		return s.expand(x)
	case []any, map[string]any:
		return unknown(s.within(x), opaque)
	}
	return known(fmt.Sprint(v.Value))
}

// within is everybody who has a part in a list or map.
func (s scope) within(value any) taints {
	var all taints
	switch x := value.(type) {
	case string:
		all = s.expand(x).from()
	case []any:
		for _, element := range x {
			all = all.with(s.within(element))
		}
	case map[string]any:
		for key, element := range x {
			all = all.with(s.expand(key).from()).with(s.within(element))
		}
	}
	return all
}

// environment judges what becomes part of commands' environment, and adds it to
// vars.
func (s scope) environment(env *ast.Vars, vars shellVars, rec record) {
	for name, v := range env.All() {
		result := s.of(v, rec)
		if taskfile.Reserved(name) {
			rec(result.from(), taskfile.Fixed)
			continue
		}
		landing(result, taskfile.Free, rec)
		if from := result.from(); len(from) > 0 {
			vars[name] = vars[name].with(from)
		}
	}
}

// landing records a place outside of a shell, sharpened by what happened to the
// value on its way.
func landing(all variants, place taskfile.Place, rec record) {
	for _, v := range all {
		for _, p := range v {
			if p.hole == nil || len(p.hole.from) == 0 {
				continue
			}
			m := p.hole.manner
			if m == fields && place == taskfile.Bare {
				rec(p.hole.from, m.place()) // each word is a value of its own
				continue
			}
			rec(p.hole.from, place)
			if also := m.place(); also != taskfile.Free {
				rec(p.hole.from, also)
			}
		}
	}
}
