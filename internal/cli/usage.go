package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"handrail/internal/app"
	"handrail/internal/config"
)

// checkWords finds everything that is wrong with a command line and its
// settings before anything is begun, so that a person mends it once: the flag
// library stops at the first mistake. What it sets on the way, the library sets
// again.
func checkWords(root *cobra.Command, args []string, env Env) error {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return nil
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return usage(root, []error{err})
	}
	s := scanWords(cmd, rest)
	if s.help || cmd.DisableFlagParsing {
		return nil
	}
	problems := s.problems
	if cmd.Name() == "help" && cmd.Parent() == root {
		if topic, rest, _ := root.Find(s.words); len(rest) > 0 {
			problems = append(problems, unknownCommand(topic, rest[0]))
		}
		s.words = nil
	}
	switch {
	case cmd.Args == nil && cmd.HasSubCommands() && len(s.words) > 0:
		problems = append(problems, unknownCommand(cmd, s.words[0]))
	case cmd.Args != nil:
		problems = append(problems, split(cmd.Args(cmd, s.words))...)
	}
	if p, serves := config.FindPreset(cmd.Annotations[presetNote]); serves {
		if cmd.Annotations[localNote] != "" {
			p = withoutHTTP(p)
		}
		c, err := config.Load(p, s.given, env.Getenv)
		problems = append(problems, split(err)...)
		for _, err := range split(app.Check(c)) {
			problems = append(problems, named(p, err))
		}
	}
	return usage(cmd, problems)
}

// named puts the option's and the variable's name, as a person writes them,
// before a problem that begins with an option's name.
func named(p config.Preset, err error) error {
	name, rest, _ := strings.Cut(err.Error(), ": ")
	for _, s := range p.Settings {
		if s.Option == name {
			return fmt.Errorf("--%s or %s: %s", name, s.Env, rest)
		}
	}
	return err
}

// presetNote is the annotation of commands that take a preset's settings, and
// localNote of those that take them without the ones for HTTP.
const (
	presetNote = "preset"
	localNote  = "local"
)

// usage is the error of a wrong command line, with all that is wrong; nil for
// none.
func usage(cmd *cobra.Command, problems []error) error {
	var b strings.Builder
	switch len(problems) {
	case 0:
		return nil
	case 1:
		b.WriteString(problems[0].Error())
	default:
		fmt.Fprintf(&b, "%d things are wrong:", len(problems))
		for _, p := range problems {
			b.WriteString("\n  " + p.Error())
		}
	}
	fmt.Fprintf(&b, "\nSee: %s --help", cmd.CommandPath())
	return exit{ExitUsage, errors.New(b.String())}
}

// split is the list of errors that were joined, at any depth.
func split(err error) (list []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		list = append(list, split(e)...)
	}
	return list
}

// scanned is what the words of a command line are.
type scanned struct {
	flags    *pflag.FlagSet
	given    map[string]string // options and their values
	words    []string          // what is no option
	problems []error
	help     bool
}

// scanWords reads options as the flag library does, and goes on where that
// stops.
func scanWords(cmd *cobra.Command, rest []string) *scanned {
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // merges the flags of the commands above
	s := &scanned{flags: cmd.Flags(), given: map[string]string{}}
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		switch {
		case word == "--":
			s.words = append(s.words, rest...)
			return s
		case strings.HasPrefix(word, "--"):
			rest = s.option(word[2:], rest)
		case len(word) > 1 && word[0] == '-':
			rest = s.short(word[1:], rest)
		default:
			s.words = append(s.words, word)
		}
	}
	return s
}

func (s *scanned) option(text string, rest []string) []string {
	name, value, has := strings.Cut(text, "=")
	f := s.flags.Lookup(name)
	switch {
	case f == nil:
		s.problems = append(s.problems, fmt.Errorf("unknown option --%s%s", name, meant(name, s.names(), "--")))
		if !has && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			rest = rest[1:] // most likely its value
		}
		return rest
	case !has && f.NoOptDefVal != "":
		value = f.NoOptDefVal
	case !has && len(rest) == 0:
		s.problems = append(s.problems, fmt.Errorf("--%s: needs a value", name))
		return rest
	case !has:
		value, rest = rest[0], rest[1:]
	}
	s.set(f, value)
	return rest
}

func (s *scanned) set(f *pflag.Flag, value string) {
	if f.Name == "help" {
		s.help = true
	}
	f.Changed = true
	if err := f.Value.Set(value); err != nil {
		s.problems = append(s.problems, fmt.Errorf("--%s: %w", f.Name, err))
	}
	s.given[f.Name] = f.Value.String()
}

func (s *scanned) short(text string, rest []string) []string {
	if f := s.flags.ShorthandLookup(text[:1]); f != nil && f.NoOptDefVal != "" {
		s.set(f, f.NoOptDefVal)
		return rest
	}
	name, _, _ := strings.Cut(text, "=")
	s.problems = append(s.problems, fmt.Errorf("unknown option -%s%s", text, meant(name, s.names(), "--")))
	return rest
}

func (s *scanned) names() []string {
	var names []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// noWords refuses every word.
func noWords(cmd *cobra.Command, words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case cmd.HasSubCommands():
		return unknownCommand(cmd, words[0])
	}
	return fmt.Errorf("%s takes options only, and no word %q", cmd.Name(), words[0])
}

func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("there is no command \"%s %s\"%s", cmd.CommandPath(), word, meant(word, names, ""))
}

// meant is " (did you mean …?)" with what comes close to a word, or nothing.
func meant(word string, names []string, before string) string {
	best, least := "", 3
	for _, name := range names {
		d := distance(word, name)
		if len(word) >= 3 && strings.HasPrefix(name, word) {
			d = 1
		}
		if d < least && d < len(name) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + before + best + "?)"
}

// distance is how many letters must be added, left out, changed or swapped with
// their neighbour to make b of a.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			d := slices.Min([]int{rows[i][j+1] + 1, rows[i+1][j] + 1, rows[i][j] + cost})
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(x)][len(y)]
}
