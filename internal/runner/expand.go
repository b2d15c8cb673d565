package runner

import (
	"strings"
	"text/template/parse"

	"mvdan.cc/sh/v3/syntax"
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
		element := s.pipe(n.Pipe).blur(opaque)
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

// call is what a template function makes of its arguments; a piped value is the
// last of them. whole says that the first is the map of all variables.
func call(name string, args []variants, whole bool) variants {
	var from variants
	for _, a := range args {
		from = append(from, a...)
	}
	last := variants{nil}
	if len(args) > 0 {
		last = args[len(args)-1]
	}
	switch name {
	case "default":
		if len(args) == 2 {
			if text, ok := args[0].literal(); ok && harmless(text) && len(last) == 1 && len(last.from()) > 0 {
				return last // the hole is judged more strictly than this text
			}
			return last.or(args[0])
		}
	case "coalesce":
		all := variants{}
		for _, a := range args {
			all = all.or(a)
		}
		return all
	case "ternary":
		if len(args) == 3 {
			return choose(args[0], args[1])
		}
	case "trim", "upper", "lower", "toString", "title", "catLines", "toSlash", "fromSlash", "ToSlash", "FromSlash":
		if len(args) == 1 {
			return last
		}
	case "trimPrefix", "trimSuffix", "trimAll":
		if len(args) == 2 && len(args[0].from()) == 0 {
			return last.or(variants{nil})
		}
	case "print":
		all := variants{nil}
		for _, a := range args {
			all = all.then(a)
		}
		return all
	case "quote", "squote":
		if len(args) == 1 {
			mark := map[string]string{"quote": `"`, "squote": `'`}[name]
			return known(mark).then(last).then(known(mark))
		}
	case "shellQuote", "q":
		return shellQuoted(last)
	case "index", "get", "dig", "pluck", "pick", "omit", "hasKey":
		return lookUp(args, whole)
	case "eq", "ne", "lt", "le", "gt", "ge", "not", "len", "empty", "contains", "hasPrefix", "hasSuffix", "has", "kindOf", "kindIs", "typeOf", "typeIs":
		return unknown(nil, raw)
	case "OS", "ARCH", "numCPU", "exeExt", "ExeExt", "uuid", "now", "date", "randIntN":
		if len(from.from()) == 0 {
			return unknown(nil, raw)
		}
	case "env", "expandenv", "b64dec", "b32dec", "fromJson", "mustFromJson", "fromYaml", "mustFromYaml",
		"tpl", "call", "printf", "println", "urlParse", "repeat", "until", "untilStep", "seq", "splitArgs",
		"regexReplaceAll", "mustRegexReplaceAll", "regexReplaceAllLiteral", "substr", "trunc", "nindent", "indent", "spew":
		if name == "printf" {
			return formatted(args)
		}
		if len(from.from()) > 0 {
			return unknown(from.from(), forbidden)
		}
	}
	return from.blur(opaque)
}

// shellQuoted is what the function shellQuote makes of a value.
func shellQuoted(v variants) variants {
	if text, ok := v.literal(); ok {
		if q, err := syntax.Quote(text, syntax.LangBash); err == nil {
			return known(q)
		}
	}
	m := quoted
	if v.worst() == forbidden {
		m = forbidden
	}
	return unknown(v.from(), m)
}

// lookUp is an element of a list or map. The list of a wildcard's parts, and
// others that a caller filled, give what the caller wrote; a caller who says
// which element of the author's is wanted gets the author's.
func lookUp(args []variants, whole bool) variants {
	var keys taints
	for _, a := range args[min(1, len(args)):] {
		keys = keys.with(a.from())
	}
	if whole && len(keys) > 0 {
		return unknown(keys, forbidden)
	}
	if len(args) == 0 {
		return unknown(nil, raw)
	}
	if whole {
		return unknown(args[0].from(), opaque)
	}
	if w := args[0].worst(); len(keys) == 0 && w == raw {
		return unknown(args[0].from(), raw)
	}
	return args[0].blur(opaque)
}

// formatted is what printf makes of a format that is known and simple.
func formatted(args []variants) variants {
	var from variants
	for _, a := range args {
		from = append(from, a...)
	}
	if len(args) == 0 {
		return unknown(nil, raw)
	}
	format, ok := args[0].literal()
	if !ok {
		return unknown(from.from(), forbidden)
	}
	result, rest := variants{nil}, args[1:]
	for {
		text, after, found := strings.Cut(format, "%")
		result = result.then(known(text))
		if !found {
			return result
		}
		switch {
		case strings.HasPrefix(after, "%"):
			result = result.then(known("%"))
		case len(rest) > 0 && (strings.HasPrefix(after, "s") || strings.HasPrefix(after, "v") || strings.HasPrefix(after, "d")):
			result, rest = result.then(rest[0]), rest[1:]
		default:
			return from.blur(opaque)
		}
		format = after[1:]
	}
}
