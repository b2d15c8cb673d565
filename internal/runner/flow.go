package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-task/task/v3/taskfile/ast"

	"handrail/internal/taskfile"
)

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

// places are those of each variable.
type places map[string]placeSet

// placeSet has a bit for each of taskfile.Places.
type placeSet uint32

// placeBit is the bit of each place.
var placeBit = func() map[taskfile.Place]placeSet {
	bits := map[taskfile.Place]placeSet{}
	for i, p := range taskfile.Places {
		bits[p] = 1 << i
	}
	return bits
}()

func (p places) record(from taints, place taskfile.Place) {
	for name := range from {
		p[name] |= placeBit[place]
	}
}

// trip is what following one task found.
type trip struct {
	*flow
	places  places
	prompts []string
	badly   string // why go-task would not survive it
	search  bool   // whether a called name must be looked for among wildcards
	tasks   map[string]bool
	visited map[*visit]bool
}

// follow finds where the offered variables of a task land, in it and in all that
// it calls.
func (f *flow) follow(t *ast.Task, vars []taskfile.Var) *trip {
	g := f.begin(vars)
	tr := &trip{flow: f, places: places{}, tasks: map[string]bool{}, visited: map[*visit]bool{}}
	tr.take(g.places)
	match := variants{nil}
	if strings.Contains(t.Task, "*") {
		tr.search = true
		match = unknown(taints{"MATCH": true}, raw)
	}
	tr.follow(g.visit(f, t, nil, match))
	return tr
}

func (tr *trip) take(found places) {
	for name, set := range found {
		tr.places[name] |= set
	}
}

// follow adds what a visit found, and those that follow from it.
func (tr *trip) follow(v *visit) {
	if tr.visited[v] {
		return
	}
	tr.visited[v] = true
	tr.tasks[v.task] = true
	tr.take(v.places)
	tr.prompts = append(tr.prompts, v.prompts...)
	tr.search = tr.search || v.search
	if tr.badly == "" {
		tr.badly = v.badly
	}
	for _, next := range v.next {
		tr.follow(next)
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

// found is the places of a variable, most forgiving first.
func (tr *trip) found(name string) []taskfile.Place {
	set := tr.places[name]
	if set&placeBit[taskfile.Fixed] != 0 {
		return []taskfile.Place{taskfile.Fixed}
	}
	var all []taskfile.Place
	for i, p := range taskfile.Places {
		if set&(1<<i) != 0 {
			all = append(all, p)
		}
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
