package taskfile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is where the value of a variable lands in what a task does. Each place
// has a rule; a value must suit every place of its variable.
type Place string

// The places, from the most to the least forgiving.
const (
	// Free: an environment variable, or quoted by the author (shellQuote).
	Free Place = "free"
	// Single: inside single quotes of a shell command.
	Single Place = "single"
	// Double: inside double quotes of a shell command.
	Double Place = "double"
	// Lead: at the start of a word, where a dash would make it an option.
	Lead Place = "lead"
	// Filled: before an author's dash that would begin the word if it were empty.
	Filled Place = "filled"
	// Dashless: at the start of a word, after a function of the template changed it.
	Dashless Place = "dashless"
	// Words: cut at white space, each word unquoted in a command.
	Words Place = "words"
	// Parts: cut at other marks, each part unquoted in a command.
	Parts Place = "parts"
	// Bare: unquoted in a command, or where it cannot be told.
	Bare Place = "bare"
	// Plain: as Bare, where NAME=VALUE would mean something (make).
	Plain Place = "plain"
	// Path: a part of a path that the task works in.
	Path Place = "path"
	// Name: a part of the name of a program, script, task or file.
	Name Place = "name"
	// Digits: arithmetic.
	Digits Place = "digits"
	// Fixed: the program itself, an option, or the name of another variable. No
	// value suits but those that the author wrote: the default and the enum.
	Fixed Place = "fixed"
)

// Places are all places in their order.
var Places = []Place{Free, Single, Double, Lead, Filled, Dashless, Words, Parts, Bare, Plain, Path, Name, Digits, Fixed}

// bareMarks are the characters, besides letters and digits of any script, that
// mean nothing to a shell anywhere in a word.
const bareMarks = "_-.,:/@%+="

// The parts of bareMarks that stricter places allow.
const (
	dashlessMarks = "_.,:/@%+="
	plainMarks    = "_-.,:/@+"
	nameMarks     = "_-."
)

// Suits says what is wrong with text in this place, or "". The text is assumed
// to have passed the rule for every value: no template, no control character.
func (p Place) Suits(text string) string {
	switch p {
	case Free:
		return ""
	case Lead:
		return leadingDash(text)
	case Single:
		return without(text, "'", "it lands inside single quotes of a command")
	case Double:
		return without(text, "\"$`\\", "it lands inside double quotes of a command")
	case Filled:
		if text == "" {
			return "it may not be empty, since a dash follows it"
		}
		return ""
	case Dashless:
		if why := only(text, dashlessMarks, "it lands at the start of a word, changed by a template"); why != "" {
			return why
		}
		if first, _ := utf8.DecodeRuneInString(text); text != "" && !alphanumeric(first) {
			return "it lands at the start of a word, changed by a template, and must begin with a letter or digit"
		}
		return ""
	case Words:
		if why := only(text, bareMarks+" \t\n", "it lands word by word in a command without quotes"); why != "" {
			return why
		}
		return dashesInside(text)
	case Parts:
		if why := only(text, bareMarks, "it lands part by part in a command without quotes"); why != "" {
			return why
		}
		return dashesInside(text)
	case Bare:
		return only(text, bareMarks, "it lands in a command without quotes")
	case Plain:
		return only(text, plainMarks, "it lands where NAME=VALUE would be a setting")
	case Path:
		if why := only(text, bareMarks, "it lands in a path"); why != "" {
			return why
		}
		if strings.HasPrefix(text, "/") || hasDotDot(text) {
			return "it lands in a path, and may not lead out of it"
		}
		return ""
	case Name:
		if why := only(text, nameMarks, "it lands in the name of a program, file or task"); why != "" {
			return why
		}
		if text == "" || strings.Trim(text, ".") == "" {
			return "it lands in the name of a program, file or task, and may not be empty or only dots"
		}
		return ""
	case Digits:
		if text == "" || strings.Trim(text, "0123456789") != "" || len(text) > 18 {
			return "it lands in arithmetic, where only digits may stand"
		}
		return ""
	}
	return "it decides what runs, so only the values that the Taskfile itself gives are accepted"
}

func leadingDash(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "-") {
		return "it may not begin with a dash, which would make it an option"
	}
	return ""
}

func without(text, banned, where string) string {
	if i := strings.IndexAny(text, banned); i >= 0 {
		return fmt.Sprintf("%s, where %q may not stand", where, text[i])
	}
	return ""
}

func only(text, marks, where string) string {
	for _, r := range text {
		if !alphanumeric(r) && !strings.ContainsRune(marks, r) {
			return fmt.Sprintf("%s, where only letters, digits and %s may stand, not %q", where, strings.TrimRight(marks, "\t\n"), r)
		}
	}
	return leadingDash(text)
}

// alphanumeric is a letter or digit of any script, with the marks that belong to it.
func alphanumeric(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// dashesInside refuses a dash that could come to begin a part: one that follows
// anything but a letter, a digit or a dash.
func dashesInside(text string) string {
	last := ' '
	for _, r := range text {
		if r == '-' && last != '-' && !alphanumeric(last) {
			return "no part of it may begin with a dash, which would make it an option"
		}
		last = r
	}
	return ""
}

func hasDotDot(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}
