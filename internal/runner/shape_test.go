package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"handrail/internal/runner"
	"handrail/internal/taskfile"
)

// A Taskfile of each of these shapes once took minutes, or for ever. None has a
// time to keep to: what grows without bound does not end within the test's.
func TestTaskfilesOfAnyShapeAreListed(t *testing.T) {
	web := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  t%d: {deps: [t%d], cmds: ['echo \"{{.A}}\" {{.C}} $E', {task: t%d, vars: {X: '{{.B}}'}}]}\n", i, (i+1)%n, (i+7)%n)
		}
		return b.String()
	}
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i)
		}
		return b.String()
	}
	for name, tasks := range map[string]string{
		"every task leads to every other":          web(300),
		"a task that calls itself with more":       "  t: {vars: {X: '{{.X | default \"\"}}'}, cmds: ['echo {{.X}}', {task: t, vars: {X: '{{.X}}x'}}]}\n",
		"two that call each other with more":       "  a: {cmds: [{task: b, vars: {X: '{{.A}}{{.X}}', Y: '{{.X}}{{.X}}'}}]}\n  b: {cmds: [{task: a, vars: {X: '{{.Y}}{{.A}}'}}]}\n",
		"conditions that multiply":                 "  t: {cmd: 'echo " + strings.Repeat("{{if .A}}a;{{else}}b|{{end}}", 40) + "'}\n",
		"defaults that multiply":                   "  t: {vars: {" + many(30, "V%d: '{{.A | default \"x;%d\"}}{{.B}}', ") + "W: w}, cmd: 'echo " + many(30, "{{.V%d}}{{.V%d}}") + "'}\n",
		"loops in loops":                           "  t: {cmds: [{for: {var: A}, task: u, vars: {X: '{{.ITEM}}'}}]}\n  u: {cmds: [{for: {var: X}, task: t, vars: {A: '{{.ITEM}}{{.X}}'}}]}\n",
		"shells in shells":                         "  t: {env: {E: '{{.A}}'}, cmd: '" + strings.Repeat("sh -c \"", 30) + "$E" + strings.Repeat("\"", 30) + "'}\n",
		"shell variables that feed each other":     "  t: {env: {E: '{{.A}}'}, cmd: 'V0=$E; " + many(60, "V%d=$V0$V%d; ") + "echo \"$V59\"'}\n",
		"a printf of a variable":                   "  t: {env: {E: '{{.A}}'}, cmd: 'printf \"$E\"; read -r \"$E\" \"x$E\"'}\n",
		"a name that matches everything":           "  '*': {cmds: [{task: '{{index .MATCH 0}}'}]}\n  'a*': {cmds: [{task: 'a{{index .MATCH 0}}'}]}\n",
		"templates in templates":                   "  t: {cmd: '" + strings.Repeat("{{with .A}}", 60) + "{{.}}" + strings.Repeat("{{end}}", 60) + "'}\n",
		"ranges in ranges":                         "  t: {cmd: 'echo " + strings.Repeat("{{range splitList \",\" .A}}x;", 12) + strings.Repeat("{{end}}", 12) + "'}\n",
		"a command of a hundred thousand letters":  "  t: {cmd: 'echo " + strings.Repeat("{{.A}} \"{{.B}}\" ", 6000) + "'}\n",
		"a hundred variables that depend in a row": "  t: {vars: {V0: '{{.A}}', " + strings.TrimSuffix(many(100, "V%d_: '{{.V0}}%d', "), ", ") + "}, cmd: 'echo {{.V99_}}'}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := root(t, "version: '3'\nvars: {A: a, B: b, C: '{{.A}}-{{.B}}'}\nenv: {E: '{{.A}}'}\ntasks:\n"+tasks)
			listing := runner.List(t.Context(), dir)
			if listing.Error != "" || len(listing.Tasks) == 0 {
				t.Fatalf("%+v", listing)
			}
			d := listing.Tasks[0]
			match := strings.Split(strings.Repeat("x", d.Wildcards()), "")
			for _, value := range []string{"a;pwn", "$(pwn)", "{{.B}}"} {
				if _, err := taskfile.Check(d, map[string]any{"A": value}, match, nil); err == nil && strict[name] {
					t.Errorf("%s: A may be %q", d.Task, value)
				}
			}
		})
	}
}

// strict are the shapes in which A lands in a command.
var strict = map[string]bool{
	"every task leads to every other": true, "two that call each other with more": true, "defaults that multiply": true, "loops in loops": true, "shells in shells": true,
	"templates in templates": true, "a command of a hundred thousand letters": true, "a hundred variables that depend in a row": true,
}
