package runner

import (
	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/taskfile"
)

// Programs whose output is nothing but their arguments, or their input, put in
// another form.
var (
	speakers = words("echo printf basename dirname date true false : test [ read")
	sieves   = words("tr cut sed gsed awk gawk mawk nawk grep egrep head tail sort uniq wc cat rev fold paste column jq sha256sum md5sum shasum")
)

// printedBy is what a command prints that a caller has a part in. Where it only
// rewrites what it is given, that is no worse than the value itself; where it
// reads a file, a repository or the network that the caller points it to, nobody
// can tell what comes out.
func printedBy(command variants, vars shellVars) variants {
	var from taints
	m := derived
	for _, v := range command {
		j, text := newJudgement(v, vars, func(taints, taskfile.Place) {})
		file, err := parseShell(text)
		if err != nil {
			return unknown(j.everybody(), forbidden)
		}
		j.assigned(file)
		from = from.with(j.tainted(file))
		if !j.rewrites(file) {
			m = forbidden
		}
	}
	return unknown(from, m)
}

// rewrites reports whether a command only puts what it is given in another form.
func (j *judgement) rewrites(file *syntax.File) bool {
	only := true
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			name := base(j.flat(n.Args[0]))
			switch {
			case speakers[name]:
			case sieves[name]:
				for _, arg := range n.Args[1:] {
					only = only && len(j.tainted(arg)) == 0
				}
			default:
				only = false
			}
		case *syntax.Redirect:
			if n.Op != syntax.WordHdoc && n.Word != nil && n.Hdoc == nil {
				only = only && len(j.tainted(n.Word)) == 0
			}
		case *syntax.FuncDecl, *syntax.ProcSubst:
			only = false
		}
		return only
	})
	return only
}
