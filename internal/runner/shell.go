package runner

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/taskfile"
)

// record is told a place where a caller's variable lands.
type record func(from taints, place taskfile.Place)

// deepest is how many scripts may be nested in scripts before nobody can tell.
const deepest = 4

// shellVars are the variables of a shell whose values a caller has a part in:
// those that it finds in its environment, then those that it sets.
type shellVars map[string]taints

// inShell judges every variant of a shell command that finds vars in its
// environment.
func inShell(all variants, vars shellVars, rec record) {
	for _, v := range all {
		if len(vars) > 0 || len(variants{v}.from()) > 0 {
			judge(v, vars, rec, 0)
		}
	}
}

// judge parses one command with a marker in the place of each hole, and records
// where the markers come to stand.
func judge(v value, vars shellVars, rec record, depth int) {
	j, text := newJudgement(v, vars, rec)
	j.depth = depth
	j.judge(text)
}

func newJudgement(v value, vars shellVars, rec record) (j *judgement, text string) {
	j = &judgement{rec: rec, vars: shellVars{}, seen: map[int]bool{}, whole: map[*syntax.Word]bool{}}
	maps.Copy(j.vars, vars)
	var b strings.Builder
	for _, p := range v {
		if p.hole == nil {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(j.marker(p.hole))
	}
	return j, b.String()
}

// judgement is the work on one command.
type judgement struct {
	rec   record
	depth int
	holes []*hole
	seen  map[int]bool
	vars  shellVars
	whole map[*syntax.Word]bool
	// functions says that the command defines some, whose arguments go anywhere.
	functions bool
}

const markerHead = "HnDrLq"

var markers = regexp.MustCompile(markerHead + `(\d{4})x`)

func (j *judgement) marker(h *hole) string {
	j.holes = append(j.holes, h)
	return fmt.Sprintf("%s%04dx", markerHead, len(j.holes)-1)
}

func parseShell(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

func (j *judgement) judge(text string) {
	file, err := parseShell(text)
	if err != nil || j.depth > deepest || len(j.holes) > 9999 {
		for i := range j.holes {
			j.put(i, taskfile.Fixed)
		}
		for _, from := range j.vars {
			j.rec(from, taskfile.Fixed)
		}
		return
	}
	j.assigned(file)
	j.walk(file)
	for i := range j.holes {
		if !j.seen[i] { // somewhere this code knows nothing of
			j.put(i, taskfile.Fixed)
		}
	}
}

// put records a place for a hole.
func (j *judgement) put(i int, place taskfile.Place) {
	j.seen[i] = true
	if h := j.holes[i]; len(h.from) > 0 {
		j.rec(h.from, place)
	}
}

// putAll records a place for every hole in a text.
func (j *judgement) putAll(text string, place taskfile.Place) {
	for _, i := range holesIn(text) {
		j.put(i, place)
	}
}

func holesIn(text string) []int {
	var all []int
	for _, m := range markers.FindAllStringSubmatch(text, -1) {
		i, _ := strconv.Atoi(m[1])
		all = append(all, i)
	}
	return all
}

// within records what the hole's quotes and its manner ask for.
func (j *judgement) within(i int, quotes taskfile.Place) {
	place := quotes
	switch m := j.holes[i].manner; m {
	case raw:
	case quoted:
		if quotes == taskfile.Bare {
			place = taskfile.Free
		} else {
			place = taskfile.Bare // quotes within quotes protect nothing
		}
	default:
		place = m.place()
	}
	j.put(i, place)
}

// place is what is asked of a value wherever it lands, after what happened to it.
func (m manner) place() taskfile.Place {
	switch m {
	case raw, quoted:
		return taskfile.Free
	case fields:
		return taskfile.Words
	case parts:
		return taskfile.Parts
	case expanded, opaque:
		return taskfile.Bare
	case derived:
		return taskfile.Name
	}
	return taskfile.Fixed
}

// walk visits everything that can hold a word.
func (j *judgement) walk(root syntax.Node) {
	syntax.Walk(root, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			j.call(n)
		case *syntax.DeclClause:
			j.declare(n)
		case *syntax.Stmt:
			j.redirects(n)
		case *syntax.BinaryCmd:
			j.pipe(n)
		case *syntax.Word:
			j.parts(n.Parts, taskfile.Bare, j.whole[n])
			return true // into the commands that are substituted
		case *syntax.FuncDecl:
			if n.Name != nil {
				j.putAll(n.Name.Value, taskfile.Fixed)
			}
		case *syntax.WordIter:
			j.putAll(n.Name.Value, taskfile.Fixed)
		case *syntax.Assign:
			j.whole[n.Value] = true
			j.assign(n)
		case *syntax.CaseClause:
			j.whole[n.Word] = true
		case *syntax.ParamExp:
			j.parameter(n)
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			j.putNode(n, taskfile.Digits)
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				j.putNode(n, taskfile.Digits)
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar || n.Op == syntax.TsOptSet {
				j.putNode(n, taskfile.Fixed)
			}
		case *syntax.ExtGlob:
			j.putAll(n.Pattern.Value, taskfile.Bare)
		case *syntax.Comment:
			j.putAll(n.Text, taskfile.Bare) // only a line break ends it
		}
		return true
	})
}

// parts records the quotes around each hole of a word. A whole word is not cut at
// white space that comes out of a variable.
func (j *judgement) parts(parts []syntax.WordPart, quotes taskfile.Place, whole bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			for _, i := range holesIn(p.Value) {
				j.within(i, quotes)
			}
		case *syntax.SglQuoted:
			place := taskfile.Single
			if p.Dollar {
				place = taskfile.Bare // $'…' has escapes
			}
			for _, i := range holesIn(p.Value) {
				j.within(i, place)
			}
		case *syntax.DblQuoted:
			j.parts(p.Parts, taskfile.Double, true)
		case *syntax.ParamExp, *syntax.CmdSubst:
			if !whole { // it may also be a pattern of files
				j.mark(j.tainted(p), taskfile.Bare)
			}
		}
	}
}

// parameter judges ${…}: a caller who decides which variable is meant reads it.
func (j *judgement) parameter(p *syntax.ParamExp) {
	if p.Param != nil {
		j.putAll(p.Param.Value, taskfile.Fixed)
	}
	if p.Excl && p.Param != nil {
		j.mark(j.vars[p.Param.Value], taskfile.Fixed)
	}
	if p.Index != nil {
		j.putNode(p.Index, taskfile.Fixed)
	}
	if p.Slice != nil {
		j.putNode(p, taskfile.Digits)
	}
	// Words inside, whatever their quotes, are part of one more expansion.
	j.putAll(printed(p), taskfile.Bare)
}

// declare judges export, local and their like: a caller's NAME=VALUE could set
// anything.
func (j *judgement) declare(d *syntax.DeclClause) {
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil {
			j.putNode(a.Value, taskfile.Fixed)
		}
	}
}

// assign judges NAME=VALUE as the author wrote it.
func (j *judgement) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	j.putAll(a.Name.Value, taskfile.Fixed)
	if a.Index != nil {
		j.putNode(a.Index, taskfile.Fixed)
	}
	if a.Value != nil && taskfile.Reserved(a.Name.Value) {
		j.putNode(a.Value, taskfile.Fixed)
	}
}

// printed is the source of a node, markers and all.
func printed(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, n) != nil {
		b.Reset()
		syntax.Walk(n, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.Lit:
				b.WriteString(x.Value + " ")
			case *syntax.SglQuoted:
				b.WriteString(x.Value + " ")
			}
			return true
		})
	}
	return b.String()
}
