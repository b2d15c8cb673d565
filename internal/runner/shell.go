package runner

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/taskfile"
)

// record is told a place where a caller's variable lands.
type record func(from taints, place taskfile.Place)

// deepest is how many scripts may be nested in scripts before nobody can tell.
const deepest = 4

// inShell judges every variant of a shell command.
func inShell(all variants, rec record) {
	for _, v := range all {
		if len(variants{v}.from()) > 0 {
			judge(v, rec, 0)
		}
	}
}

// judge parses one command with a marker in the place of each hole, and records
// where the markers come to stand.
func judge(v value, rec record, depth int) {
	var text strings.Builder
	j := &judgement{rec: rec, depth: depth}
	for _, p := range v {
		if p.hole == nil {
			text.WriteString(p.text)
			continue
		}
		text.WriteString(j.marker(p.hole))
	}
	j.parse(text.String())
}

// judgement is the work on one command.
type judgement struct {
	rec   record
	depth int
	holes []*hole
	seen  map[int]bool
}

const markerHead = "HnDrLq"

var markers = regexp.MustCompile(markerHead + `(\d{4})x`)

func (j *judgement) marker(h *hole) string {
	j.holes = append(j.holes, h)
	return fmt.Sprintf("%s%04dx", markerHead, len(j.holes)-1)
}

func (j *judgement) parse(text string) {
	j.seen = map[int]bool{}
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil || j.depth > deepest || len(j.holes) > 9999 {
		for i := range j.holes {
			j.put(i, taskfile.Fixed)
		}
		return
	}
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
	switch j.holes[i].manner {
	case quoted:
		if quotes == taskfile.Bare {
			place = taskfile.Free
		} else {
			place = taskfile.Bare // quotes within quotes protect nothing
		}
	case opaque:
		place = taskfile.Bare
	case derived:
		place = taskfile.Name
	case forbidden:
		place = taskfile.Fixed
	}
	j.put(i, place)
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
			j.parts(n.Parts, taskfile.Bare)
			return true // into the commands that are substituted
		case *syntax.FuncDecl:
			if n.Name != nil {
				j.putAll(n.Name.Value, taskfile.Fixed)
			}
		case *syntax.WordIter:
			j.putAll(n.Name.Value, taskfile.Fixed)
		case *syntax.ParamExp:
			j.parameter(n)
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			j.putAll(printed(n), taskfile.Digits)
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				j.putAll(printed(n), taskfile.Digits)
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar || n.Op == syntax.TsOptSet {
				j.putAll(printed(n), taskfile.Fixed)
			}
		case *syntax.ExtGlob:
			j.putAll(n.Pattern.Value, taskfile.Bare)
		case *syntax.Comment:
			j.putAll(n.Text, taskfile.Bare) // only a line break ends it
		}
		return true
	})
}

// parts records the quotes around each hole of a word.
func (j *judgement) parts(parts []syntax.WordPart, quotes taskfile.Place) {
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
			j.parts(p.Parts, taskfile.Double)
		}
	}
}

// parameter judges ${…}: a caller who decides which variable is meant reads it.
func (j *judgement) parameter(p *syntax.ParamExp) {
	if p.Param != nil {
		j.putAll(p.Param.Value, taskfile.Fixed)
	}
	if p.Index != nil {
		j.putAll(printed(p.Index), taskfile.Fixed)
	}
	if p.Slice != nil {
		j.putAll(printed(p), taskfile.Digits)
	}
	// Words inside, whatever their quotes, are part of one more expansion.
	j.putAll(printed(p), taskfile.Bare)
}

// declare judges export, local and their like: a caller's NAME=VALUE could set
// anything.
func (j *judgement) declare(d *syntax.DeclClause) {
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil {
			j.putAll(printed(a.Value), taskfile.Fixed)
		}
		j.assign(a)
	}
}

// assign judges NAME=VALUE as the author wrote it.
func (j *judgement) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	j.putAll(a.Name.Value, taskfile.Fixed)
	if a.Index != nil {
		j.putAll(printed(a.Index), taskfile.Fixed)
	}
	if a.Value != nil && taskfile.Reserved(a.Name.Value) {
		j.putAll(printed(a.Value), taskfile.Fixed)
	}
}

// redirects judges here-documents, and what is fed to a shell.
func (j *judgement) redirects(s *syntax.Stmt) {
	fedToShell := false
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		fedToShell = anyShell(texts(c.Args))
	}
	for _, r := range s.Redirs {
		if r.Op == syntax.WordHdoc && fedToShell {
			j.putAll(printed(r.Word), taskfile.Fixed)
		}
		if r.Hdoc == nil {
			continue
		}
		body := flat(r.Hdoc)
		if fedToShell {
			j.putAll(body, taskfile.Fixed)
		}
		j.document(body, flat(r.Word), r.Op == syntax.DashHdoc)
	}
}

// document judges the text of a here-document: a line that a caller makes equal
// to its delimiter would end it, and what follows would be commands.
func (j *judgement) document(body, delimiter string, dash bool) {
	j.putAll(body, taskfile.Bare)
	for line := range strings.SplitSeq(body, "\n") {
		if len(holesIn(line)) == 0 {
			continue
		}
		if dash {
			line = strings.TrimLeft(line, "\t")
		}
		pattern := regexp.QuoteMeta(line)
		pattern = markers.ReplaceAllString(pattern, ".*")
		if re, err := regexp.Compile("^" + pattern + "$"); err != nil || re.MatchString(delimiter) {
			j.putAll(line, taskfile.Fixed)
		}
	}
}

// pipe judges what is fed to a shell: echo VALUE | sh.
func (j *judgement) pipe(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	right := b.Y.Cmd
	if inner, ok := right.(*syntax.BinaryCmd); ok {
		right = inner.X.Cmd
	}
	c, ok := right.(*syntax.CallExpr)
	if !ok {
		j.putAll(printed(b.X), taskfile.Bare)
		return
	}
	all := texts(c.Args)
	switch {
	case len(all) > 0 && (base(all[0]) == "xargs" || base(all[0]) == "parallel"):
		j.putAll(printed(b.X), taskfile.Bare) // spaces would make more arguments
	case slices.ContainsFunc(all, func(t string) bool {
		name := base(t)
		return shells[name] || name == "ssh" || interprets(name) && !filters[name]
	}):
		j.putAll(printed(b.X), taskfile.Fixed)
	}
}

// filters are interpreters whose input is data and never a program.
var filters = words("sed gsed awk gawk mawk nawk jq yq xq dasel gron")

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
