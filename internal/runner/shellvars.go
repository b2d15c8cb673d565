package runner

import (
	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/taskfile"
)

// This file follows a caller's values through a shell's own variables: what is
// safe in one ("$X") is a program once more in sh -c "… $X".

// positional are the names of a function's or script's arguments.
var positional = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}

// setters are builtins that set the variables which their arguments name.
var setters = words("read mapfile readarray getopts printf")

// assigned notes the variables that the command sets to something a caller has a
// part in. It looks at no order: a variable that is tainted anywhere is so
// everywhere.
func (j *judgement) assigned(file *syntax.File) {
	// What is set from a variable is tainted only after that one is.
	for before := -1; before != j.weight(); {
		before = j.weight()
		syntax.Walk(file, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					if n.Value != nil {
						j.taint(n.Name.Value, j.tainted(n.Value))
					}
					if n.Array != nil {
						j.taint(n.Name.Value, j.tainted(n.Array))
					}
				}
			case *syntax.ForClause:
				if loop, ok := n.Loop.(*syntax.WordIter); ok {
					for _, item := range loop.Items {
						j.taint(loop.Name.Value, j.tainted(item))
					}
				}
			case *syntax.CallExpr:
				j.sets(n, file)
			case *syntax.FuncDecl:
				j.functions = true
				for _, name := range positional {
					j.taint(name, j.everybody())
				}
			}
			return true
		})
	}
}

// sets notes what a builtin sets.
func (j *judgement) sets(c *syntax.CallExpr, file *syntax.File) {
	if len(c.Args) == 0 {
		return
	}
	switch name := j.flat(c.Args[0]); {
	case name == "set" && len(c.Args) > 1:
		for _, p := range positional {
			j.taint(p, j.everybody())
		}
	case setters[name]:
		all := j.everybody()
		for _, arg := range c.Args[1:] {
			// Text with a hole in it is new each time that it is flattened: as a
			// name it would be another variable in every round, without end.
			if text := j.flat(arg); len(holesIn(text)) == 0 {
				j.taint(text, all)
			}
		}
		if name == "read" || name == "mapfile" || name == "readarray" {
			j.taint("REPLY", all)
			j.taint("MAPFILE", all)
		}
	}
}

func (j *judgement) taint(name string, from taints) {
	if len(from) > 0 {
		j.vars[name] = j.vars[name].with(from)
	}
}

// weight grows whenever a variable gets another taint.
func (j *judgement) weight() int {
	n := 0
	for _, from := range j.vars {
		n += len(from)
	}
	return n
}

// everybody is every caller's variable that the command knows of.
func (j *judgement) everybody() taints {
	var all taints
	for _, h := range j.holes {
		all = all.with(h.from)
	}
	for _, from := range j.vars {
		all = all.with(from)
	}
	return all
}

// tainted is everybody who has a part in a node, by a hole or by a variable.
func (j *judgement) tainted(root syntax.Node) taints {
	var all taints
	syntax.Walk(root, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Lit:
			all = all.with(j.in(n.Value)).with(j.arithmetic(n.Value))
		case *syntax.SglQuoted:
			all = all.with(j.in(n.Value))
		case *syntax.ParamExp:
			if n.Param != nil {
				all = all.with(j.vars[n.Param.Value])
			}
		}
		return true
	})
	return all
}

// arithmetic is who has a part in a variable that is named without a dollar. Most
// literal texts are no names of variables, and name nobody.
func (j *judgement) arithmetic(text string) taints { return j.vars[text] }

// in is everybody whose hole is in a text.
func (j *judgement) in(text string) taints {
	var all taints
	for _, i := range holesIn(text) {
		all = all.with(j.holes[i].from)
	}
	return all
}

// mark records a place for some variables of the caller.
func (j *judgement) mark(from taints, place taskfile.Place) {
	if len(from) > 0 {
		j.rec(from, place)
	}
}

// putNode records a place for everybody who has a part in a node.
func (j *judgement) putNode(node syntax.Node, place taskfile.Place) {
	j.putAll(printed(node), place)
	j.mark(j.tainted(node), place)
}
