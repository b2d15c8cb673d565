package runner_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-task/task/v3"
	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/runner"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// FuzzValues plays tasks of every kind of landing with any value that is accepted.
func FuzzValues(f *testing.F) {
	for i := range landings {
		for _, v := range []string{"abc", "$(pwn)", "a b", "-x"} {
			f.Add(uint(i), v)
		}
	}
	type listed struct {
		dir  string
		decl taskfile.Decl
	}
	known := make([]listed, len(landings))
	for i, l := range landings {
		known[i].dir, known[i].decl = l.declared(f)
	}
	f.Fuzz(func(t *testing.T, which uint, value string) {
		i := which % uint(len(landings))
		landings[i].harmless(t, known[i].dir, known[i].decl, value)
	})
}

// FuzzCommands takes any command that an author could write around {{.X}}: with
// no value that is accepted may it become another command.
func FuzzCommands(f *testing.F) {
	for _, l := range landings {
		if command, ok := strings.CutPrefix(l.task, "cmd: "); ok {
			command = strings.Trim(command, "'|")
			for _, v := range []string{"abc", "$(pwn)", "a b", "'", "\""} {
				f.Add(command, v)
			}
		}
	}
	f.Fuzz(func(t *testing.T, command, value string) {
		if !strings.Contains(command, "{{.X}}") || strings.Count(command, "{{") != strings.Count(command, "{{.X}}") || len(command) > 300 {
			return
		}
		dir := t.TempDir()
		text := fmt.Sprintf("version: '3'\ntasks:\n  t:\n    vars: {X: '{{.X | default \"\"}}'}\n    cmds:\n      - %q\n", command)
		if err := os.WriteFile(filepath.Join(dir, "Taskfile.yml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		listing := runner.List(t.Context(), dir)
		if listing.Error != "" || len(listing.Tasks) != 1 || len(listing.Tasks[0].Vars) != 1 {
			return
		}
		d := listing.Tasks[0]
		d.Vars[0].Default = nil
		if value == "" || accepts(d, value) != nil {
			return
		}
		got, err := shape(t, dir, value)
		if err != nil {
			t.Fatalf("%q with %q cannot be parsed: %v", command, value, err)
		}
		for _, like := range []string{"qqq", "7"} {
			if accepts(d, like) != nil {
				continue
			}
			want, err := shape(t, dir, like)
			if err == nil && got != want {
				t.Errorf("%q with %q (X lands in %v) is\n%s\nand with %q\n%s", command, value, d.Vars[0].Places, got, like, want)
			}
		}
	})
}

// shape fills in the command and tells how a shell reads it, whatever the words
// say.
func shape(t *testing.T, dir, value string) (string, error) {
	t.Helper()
	e, name, err := runner.Rehearse(t.Context(), taskfile.Order{Op: taskfile.OpRun, Dir: dir, Task: "t", Vars: map[string]any{"X": value}})
	if err != nil {
		return "", err
	}
	compiled, err := e.CompiledTask(&task.Call{Task: name})
	if err != nil {
		return "", err
	}
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(compiled.Cmds[0].Cmd), "")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var above []syntax.Node
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			above = above[:len(above)-1]
			return true
		}
		fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", len(above)), strings.TrimPrefix(reflect.TypeOf(node).String(), "*syntax."))
		switch n := node.(type) {
		case *syntax.Lit:
			if _, bare := above[len(above)-1].(*syntax.Word); bare { // in quotes they mean nothing
				fmt.Fprintf(&b, " %d patterns", patterns(n.Value))
			}
		case *syntax.ParamExp:
			if n.Param != nil {
				fmt.Fprintf(&b, " %s", n.Param.Value)
			}
		}
		b.WriteByte('\n')
		above = append(above, node)
		return true
	})
	return b.String(), nil
}

// patterns is how many characters of a word without quotes match file names.
func patterns(text string) (n int) {
	for _, r := range text {
		if strings.ContainsRune("*?[~{", r) {
			n++
		}
	}
	return n
}

// TestRandomValuesAreHarmless is the fuzzer's search without its instruments: it
// is slower to learn and ten times as fast.
func TestRandomValuesAreHarmless(t *testing.T) {
	rounds := 3
	if testenv.Long() {
		rounds = 500
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	for _, l := range landings {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			dir, d := l.declared(t)
			random := rand.New(rand.NewPCG(uint64(seed), uint64(len(l.name))))
			for range rounds {
				for value := randomValue(random); ; value = randomValue(random) {
					if accepts(d, value) == nil {
						l.harmless(t, dir, d, value)
						break
					}
					if random.IntN(200) == 0 { // some landings accept nothing
						break
					}
				}
			}
		})
	}
}

// fragments are what random values are made of.
var fragments = strings.Fields(`a pwn -x --exec=pwn $(pwn) $CANARY {{ }} ' " \ $ ; & | < > ( ) { } [ ] * ? ~ # ! = % @ : , . / - _ + ^ é 构 0 7 EOF sh -c eval
	\n \\ $' $" "$( '$( \" \' ${CANARY} $((1)) <(pwn) <<< 2>&1 && || ;; .. // -- %s {a,b} !! $0 $@ a=b`)

func randomValue(random *rand.Rand) string {
	var b strings.Builder
	for range 1 + random.IntN(6) {
		switch random.IntN(12) {
		case 0:
			b.WriteByte(' ')
		case 1:
			b.WriteByte('\n')
		case 2:
			b.WriteRune(rune(random.IntN(0x80)))
		default:
			b.WriteString(fragments[random.IntN(len(fragments))])
		}
	}
	return b.String()
}
