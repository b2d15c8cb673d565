package runner

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

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
	case "splitList", "split", "splitLines":
		if len(args) == 2 {
			if marks, ok := args[0].literal(); ok {
				return last.blur(split(marks))
			}
		}
		if name == "splitLines" && len(args) == 1 {
			return last.blur(fields)
		}
	case "first", "last", "rest", "initial", "sortAlpha", "uniq", "compact", "reverse", "list", "tuple":
		return from.blur(parts)
	case "join":
		if len(args) == 2 {
			if marks, ok := args[0].literal(); ok {
				return last.blur(inserted("", marks))
			}
		}
	case "replace":
		if len(args) == 3 {
			before, ok := args[0].literal()
			after, ok2 := args[1].literal()
			if ok && ok2 {
				return last.blur(inserted(before, after))
			}
		}
		return unknown(from.from(), forbidden)
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
		"html", "js", "regexReplaceAll", "mustRegexReplaceAll", "regexReplaceAllLiteral", "substr", "trunc", "nindent", "indent", "spew":
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
	if w := args[0].worst(); len(keys) == 0 && w <= parts {
		return unknown(args[0].from(), w)
	}
	return args[0].blur(opaque)
}

// split is what a text is that was cut at some marks. A mark of letters or with a
// dash may leave a part that begins with a dash where the text did not.
func split(marks string) manner {
	switch {
	case strings.TrimSpace(marks) == "":
		return fields
	case strings.IndexFunc(marks, func(r rune) bool { return r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0:
		return opaque
	}
	return parts
}

// inserted is what a text is in which an author's mark stands wherever another
// was, or between its parts. A mark that means something to a shell may be meant
// so; nobody can tell what the caller's text around it does then.
func inserted(before, after string) manner {
	spaced := strings.ContainsAny(after, " \t")
	switch marks := strings.Join(strings.Fields(after), ""); {
	case strings.ContainsAny(after, "\r\n"), marks != "" && !harmless(marks), spaced && strings.HasSuffix(after, "-"):
		return forbidden
	case before != "" && split(before) == opaque && (spaced || strings.Contains(after, "-")):
		return forbidden // a word may begin in the middle of another
	case spaced:
		return parts
	}
	return opaque
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
