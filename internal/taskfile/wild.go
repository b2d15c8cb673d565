package taskfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"handrail/internal/fault"
)

// Fill puts the elements of match into the asterisks of a declared name, in
// order: "deploy:*:*" with api and eu is "deploy:api:eu".
func Fill(name string, match []string) string {
	for _, m := range match {
		name = strings.Replace(name, "*", m, 1)
	}
	return name
}

// Hit is the declared name that a called name reaches by go-task's own rules: a
// name as it is written, then an alias, then the first wildcard that fits. It
// faults with NotFound, and with Conflict where two tasks have the alias.
func Hit(tasks []Decl, called string) (string, error) {
	var aliased []string
	for _, d := range tasks {
		if d.Task == called {
			return called, nil
		}
		if slices.Contains(d.Aliases, called) {
			aliased = append(aliased, d.Task)
		}
	}
	switch len(aliased) {
	case 0:
	case 1:
		return aliased[0], nil
	default:
		return "", fault.New(fault.Conflict, "%q is an alias of several tasks: %s", called, strings.Join(aliased, ", "))
	}
	for _, d := range tasks {
		for _, name := range append([]string{d.Task}, d.Aliases...) {
			if split(name, called) != nil {
				return d.Task, nil
			}
		}
	}
	return "", fault.New(fault.NotFound, "there is no task %q", called)
}

// pattern is the regular expression that go-task makes of a name, where every
// other character of the name is part of the expression too, also in a name
// without an asterisk.
func pattern(name string) (*regexp.Regexp, error) {
	return regexp.Compile(fmt.Sprintf("^%s$", strings.ReplaceAll(name, "*", "(.*)")))
}

// split is what go-task takes for the parts of a wildcard's name that was called,
// or nil where the name does not fit.
func split(name, called string) []string {
	re, err := pattern(name)
	if err != nil {
		return nil
	}
	found := re.FindStringSubmatch(called)
	if len(found) != 1+strings.Count(name, "*") {
		return nil
	}
	return found[1:]
}

// Unwieldy reports whether a name breaks go-task's search for wildcards, which
// compiles every name as a regular expression: "c++" does.
func Unwieldy(name string) bool {
	_, err := pattern(name)
	return err != nil
}
