package runner

import (
	"strings"
	"text/template/parse"
)

// scope is what templates can see at some point of a task.
type scope struct {
	vars map[string]variants
	// dot is set inside range and with; nil means the variables themselves.
	dot variants
	// locals are a template's own $variables.
	locals map[string]variants
}

// expand calculates what a template may become. It never runs anything.
func (s scope) expand(text string) variants {
	if !strings.Contains(text, "{{") {
		return known(text)
	}
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	parsed, err := tree.Parse(text, "", "", trees)
	if err != nil || len(trees) > 1 {
		return unknown(s.mentioned(text), forbidden)
	}
	s.locals = map[string]variants{}
	return s.list(parsed.Root)
}

// mentioned is everybody whose variable is named anywhere in a text.
func (s scope) mentioned(text string) taints {
	var all taints
	for name, v := range s.vars {
		if strings.Contains(text, name) {
			all = all.with(v.from())
		}
	}
	return all
}

func (s scope) all() taints {
	var all taints
	for _, v := range s.vars {
		all = all.with(v.from())
	}
	return all
}

func (s scope) list(list *parse.ListNode) variants {
	result := variants{nil}
	if list == nil {
		return result
	}
	for _, node := range list.Nodes {
		result = result.then(s.node(node))
	}
	return result
}

func (s scope) node(node parse.Node) variants {
	switch n := node.(type) {
	case *parse.TextNode:
		return known(string(n.Text))
	case *parse.ActionNode:
		result := s.pipe(n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			for _, d := range n.Pipe.Decl {
				if old, ok := s.locals[d.Ident[0]]; ok && n.Pipe.IsAssign {
					result = old.or(result) // the assignment may be in a branch
				}
				s.locals[d.Ident[0]] = result
			}
			return variants{nil}
		}
		return result
	case *parse.IfNode:
		s.pipe(n.Pipe)
		return choose(s.list(n.List), s.list(n.ElseList))
	case *parse.WithNode:
		inner := s
		inner.dot = s.pipe(n.Pipe)
		return choose(inner.list(n.List), s.list(n.ElseList))
	case *parse.RangeNode:
		element := s.pipe(n.Pipe).blur(fields)
		inner := s
		inner.dot = element
		for _, d := range n.Pipe.Decl {
			s.locals[d.Ident[0]] = element
		}
		once := inner.list(n.List)
		return once.or(once.then(once)).or(s.list(n.ElseList))
	case *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
		return variants{nil}
	}
	return unknown(s.all(), forbidden) // templates within templates
}

// choose is a condition's two outcomes, as one hole where it makes no difference
// which it is.
func choose(a, b variants) variants {
	x, okX := a.literal()
	y, okY := b.literal()
	if okX && okY && harmless(x) && harmless(y) {
		return unknown(nil, raw)
	}
	return a.or(b)
}

// pipe is what the commands of a pipe print, each fed with the one before.
func (s scope) pipe(pipe *parse.PipeNode) variants {
	if pipe == nil {
		return variants{nil}
	}
	var result variants
	for i, cmd := range pipe.Cmds {
		var piped []variants
		if i > 0 {
			piped = []variants{result}
		}
		result = s.command(cmd, piped)
	}
	return result
}

func (s scope) command(cmd *parse.CommandNode, piped []variants) variants {
	name, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok {
		return s.operand(cmd.Args[0])
	}
	var args []variants
	for _, arg := range cmd.Args[1:] {
		args = append(args, s.operand(arg))
	}
	whole := len(cmd.Args) > 1 && s.isEverything(cmd.Args[1])
	return call(name.Ident, append(args, piped...), whole)
}

// isEverything reports whether an operand is the map of all variables.
func (s scope) isEverything(node parse.Node) bool {
	switch n := node.(type) {
	case *parse.DotNode:
		return s.dot == nil
	case *parse.VariableNode:
		return len(n.Ident) == 1 && n.Ident[0] == "$"
	}
	return false
}

func (s scope) operand(node parse.Node) variants {
	switch n := node.(type) {
	case *parse.FieldNode:
		if s.dot != nil {
			return s.dot.blur(opaque)
		}
		return s.variable(n.Ident)
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			if len(n.Ident) == 1 {
				return unknown(s.all(), forbidden)
			}
			return s.variable(n.Ident[1:])
		}
		if len(n.Ident) > 1 {
			return s.locals[n.Ident[0]].blur(opaque)
		}
		if v, ok := s.locals[n.Ident[0]]; ok {
			return v
		}
		return unknown(s.all(), forbidden)
	case *parse.DotNode:
		if s.dot != nil {
			return s.dot
		}
		return unknown(s.all(), forbidden)
	case *parse.ChainNode:
		return s.operand(n.Node).blur(opaque)
	case *parse.PipeNode:
		return s.pipe(n)
	case *parse.StringNode:
		return known(n.Text)
	case *parse.NumberNode:
		return known(n.Text)
	case *parse.BoolNode:
		if n.True {
			return known("true")
		}
		return known("false")
	case *parse.NilNode:
		return variants{nil}
	case *parse.IdentifierNode:
		return call(n.Ident, nil, false)
	}
	return unknown(s.all(), forbidden)
}

func (s scope) variable(path []string) variants {
	v, ok := s.vars[path[0]]
	if !ok {
		return unknown(nil, raw) // the machine's environment, or nothing
	}
	if len(path) > 1 {
		return v.blur(opaque)
	}
	return v
}
