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
			if wildcard(name, called) {
				return d.Task, nil
			}
		}
	}
	return "", fault.New(fault.NotFound, "there is no task %q", called)
}

// wildcard matches as go-task does, where every other character of the name is
// part of a regular expression too, also in a name without an asterisk.
func wildcard(name, called string) bool {
	re, err := regexp.Compile(fmt.Sprintf("^%s$", strings.ReplaceAll(name, "*", "(.*)")))
	return err == nil && re.NumSubexp() == strings.Count(name, "*") && re.MatchString(called)
}

// Unwieldy reports whether a name breaks go-task's search for wildcards, which
// compiles every name as a regular expression: "c++" does.
func Unwieldy(name string) bool {
	_, err := regexp.Compile(fmt.Sprintf("^%s$", strings.ReplaceAll(name, "*", "(.*)")))
	return err != nil
}
