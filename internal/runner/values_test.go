package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	taskerrors "github.com/go-task/task/v3/errors"
	"github.com/google/go-cmp/cmp"

	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// landing is a place in a Taskfile where the value of X comes to stand.
type landing struct {
	name string
	// top stands above the tasks (vars, env); task is the body of the task "t",
	// which every case runs, and more are further tasks.
	top, task, more string
	// accepts and refuses are values with the answers that they get.
	accepts, refuses []string
	// like is an accepted value that nothing can be wrong with; "qqq" where empty.
	like string
	// changes says that the Taskfile does more with the value than to put it
	// somewhere: it is only certain then that nothing is executed or read.
	changes bool
}

// The words of the tables below. Each stands for a class of values.
var (
	plain  = []string{"abc", "v1.2.3", "a/b_c-d", "ünïcode构建", "x=y", "user@host:80", "50%", "a,b+c", ""}
	spaced = []string{"two words", "tab\there", "it is (fine) & [good] <ok> {x} | *?!#~;"}
	shelly = []string{"$(pwn)", "`pwn`", "$CANARY", "${CANARY}"}
	breaks = []string{"a;pwn", "a|pwn", "a&pwn", "a\npwn", "a b", "a>f", "*", "~", "#x", "{a,b}", "'", "\"", "\\", "!x"}
	dashes = []string{"-x", "--exec=pwn"}
	always = []string{"{{.CANARY}}", "a{{env \"CANARY\"}}", "a\x00b", "a\x1b[31m", "a\rb", "\xff"}
)

func join(lists ...[]string) []string { return slices.Concat(lists...) }

var landings = []landing{
	// Without quotes.
	{name: "unquoted argument", task: "cmd: prog {{.X}}", accepts: plain, refuses: join(shelly, breaks, dashes)},
	{name: "unquoted, in the middle of a word", task: "cmd: prog --tag=v{{.X}}.x", accepts: plain, refuses: join(shelly, breaks)},
	{name: "unquoted value of an assignment", task: "cmd: A={{.X}} prog", accepts: plain, refuses: join(shelly, breaks)},
	{name: "unquoted file of a redirection", task: "cmd: prog > out/{{.X}}.txt", accepts: []string{"abc"}, refuses: join(shelly, breaks)},
	{name: "unquoted element of a loop", task: `cmd: 'for i in {{.X}} b; do prog "$i"; done'`, accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes)},
	{name: "unquoted pattern", task: "cmd: 'case abc in {{.X}}) prog;; esac'", accepts: []string{"zzz"}, refuses: join(shelly, breaks), changes: true},
	{name: "comment", task: "cmd: |\n  prog # {{.X}}\n  prog2", accepts: []string{"abc"}, refuses: []string{"a\npwn"}},
	{name: "after a double dash", task: "cmd: prog -- {{.X}}", accepts: []string{"abc"}, refuses: join(shelly, breaks)},
	{name: "default of a template", task: `cmd: prog {{.X | default "d"}}`, accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes)},
	{name: "before a dash", task: "cmd: prog {{.X}}-amd64", accepts: []string{"abc"}, refuses: []string{"", "-x"}},
	{name: "only dashes before it", task: "cmd: prog --{{.X}}", refuses: []string{"exec=pwn", "abc"}, like: "-"},
	{name: "argument of make", task: "cmd: make {{.X}}", accepts: []string{"abc"}, refuses: []string{"SHELL=pwn", "-fpwn"}},

	// Inside double quotes.
	{name: "double quotes", task: `cmd: prog "{{.X}}"`, accepts: join(plain, spaced, []string{"'"}), refuses: join(shelly, dashes, []string{"\"", "\\", " -x"})},
	{name: "double quotes, text around it", task: `cmd: prog "msg {{.X}}"`, accepts: join(plain, spaced, dashes), refuses: join(shelly, []string{"\"", "\\"})},
	{name: "echo takes any dash", task: `cmd: echo "{{.X}}"`, accepts: join(plain, dashes), refuses: shelly},
	{name: "quotes with text glued on", task: `cmd: prog a"{{.X}}"b`, accepts: join(plain, spaced), refuses: shelly},
	{name: "double quotes in a test", task: `cmd: '[ "{{.X}}" = a ] || prog'`, accepts: []string{"b c"}, refuses: join(shelly, dashes), changes: true},
	{name: "the quote function", task: "cmd: prog {{.X | quote}}", accepts: plain, refuses: join(shelly, []string{"\""}), changes: true},

	// Inside single quotes.
	{name: "single quotes", task: `cmd: prog '{{.X}}'`, accepts: join(plain, spaced, shelly, []string{"\"", "\\"}), refuses: join(dashes, []string{"'", "a'; pwn '"})},
	{name: "dollar quotes", task: `cmd: prog $'{{.X}}'`, accepts: []string{"abc"}, refuses: []string{"\\", "'", "a b"}},

	// Here-documents.
	{name: "quoted here-document", task: "cmd: |\n  cat <<'EOF'\n  a {{.X}} b\n  EOF\n  prog", accepts: []string{"abc", "EOF"}, refuses: []string{"a\nEOF\npwn", "$(pwn)", "a b"}},
	{name: "here-document", task: "cmd: |\n  cat <<EOF\n  a {{.X}}\n  EOF\n  prog", accepts: []string{"abc"}, refuses: join(shelly, []string{"a\nEOF\npwn"})},
	{name: "a line of its own in a here-document", task: "cmd: |\n  cat <<'EOF'\n  {{.X}}\n  EOF\n  prog", refuses: []string{"EOF", "abc"}, like: "-"},
	{name: "here-document of a shell", task: "cmd: |\n  sh <<EOF\n  echo {{.X}}\n  EOF", refuses: []string{"abc", "pwn"}, like: "-"},
	{name: "here-string", task: `cmd: cat <<< "{{.X}}"`, accepts: spaced, refuses: shelly},
	{name: "here-string of a shell", task: `cmd: bash <<< "echo {{.X}}"`, refuses: []string{"abc"}, like: "-"},

	// By way of the environment and of shellQuote.
	{name: "environment, in quotes", task: "env: {V: '{{.X}}'}\n    cmd: prog \"a $V\"", accepts: join(plain, spaced, shelly, dashes, []string{"'", "\"", "\\", "a\nb"})},
	{name: "environment, in quotes, alone", task: "env: {V: '{{.X}}'}\n    cmd: prog \"$V\"", accepts: join(plain, spaced, shelly), refuses: dashes},
	{name: "environment without quotes", task: "env: {V: '{{.X}}'}\n    cmd: prog $V", accepts: plain, refuses: join(dashes, []string{"a b", "*", "a -x"})},
	{name: "global environment", top: "env: {V: '{{.X}}'}", task: `cmd: prog "a$V"`, accepts: join(spaced, shelly)},
	{name: "environment in a shell's script", task: "env: {V: '{{.X}}'}\n    cmd: sh -c \"prog $V\"", accepts: plain, refuses: join(shelly, breaks, dashes)},
	{name: "environment in a shell's own quotes", task: "env: {V: '{{.X}}'}\n    cmd: sh -c 'prog \"a$V\"'", accepts: []string{"abc"}},
	{name: "environment as a program", task: "env: {V: '{{.X}}'}\n    cmd: $V", refuses: []string{"pwn"}, like: "-"},
	{name: "environment in eval", task: "env: {V: '{{.X}}'}\n    cmd: eval \"$V\"", refuses: []string{"pwn"}, like: "-"},
	{name: "environment in arithmetic", task: "env: {V: '{{.X}}'}\n    cmd: prog $((V + 1))", accepts: []string{"7"}, refuses: []string{"a[$(pwn)]", "CANARY"}, like: "7", changes: true},
	{name: "environment, indirectly", task: "env: {V: '{{.X}}'}\n    cmd: prog \"${!V}\"", refuses: []string{"CANARY"}, like: "-"},
	{name: "reserved environment", task: "env: {BASH_ENV: '{{.X}}'}\n    cmd: bash -c true", refuses: []string{"abc", "/tmp/pwn"}, like: "-"},
	{name: "shellQuote", task: "cmd: prog {{.X | shellQuote}}", accepts: join(plain, spaced, shelly, []string{"'", "\"", "a\nb"}), refuses: dashes},
	{name: "shellQuote inside quotes", task: `cmd: prog "{{.X | shellQuote}}"`, accepts: []string{"abc"}, refuses: join(shelly, []string{"a b", "'"}), changes: true},
	{name: "shellQuote inside a script", task: `cmd: sh -c "prog {{.X | shellQuote}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},

	// The shell's own variables.
	{name: "shell variable", task: `cmd: 'V="{{.X}}"; prog "a$V"'`, accepts: spaced, refuses: shelly},
	{name: "shell variable, evaluated", task: `cmd: 'V="{{.X}}"; eval "$V"'`, refuses: []string{"pwn"}, like: "-"},
	{name: "shell variable in a script", task: `cmd: 'V="{{.X}}"; sh -c "prog $V"'`, accepts: []string{"abc"}, refuses: join(breaks, shelly)},
	{name: "shell variable as program", task: `cmd: 'V={{.X}}; $V x'`, refuses: []string{"pwn"}, like: "-"},
	{name: "variable of a loop, evaluated", task: `cmd: 'for i in {{.X}}; do eval $i; done'`, refuses: []string{"pwn"}, like: "-"},
	{name: "read and evaluated", task: `cmd: 'echo "{{.X}}" | while read -r l; do eval "$l"; done'`, refuses: []string{"pwn"}, like: "-"},
	{name: "arguments of a function", task: `cmd: 'f() { eval "$1"; }; f "{{.X}}"'`, refuses: []string{"pwn"}, like: "-"},
	{name: "arguments of a script", task: `cmd: sh -c 'eval "$1"' _ "{{.X}}"`, refuses: []string{"pwn"}, like: "-"},
	{name: "arguments of a script, in quotes", task: `cmd: sh -c 'prog "a$1"' _ "{{.X}}"`, accepts: []string{"abc"}, refuses: shelly},
	{name: "exported", task: `cmd: 'export V="{{.X}}"; prog'`, accepts: spaced, refuses: shelly},
	{name: "export without a name", task: "cmd: export {{.X}}", refuses: []string{"PATH=/evil", "abc"}, like: "-"},
	{name: "reserved variable", task: "cmd: PATH={{.X}} prog", refuses: []string{"/evil"}, like: "-"},
	{name: "name of a parameter", task: "cmd: 'prog ${ {{- .X -}} }'", refuses: []string{"CANARY"}, like: "-"},
	{name: "default of a parameter", task: `cmd: 'prog "${NONE:-{{.X}}}"'`, accepts: []string{"abc"}, refuses: join(shelly, dashes)},
	{name: "default of a parameter as program", task: `cmd: '${NONE:-{{.X}}} x'`, refuses: []string{"pwn"}, like: "-"},

	// Programs that take programs.
	{name: "the program", task: "cmd: '{{.X}} arg'", refuses: []string{"pwn", "sh"}, like: "-"},
	{name: "part of the program", task: "cmd: ./scripts/{{.X}}.sh", accepts: []string{"build"}, refuses: []string{"../../pwn", "a b", ".", "", "a/b"}},
	{name: "script of a shell", task: `cmd: sh -c "{{.X}}"`, refuses: []string{"pwn", "ls"}, like: "-"},
	{name: "part of a shell's script", task: `cmd: sh -c "prog {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes)},
	{name: "single quotes within a shell's script", task: `cmd: sh -c "prog '{{.X}}'"`, accepts: []string{"abc"}, refuses: join(shelly, []string{"'", "a b"})},
	{name: "file of a shell", task: "cmd: bash {{.X}}", refuses: []string{"pwn.sh"}, like: "-"},
	{name: "option of a shell", task: "cmd: bash -{{.X}} 'echo'", refuses: []string{"c"}, like: "-"},
	{name: "eval", task: "cmd: eval {{.X}}", refuses: []string{"pwn"}, like: "-"},
	{name: "source", task: "cmd: source {{.X}}", refuses: []string{"pwn"}, like: "-"},
	{name: "fed to a shell", task: `cmd: echo "{{.X}}" | sh`, refuses: []string{"pwn"}, like: "-"},
	{name: "fed to a shell in brackets", task: `cmd: echo {{.X}} | (cd x && sh)`, refuses: []string{"pwn"}, like: "-"},
	{name: "fed to a shell by a variable", task: "env: {V: '{{.X}}'}\n    cmd: echo \"$V\" | sh -s", refuses: []string{"pwn"}, like: "-"},
	{name: "fed to xargs", task: `cmd: echo "{{.X}}" | xargs prog`, accepts: []string{"abc"}, refuses: []string{"a -x", "-x"}},
	{name: "substituted as a program", task: `cmd: $(echo {{.X}}) y`, refuses: []string{"pwn"}, like: "-"},
	{name: "substituted in a script", task: `cmd: sh -c "$(echo {{.X}})"`, refuses: []string{"pwn"}, like: "-"},
	{name: "substituted as an argument", task: `cmd: prog "$(echo "{{.X}}")"`, accepts: []string{"abc"}, refuses: join(shelly, []string{"-x", "a-b"}), changes: true},
	{name: "trap", task: `cmd: trap "{{.X}}" EXIT`, refuses: []string{"pwn"}, like: "-"},
	{name: "sudo", task: "cmd: sudo {{.X}}", refuses: []string{"pwn"}, like: "-"},
	{name: "argument of a program below env", task: "cmd: env A=1 prog {{.X}}", accepts: []string{"abc"}, refuses: join(shelly, dashes)},
	{name: "npx", task: "cmd: npx {{.X}}", refuses: []string{"pwn"}, like: "-"},
	{name: "npm exec", task: "cmd: npm exec {{.X}}", refuses: []string{"pwn"}, like: "-"},
	{name: "go run", task: "cmd: go run {{.X}}", refuses: []string{"evil.example/pwn@latest"}, like: "-"},
	{name: "argument of go run", task: "cmd: go run ./cmd/x {{.X}}", accepts: []string{"abc"}, refuses: join(shelly, dashes)},
	{name: "python -c", task: `cmd: python3 -c "print('{{.X}}')"`, accepts: []string{"abc"}, refuses: []string{"');import os", "a b"}},
	{name: "awk", task: `cmd: awk '/{{.X}}/ {print}' file`, accepts: []string{"abc"}, refuses: []string{"/{system(\"pwn\")}/"}},
	{name: "find -exec", task: "cmd: find . -exec {{.X}} ;", refuses: []string{"pwn"}, like: "-"},
	{name: "ssh", task: `cmd: ssh host "uptime {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks)},
	{name: "a shell inside a container", task: `cmd: docker exec web sh -c "ls {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks)},
	{name: "a line for flock", task: `cmd: flock x -c "prog {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "the whole line for su", task: `cmd: su me -c "{{.X}}"`, refuses: []string{"pwn"}, like: "-"},
	{name: "a line for tmux", task: `cmd: tmux new "prog {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "a program that a variable of the shell names", task: `cmd: $SHELL -c "prog {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "a program that a variable with a default names", task: `cmd: '"${SHELL:-sh}" -c "prog {{.X}}"'`, accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "a program that a command names", task: `cmd: $(which sh) -c "prog {{.X}}"`, accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "a setting of git", task: `cmd: git -c "{{.X}}" log`, refuses: []string{"core.pager=pwn"}, like: "-"},
	{name: "a branch of git", task: `cmd: git switch -c "{{.X}}"`, accepts: []string{"abc", "feature/x"}, refuses: join(shelly, dashes)},
	{name: "what git clone runs", task: `cmd: git clone -u "{{.X}}" a`, refuses: []string{"pwn"}, like: "-"},
	{name: "a program for rsync", task: `cmd: rsync -e "ssh {{.X}}" a b`, accepts: []string{"abc"}, refuses: []string{"-oProxyCommand=pwn", "a b"}, changes: true},
	{name: "an action of tar", task: `cmd: tar --checkpoint-action="{{.X}}" -cf x a`, refuses: []string{"exec=pwn"}, like: "-"},
	{name: "an entry point", task: `cmd: docker run --entrypoint "{{.X}}" image`, refuses: []string{"pwn"}, like: "-"},
	{name: "name of a function", task: "cmd: '{{.X}}() { prog; }'", refuses: []string{"ls"}, like: "-"},
	{name: "arithmetic", task: "cmd: prog $(({{.X}} + 1))", accepts: []string{"7"}, refuses: []string{"a[$(pwn)]", "CANARY", "", "-1"}, like: "7", changes: true},
	{name: "numbers in a test", task: "cmd: '[[ {{.X}} -gt 5 ]] || prog'", accepts: []string{"7"}, refuses: []string{"CANARY"}, like: "7", changes: true},
	{name: "half of a command", task: `cmd: 'prog "{{.X}}'`, refuses: []string{"abc", "\" ; pwn"}, like: "-"},

	// Variables of the Taskfile.
	{name: "by another variable", task: "vars: {Y: 'a-{{.X}}'}\n    cmd: prog {{.Y}}", accepts: plain, refuses: join(shelly, breaks)},
	{name: "default of an offered variable", top: "vars: {Y: '{{.X}}/run.sh', X: d}", task: "cmd: bash {{.Y}}", refuses: []string{"/tmp/evil"}, like: "-"},
	{name: "default of an offered variable in quotes", top: "vars: {X: d, Y: 'y {{.X}}'}", task: `cmd: prog "{{.Y}}"`, accepts: spaced, refuses: shelly},
	{name: "command of a variable", task: "vars: {Y: {sh: 'echo \"a {{.X}}\"'}}\n    cmd: prog \"b {{.Y}}\"", accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "command of a variable that reads a file", task: "vars: {Y: {sh: 'cat ./{{.X}}'}}\n    cmd: echo {{.Y}}", refuses: []string{"notes"}, like: "-"},
	{name: "command of a variable that finds it in its environment", top: "vars: {X: d, Y: {sh: 'eval \"$X\"'}}", task: "cmd: echo hi", refuses: []string{"pwn"}, like: "-"},
	{name: "command of an offered variable", top: "vars: {X: d, Y: {sh: 'sh -c {{.X}}'}}", task: "cmd: echo {{.Y}}", refuses: []string{"pwn"}, like: "-"},
	{name: "reference", task: "vars: {Y: {ref: .X}}\n    cmd: prog {{.Y}}", accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes)},
	{name: "list", task: "vars: {L: ['{{.X}}', b]}\n    cmd: 'prog {{range .L}}{{.}} {{end}}'", accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes), changes: true},

	// Templates.
	{name: "condition", task: `cmd: 'prog {{if eq .X "a"}}one{{else}}two{{end}}'`, accepts: []string{"b"}, changes: true},
	{name: "with", task: `cmd: 'prog {{with .X}}--flag {{.}}{{end}}'`, accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes)},
	{name: "upper", task: "cmd: prog {{.X | upper}}", accepts: []string{"abc"}, refuses: join(shelly, breaks), changes: true},
	{name: "trim", task: `cmd: prog "{{.X | trim}}"`, accepts: []string{"abc"}, refuses: []string{" -x", "-x"}, changes: true},
	{name: "trimPrefix", task: `cmd: prog {{.X | trimPrefix "v"}}`, accepts: []string{"v1.2"}, refuses: []string{"v-x", "-x"}, changes: true},
	{name: "replace by a space", task: `cmd: prog {{.X | replace "," " "}}`, accepts: []string{"a,b-c"}, refuses: []string{"a,-x"}, changes: true},
	{name: "replace by a semicolon", task: `cmd: prog {{.X | replace "," ";"}}`, refuses: []string{"a,pwn"}, like: "-"},
	{name: "replace by a line break", task: `cmd: 'prog {{.X | replace "," "\n"}}'`, refuses: []string{"a,pwn"}, like: "-"},
	{name: "splitList and join", task: `cmd: prog {{splitList "," .X | join " "}}`, accepts: []string{"a,b"}, refuses: []string{"a,-x", "a;pwn"}, changes: true},
	{name: "printf", task: `cmd: prog {{printf "%s-%s" "a" .X}}`, accepts: []string{"abc"}, refuses: join(shelly, breaks)},
	{name: "base64", task: `cmd: prog {{.X | b64dec}}`, refuses: []string{"cHdu"}, like: "-"},
	{name: "env", task: `cmd: prog {{env .X}}`, refuses: []string{"CANARY"}, like: "-"},
	{name: "index of everything", task: `cmd: prog {{index . .X}}`, refuses: []string{"CANARY"}, like: "-"},
	{name: "spew", task: `cmd: prog {{spew .X}}`, refuses: []string{"abc"}, like: "-"},

	// Loops and calls.
	{name: "loop over words", task: "cmds: [{for: {var: X}, cmd: 'prog {{.ITEM}}'}]", accepts: []string{"a b", "a"}, refuses: join(shelly, []string{"a -x", "a;pwn", "a *"}), changes: true},
	{name: "loop over parts", task: "cmds: [{for: {var: X, split: ','}, cmd: 'prog {{.ITEM}}'}]", accepts: []string{"a,b-c"}, refuses: []string{"a,-x", "a,b;pwn", "a b"}, changes: true},
	{name: "loop over parts cut at a letter", task: "cmds: [{for: {var: X, split: a}, cmd: 'prog {{.ITEM}}'}]", accepts: []string{"xay"}, refuses: []string{"xa-y"}, changes: true},
	{name: "loop of dependencies", task: "deps: [{for: {var: X}, task: u, vars: {Y: '{{.ITEM}}'}}]", more: "u: {cmd: 'prog {{.Y}}'}", accepts: []string{"a b"}, refuses: []string{"a -x", "a;pwn"}, changes: true},
	{name: "handed to a task", task: "cmds: [{task: u, vars: {Y: '{{.X}}'}}]", more: `u: {cmd: 'prog "{{.Y}}"'}`, accepts: plain, refuses: join(shelly, breaks)},
	{name: "handed on twice", task: "cmds: [{task: u, vars: {Y: '{{.X}}'}}]", more: "u: {cmds: [{task: w, vars: {Z: '{{.Y}}'}}]}\n  w: {cmd: 'eval {{.Z}}'}", refuses: []string{"pwn"}, like: "-"},
	{name: "global of a dependency", top: "vars: {X: d}", task: "deps: [u]", more: "u: {cmd: 'prog {{.X}}'}", accepts: plain, refuses: join(shelly, breaks, dashes)},
	{name: "the name of a task", task: "cmds: [{task: 'u-{{.X}}'}]", more: "u-a: {cmd: prog}\n  u-b: {cmd: prog2}", accepts: []string{"a"}, refuses: []string{"a b", "a;b", ""}, like: "b", changes: true},
	{name: "the whole name of a task", task: "cmds: [{task: '{{.X}}'}]", more: "u: {cmd: prog}", refuses: []string{"u"}, like: "-"},
	{name: "deferred", task: "cmds: [{defer: 'prog {{.X}}'}]", accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes), changes: true},
	{name: "condition of a command", task: `cmds: [{if: '[ "{{.X}}" = y ]', cmd: prog}]`, accepts: []string{"n"}, refuses: shelly, changes: true},
	{name: "status", task: "status: ['test -f {{.X}}']\n    cmd: prog", accepts: []string{"abc"}, refuses: join(shelly, breaks, dashes)},
	{name: "precondition", task: "preconditions: ['test -n \"{{.X}}\"']\n    cmd: prog", accepts: spaced, refuses: shelly},
	{name: "folder", task: "dir: 'sub/{{.X}}'\n    cmd: prog", accepts: []string{"a/b"}, refuses: []string{"../..", "/etc", "a b", "$HOME", "~"}, changes: true},
	{name: "sources", task: "sources: ['{{.X}}/*.txt']\n    cmd: prog", accepts: []string{"a"}, refuses: []string{"/etc", "..", "$CANARY", "**"}},
	{name: ".env file", task: "dotenv: ['.env.{{.X}}']\n    cmd: prog", accepts: []string{"dev"}, refuses: []string{"../x", "/etc/passwd"}},
}

func TestValuesAreCheckedForThePlaceTheyLandIn(t *testing.T) {
	for _, l := range landings {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir, d := l.declared(t)
			for _, value := range l.accepts {
				if err := accepts(d, value); err != nil {
					t.Errorf("%q is refused: %v; X lands in %v", value, err, d.Vars[0].Places)
				}
			}
			for _, value := range join(l.refuses, always) {
				if err := accepts(d, value); err == nil {
					t.Errorf("%q is accepted; X lands in %v", value, d.Vars[0].Places)
				}
			}
			for _, value := range hostile(testenv.Long()) {
				l.harmless(t, dir, d, value)
			}
		})
	}
}

// declared writes the case's Taskfile and lists it.
func (l landing) declared(t testing.TB) (dir string, d taskfile.Decl) {
	t.Helper()
	requires := "requires: {vars: [X]}"
	if strings.Contains(l.top, "X: d") {
		requires = "desc: X is global"
	} else {
		// Not required, so that the empty value can be tried too.
		requires = "desc: X is taken"
		l.task = strings.Replace(l.task, "vars: {", "vars: {X: '{{.X | default \"\"}}', ", 1)
		if !strings.Contains(l.task, "vars: {X:") || strings.HasPrefix(l.task, "cmds:") || strings.HasPrefix(l.task, "deps:") {
			requires = "vars: {X: '{{.X | default \"\"}}'}"
			l.task = strings.Replace(l.task, "vars: {X: '{{.X | default \"\"}}', ", "vars: {", 1)
		}
	}
	text := fmt.Sprintf("version: '3'\n%s\ntasks:\n  t:\n    %s\n    %s\n  %s\n", l.top, requires, strings.ReplaceAll(l.task, "\n  ", "\n      "), l.more)
	text = strings.ReplaceAll(text, "\n        cmd", "\n    cmd")
	text = strings.ReplaceAll(text, "\n        env", "\n    env")
	dir = root(t, text)
	d = declared(t, dir, "t")
	if len(d.Vars) == 0 || !slices.ContainsFunc(d.Vars, func(v taskfile.Var) bool { return v.Name == "X" }) {
		t.Fatalf("X is not offered:\n%s", text)
	}
	i := slices.IndexFunc(d.Vars, func(v taskfile.Var) bool { return v.Name == "X" })
	d.Vars[0], d.Vars[i] = d.Vars[i], d.Vars[0]
	d.Vars[0].Default = nil // a default is always accepted
	return dir, d
}

func accepts(d taskfile.Decl, value string) error {
	_, err := taskfile.Check(d, map[string]any{"X": value}, nil, nil)
	return err
}

// harmless plays the task with a value that is accepted, and fails where it does
// anything that it does not do with a value that means nothing.
func (l landing) harmless(t testing.TB, dir string, d taskfile.Decl, value string) {
	t.Helper()
	if accepts(d, value) != nil {
		return
	}
	like := l.like
	if like == "" {
		like = "qqq"
	}
	if like == "-" {
		if value != "" {
			t.Errorf("%q is accepted where nothing should be", value)
		}
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := perform(ctx, dir, "t", map[string]any{"X": value}, nil)
	if _, none := errors.AsType[*taskerrors.TaskNotFoundError](err); err != nil && !none && value != "" {
		t.Errorf("with %q: %v", value, err)
		return
	}
	unharmed(t, value, got)
	if l.changes || value == "" { // which may leave half a command, and then nothing runs
		return
	}
	want, err := perform(ctx, dir, "t", map[string]any{"X": like}, nil)
	if err != nil {
		t.Fatalf("with %q: %v", like, err)
	}
	inner := func(text string) string { q := fmt.Sprintf("%q", text); return q[1 : len(q)-1] }
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], inner(like), inner(value))
	}
	// The parts of a pipe come in any order.
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q changes more than a word (-want +got):\n%s", value, diff)
	}
}

// unharmed fails where the book of a play shows that a value was executed, or
// that something was read for it.
func unharmed(t testing.TB, value string, book []string) {
	t.Helper()
	for _, line := range book {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == "call" && strings.Trim(words[1], `"`) == "pwn" {
			t.Errorf("%q executes a program: %s", value, line)
		}
		if strings.Contains(line, canary) {
			t.Errorf("%q reads a secret: %s", value, line)
		}
		if len(words) > 2 && words[0] == "call" && words[1] == `"prog"` {
			for _, w := range words[2:] {
				if strings.HasPrefix(w, `"-`) && !strings.HasPrefix(w, `"--tag`) && !strings.HasPrefix(w, `"--flag`) && w != `"--"` {
					t.Errorf("%q becomes an option: %s", value, line)
				}
			}
		}
	}
}

// hostile are values that mean something somewhere: each mark of the shell by
// itself and around a program, and what attackers are known to send. The long
// form has every mark in every position.
func hostile(long bool) []string {
	all := join(plain, spaced, shelly, breaks, dashes, []string{
		"pwn", "a;pwn;", "a&&pwn", "a||pwn", "$(pwn)x", "`pwn`x", "<(pwn)", ">(pwn)", "a\npwn\n", "a\r\npwn", "' ; pwn ; '", "\" ; pwn ; \"",
		"'$(pwn)'", "\\$(pwn)", "$((a[$(pwn)]))", "a[$(pwn)]", "${x:-$(pwn)}", "${CANARY}", "$CANARY", "\\`pwn\\`", "$'pwn'", "!pwn",
		"a b", "a\tb", "*", "?", "[a-z]", "{pwn,pwn}", "~root", "#pwn", "a #pwn", "a=b pwn", "PATH=/x", "EOF", "EOF\npwn", "\nEOF\npwn\n",
		"-x", "--exec=pwn", "-cpwn", " -x", "\t-x", "a -x", "a,-x", "_-x", ".-x", "=-x", "-", "--", "-exec", "+x",
		"{{.CANARY}}", "{{env \"CANARY\"}}", "{{", "}}", "{", "{ {", "%s%s", "%!", "%n", "\\x24(pwn)", "\\044(pwn)", "&#36;", "$$", "$0", "$@", "$*", "$?",
		"../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "@secret.txt", "&pwn", "|pwn", "pwn&", "(pwn)", "{ pwn; }", "if pwn; then :; fi",
		"＄(pwn)", "；pwn", "｀pwn｀", "a\u2028pwn", "a\u0085pwn", "a\u00a0b", "\u202epwn", "a\u200bb", "é", "é", "🚀", strings.Repeat("x", 200),
		"CANARY", "1+CANARY", "a[CANARY]", "function pwn", "alias x=pwn", "x() { pwn; }", "pwn() { :; }", ":;pwn", "true;pwn", "0;pwn", "1\npwn",
	})
	if !long {
		return all
	}
	for c := rune(' '); c < 0x7f; c++ {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			continue
		}
		s := string(c)
		all = append(all, s, "a"+s, s+"a", "a"+s+"a", s+"pwn", "a"+s+"pwn"+s+"a", "a"+s+"-x", s+s, "a "+s+" pwn")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestTheStageSeesWhatIsExecutedAndRead(t *testing.T) {
	dir := root(t, "version: '3'\ntasks:\n  t:\n    vars: {X: '{{.X | default \"\"}}'}\n    cmd: prog {{.X}}\n")
	e, err := perform(t.Context(), dir, "t", nil, nil)
	if err != nil || !slices.Contains(e, `call "prog"`) {
		t.Fatalf("%v, %v", e, err)
	}
	for script, want := range map[string]string{
		"sh -c 'pwn a'":             `call "pwn" "a"`,
		"echo 'pwn b' | sh":         `call "pwn" "b"`,
		"eval 'pwn c'":              `call "pwn" "c"`,
		"prog $CANARY":              `call "prog" "` + canary + `"`,
		"cat < /x":                  "open",
		"echo *":                    "readdir",
		"echo d | xargs pwn":        `call "pwn" "d"`,
		"V=pwn; $V e":               `call "pwn" "e"`,
		"prog $(pwn)":               `call "pwn"`,
		"sh -c 'eval \"$1\"' _ pwn": `call "pwn"`,
	} {
		dir := root(t, "version: '3'\ntasks: {t: {cmd: "+fmt.Sprintf("%q", script)+"}}\n")
		book, err := perform(t.Context(), dir, "t", nil, nil)
		if err != nil || !strings.Contains(strings.Join(book, "\n"), want) {
			t.Errorf("%s: %v, %q; want %s in it", script, err, book, want)
		}
	}
}
