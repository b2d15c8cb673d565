package taskfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"handrail/internal/fault"
)

// longestValue is the most bytes that one value may have. A command line of the
// system holds about as much.
const longestValue = 64 << 10

// Check decides whether a call may run, before anything is started: vars and
// match are what the caller sent, raw names the variables that are not checked
// for their place. It returns the values as the task gets them: strings, whole
// numbers as int, other numbers as float64, and booleans. Its faults are
// InvalidInput, and name the variable and the rule.
func Check(d Decl, vars map[string]any, match, raw []string) (map[string]any, error) {
	if d.Reason != "" {
		return nil, fault.New(fault.InvalidInput, "task %q cannot be run: %s", d.Task, d.Reason)
	}
	if err := checkMatch(d, match, raw); err != nil {
		return nil, err
	}
	known := map[string]Var{}
	for _, v := range d.Vars {
		known[v.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if _, ok := known[name]; ok {
			continue
		}
		if Reserved(name) {
			return nil, fault.New(fault.InvalidInput, "%s may not be set: the name has a meaning of its own", name)
		}
		return nil, fault.New(fault.InvalidInput, "task %q takes no variable %s; %s", d.Task, strconv.Quote(name), theyAre(d.Vars))
	}
	checked := make(map[string]any, len(vars))
	for _, v := range d.Vars {
		value, given := vars[v.Name]
		if !given || value == nil {
			if v.Required {
				return nil, fault.New(fault.InvalidInput, "task %q needs the variable %s%s", d.Task, v.Name, oneOf(v.Enum))
			}
			continue
		}
		clean, err := v.check(value, slices.Contains(raw, v.Name))
		if err != nil {
			return nil, err
		}
		checked[v.Name] = clean
	}
	return checked, nil
}

// check returns the value as the task gets it.
func (v Var) check(value any, raw bool) (any, error) {
	bad := func(format string, args ...any) error {
		return fault.New(fault.InvalidInput, "%s: %s", v.Name, fmt.Sprintf(format, args...))
	}
	clean, text, err := v.convert(value)
	if err != nil {
		return nil, bad("%v", err)
	}
	if len(v.Enum) > 0 {
		if !slices.Contains(v.Enum, text) {
			return nil, bad("it must be%s", oneOf(v.Enum))
		}
		return clean, nil // the author wrote it
	}
	if v.Default != nil && text == textOf(v.Default) {
		return clean, nil // so too
	}
	if v.Required && text == "" {
		return nil, bad("it is required, and may not be empty")
	}
	if why := fit(text, v.Places, raw); why != "" {
		return nil, bad("%s", why)
	}
	return clean, nil
}

// convert turns a JSON value into the variable's kind, and into the text that
// will stand in the command.
func (v Var) convert(value any) (clean any, text string, err error) {
	switch x := value.(type) {
	case string:
		if v.Kind == Number {
			return number(json.Number(strings.TrimSpace(x)))
		}
		if v.Kind == Bool {
			if x == "true" || x == "false" {
				return x == "true", x, nil
			}
			return nil, "", fmt.Errorf("it must be true or false")
		}
		return x, x, nil
	case bool:
		if v.Kind != Bool {
			return nil, "", fmt.Errorf("it must be a %s, not a boolean", v.Kind)
		}
		return x, strconv.FormatBool(x), nil
	case json.Number:
		return v.fromNumber(x)
	case float64:
		return v.fromNumber(json.Number(strconv.FormatFloat(x, 'f', -1, 64)))
	case int:
		return v.fromNumber(json.Number(strconv.Itoa(x)))
	}
	return nil, "", fmt.Errorf("it must be a %s", v.Kind)
}

func (v Var) fromNumber(n json.Number) (any, string, error) {
	if v.Kind != Number {
		return nil, "", fmt.Errorf("it must be a %s, not a number", v.Kind)
	}
	return number(n)
}

// number accepts what JSON calls a number. Whole ones stay whole, so that
// templates can count with them.
func number(n json.Number) (any, string, error) {
	if !json.Valid([]byte(n)) {
		return nil, "", fmt.Errorf("it must be a number")
	}
	if i, err := strconv.Atoi(string(n)); err == nil {
		return i, strconv.Itoa(i), nil
	}
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) {
		return nil, "", fmt.Errorf("it must be a number that fits 64 bits")
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int(f), strconv.Itoa(int(f)), nil
	}
	return f, fmt.Sprint(f), nil
}

// fit applies the rule for every value, then those of the places.
func fit(text string, places []Place, raw bool) string {
	switch {
	case len(text) > longestValue:
		return fmt.Sprintf("it has more than %d bytes", longestValue)
	case !utf8.ValidString(text):
		return "it is not valid Unicode"
	case strings.Contains(text, "{{"):
		return "it may not contain {{, which begins a template"
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return fmt.Sprintf("it may not contain the control character %U", r)
		}
	}
	if raw {
		return ""
	}
	if len(places) == 0 {
		places = []Place{Bare}
	}
	for _, p := range places {
		if why := p.Suits(text); why != "" {
			return why
		}
	}
	return ""
}

// checkMatch checks the elements that fill a name's asterisks.
func checkMatch(d Decl, match, raw []string) error {
	n := d.Wildcards()
	switch {
	case len(match) == n:
	case n == 0:
		return fault.New(fault.InvalidInput, "task %q takes no MATCH: its name has no *", d.Task)
	default:
		return fault.New(fault.InvalidInput, "MATCH: it must have one element for each * in %q, which is %d, not %d", d.Task, n, len(match))
	}
	for i, m := range match {
		if m == "" {
			return fault.New(fault.InvalidInput, "MATCH[%d]: it may not be empty", i)
		}
		if why := fit(m, d.Match, slices.Contains(raw, "MATCH")); why != "" {
			return fault.New(fault.InvalidInput, "MATCH[%d]: %s", i, why)
		}
		if strings.ContainsAny(m, "*\n") {
			return fault.New(fault.InvalidInput, "MATCH[%d]: it may contain neither * nor a line break", i)
		}
	}
	if read := split(d.Task, Fill(d.Task, match)); n > 0 && !slices.Equal(read, match) {
		return fault.New(fault.InvalidInput, "MATCH: %q would be read as %q", Fill(d.Task, match), read)
	}
	return nil
}

func theyAre(vars []Var) string {
	if len(vars) == 0 {
		return "it takes none"
	}
	var names []string
	for _, v := range vars {
		names = append(names, v.Name)
	}
	return "it takes " + strings.Join(names, ", ")
}

func oneOf(enum []string) string {
	switch len(enum) {
	case 0:
		return ""
	case 1:
		return " " + strconv.Quote(enum[0])
	}
	quoted := make([]string, len(enum))
	for i, e := range enum {
		quoted[i] = strconv.Quote(e)
	}
	return " one of " + strings.Join(quoted, ", ")
}

// textOf is a static value as it stands in a command.
func textOf(value any) string {
	if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return fmt.Sprint(value)
}
