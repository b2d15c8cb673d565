package runner

import (
	"maps"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/taskfile"
)

// flat is a word without its quotes. What the shell puts in the place of an
// expansion is a hole of those who have a part in it, or else a NUL, which is part
// of no name.
func (j *judgement) flat(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	j.flatten(&b, w.Parts, false)
	return b.String()
}

func (j *judgement) flatten(b *strings.Builder, parts []syntax.WordPart, double bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, double))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			j.flatten(b, p.Parts, true)
		default:
			m := derived
			if e, ok := part.(*syntax.ParamExp); ok && e.Exp == nil && e.Repl == nil && e.Slice == nil {
				m = expanded
			}
			from := j.tainted(p)
			if len(from) == 0 {
				b.WriteByte(0)
				continue
			}
			b.WriteString(j.marker(&hole{from: from, manner: m}))
			j.seen[len(j.holes)-1] = true // its own places are recorded elsewhere
		}
	}
}

// unescape removes the backslashes that the shell would.
func unescape(text string, double bool) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!double || strings.IndexByte("\\\"$`\n", text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func (j *judgement) texts(args []*syntax.Word) []string {
	all := make([]string, len(args))
	for i, w := range args {
		all[i] = j.flat(w)
	}
	return all
}

// leads reports whether a hole is the first thing in a word's text, so that the
// caller decides how the word begins. Holes before it may be empty.
func leads(text string) bool {
	at := markers.FindStringIndex(text)
	return at != nil && at[0] == 0 || strings.HasPrefix(text, "\x00") && len(holesIn(text)) > 0
}

// onlyHoles reports whether a word may vanish altogether.
func onlyHoles(text string) bool {
	return text == "" || strings.Trim(markers.ReplaceAllString(text, ""), "\x00") == ""
}

// call judges a simple command: the program, then its arguments.
func (j *judgement) call(c *syntax.CallExpr) {
	j.command(j.texts(c.Args))
}

// command judges a program and its arguments, given as texts without quotes; the
// quotes have been judged already.
func (j *judgement) command(words []string) {
	at := 0
	for at < len(words) && onlyHoles(words[at]) {
		j.putAll(words[at], taskfile.Fixed)
		at++
	}
	if at > 0 {
		j.unsure(words[1:]) // it may be a shell: $SHELL -c "…"
	}
	if at == len(words) {
		return
	}
	program, args := words[at], words[at+1:]
	if leads(program) {
		j.putAll(program, taskfile.Fixed)
	} else {
		j.putAll(program, taskfile.Name)
	}
	j.options(base(program), args)
	j.arguments(base(program), args)
}

// options keeps a caller from turning an argument into an option.
func (j *judgement) options(name string, args []string) {
	if plainSpeakers[name] {
		return
	}
	for i, arg := range args {
		if arg == "--" || i > 0 && name == "printf" {
			return // from here on a dash means nothing
		}
		if rest := strings.TrimLeft(arg, "-"); rest != arg && markers.FindStringIndex(rest) != nil && leads(rest) {
			j.putAll(rest, taskfile.Fixed) // --VALUE
		}
		if !leads(arg) {
			continue
		}
		first := leadingHoles(arg)
		for _, i := range first {
			j.put(i, j.holes[i].manner.lead())
		}
		if after := markers.ReplaceAllString(arg, ""); strings.HasPrefix(after, "-") {
			for _, i := range first {
				j.put(i, taskfile.Filled)
			}
		}
	}
}

// lead is what is asked of a value at the start of a word, besides its place.
func (m manner) lead() taskfile.Place {
	switch m {
	case fields, parts:
		return m.place()
	case opaque, derived:
		return taskfile.Dashless
	}
	return taskfile.Lead
}

// leadingHoles are the holes of which one begins the word.
func leadingHoles(text string) []int {
	var all []int
	for {
		at := markers.FindStringSubmatchIndex(text)
		if at == nil || at[0] != 0 {
			if len(all) == 0 { // an expansion came first
				return holesIn(text)
			}
			return all
		}
		all = append(all, holesIn(text[:at[1]])...)
		text = text[at[1]:]
	}
}

// arguments judges what a program does with its arguments beyond the shell.
func (j *judgement) arguments(name string, args []string) {
	switch {
	case shells[name]:
		j.shell(args)
	case name == "eval":
		j.script(strings.Join(args, " "))
	case name == "." || name == "source":
		j.file(args)
	case name == "trap":
		if len(args) > 0 {
			j.script(args[0])
		}
	case name == "ssh":
		j.ssh(args)
	case len(args) > 0 && launchers[name][args[0]]:
		j.wrapper(args[1:])
	case name == "go" && len(args) > 0 && args[0] == "run":
		j.program(args[1:])
	case wrappers[name]:
		j.wrapper(args)
	case interprets(name):
		j.program(args)
	case makers[name]:
		j.each(args, taskfile.Plain)
	case namers[name]:
		for i, arg := range args {
			if leads(arg) && (name != "printf" || i == 1 && args[0] == "-v") {
				j.putAll(arg, taskfile.Fixed)
			}
		}
	case name == "find":
		for i, arg := range args {
			switch arg {
			case "-exec", "-execdir", "-ok", "-okdir":
				j.command(args[i+1:])
			}
		}
		j.each(args, taskfile.Bare)
	}
	j.running(name, args)
	if strings.Contains(name, "\x00") || len(holesIn(name)) > 0 {
		j.unsure(args)
	}
	// A shell somewhere among the arguments: docker exec web sh -c "…".
	for i, arg := range args {
		if shells[base(arg)] && !shells[name] && hasScript(args[i+1:]) {
			j.shell(args[i+1:])
		}
	}
}

func (j *judgement) each(args []string, place taskfile.Place) {
	for _, arg := range args {
		j.putAll(arg, place)
	}
}

func hasScript(args []string) bool {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return false
		}
		if isScriptOption(arg) {
			return true
		}
	}
	return false
}

// shell judges the arguments of a shell: options, then a script or its file.
func (j *judgement) shell(args []string) {
	for i, arg := range args {
		if isScriptOption(arg) {
			if i+1 < len(args) {
				j.script(args[i+1], args[i+2:]...)
				j.each(args[i+2:], taskfile.Bare)
			}
			return
		}
		if strings.HasPrefix(arg, "-") {
			j.putAll(arg, taskfile.Fixed)
			continue
		}
		j.file(args[i:])
		return
	}
}

// file judges a script's path and its arguments.
func (j *judgement) file(args []string) {
	if len(args) == 0 {
		return
	}
	if leads(args[0]) {
		j.putAll(args[0], taskfile.Fixed)
	} else {
		j.putAll(args[0], taskfile.Name)
	}
	j.each(args[1:], taskfile.Bare)
}

// unknowns are the parts of a flat text that are not known.
var unknowns = regexp.MustCompile(markers.String() + "|\x00")

// script judges a text that is parsed as a command once more, with its arguments.
// Quotes of the outer command protect nothing in it, so Bare is asked besides.
func (j *judgement) script(text string, args ...string) {
	if len(holesIn(text)) == 0 && len(j.vars) == 0 && len(holesIn(strings.Join(args, ""))) == 0 {
		return
	}
	j.putAll(text, taskfile.Bare)
	vars := maps.Clone(j.vars)
	for _, name := range positional {
		delete(vars, name) // it has its own
		if from := j.in(strings.Join(args, "")); len(from) > 0 {
			vars[name] = from
		}
	}
	var v value
	for rest := text; rest != ""; {
		at := unknowns.FindStringIndex(rest)
		if at == nil {
			v = append(v, piece{text: rest})
			break
		}
		h := hole{}
		if found := holesIn(rest[at[0]:at[1]]); len(found) > 0 {
			h = *j.holes[found[0]]
		}
		switch h.manner {
		case quoted:
			h.manner = opaque // the outer shell has taken the quotes away
		case expanded:
			h.manner = raw // it is source text again
		}
		v = append(v, piece{text: rest[:at[0]]}, piece{hole: &h})
		rest = rest[at[1]:]
	}
	judge(v, vars, j.rec, j.depth+1)
}

// ssh judges a host, then a command for the shell of that host.
func (j *judgement) ssh(args []string) {
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") {
			j.putAll(arg, taskfile.Fixed)
			continue
		}
		j.putAll(arg, taskfile.Bare)
		if i > 0 && strings.HasPrefix(args[i-1], "-") {
			continue // perhaps the value of an option
		}
		j.script(strings.Join(args[i+1:], " "))
		return
	}
}

// wrapper judges sudo, env and their like. Which argument is the program cannot
// always be told, so none that a caller begins may be it.
func (j *judgement) wrapper(args []string) {
	for i, arg := range args {
		if leads(arg) {
			j.putAll(arg, taskfile.Fixed)
			continue
		}
		name, _, assigned := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "-") || assigned && len(holesIn(name)) == 0 {
			place := taskfile.Bare
			if assigned && taskfile.Reserved(name) {
				place = taskfile.Fixed
			}
			j.putAll(arg, place)
			continue
		}
		if strings.Trim(arg, "0123456789.smhd") == "" || arg == "dlx" {
			continue // timeout 5s
		}
		j.command(args[i:])
		return
	}
}

// program judges the arguments of an interpreter: a program or its file first.
func (j *judgement) program(args []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if strings.HasPrefix(arg, "-") {
			j.putAll(arg, taskfile.Name)
			if evalOptions[arg] && i+1 < len(args) {
				i++
				j.code(args[i])
			}
			continue
		}
		j.code(arg)
		j.each(args[i+1:], taskfile.Bare)
		return
	}
}

// code judges a text in another language: a name or a number inside it at most.
func (j *judgement) code(text string) {
	if leads(text) {
		j.putAll(text, taskfile.Fixed)
		return
	}
	j.putAll(text, taskfile.Name)
}
