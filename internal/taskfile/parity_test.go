package taskfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// otherwise are the calls that we run in another way than the task command, with
// the reason.
var otherwise = map[string]string{
	"cmake configure:debug":             "it panics over the task c++",
	"include-vars image-b:build TAG=v2": "it lets an include's own variables win over the caller's, which would be a variable that does nothing",
}

var exited = regexp.MustCompile("^Task `(.*)` exited with status (\\d+)")

// TestTheTaskCommandRunsTheCorpusAlike holds what the corpus says of each call that
// ran against the released command, given the same by hand: `task NAME VAR=value`.
// The short form takes every fifth root.
func TestTheTaskCommandRunsTheCorpusAlike(t *testing.T) {
	posix(t)
	out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "task").Output()
	if err != nil {
		testenv.LeftOut(t, "go tool does not build the task command here")
	}
	released, path := strings.TrimSpace(string(out)), programs(t)
	archives, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range archives {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if _, odd := otherwise[name]; !odd && i%5 != 0 && !testenv.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir, results := t.TempDir(), ""
			for _, f := range txtar.Parse(text).Files {
				switch f.Name {
				case "calls", "tools":
				case "results":
					results = string(f.Data)
				default:
					put(t, filepath.Join(dir, f.Name), string(f.Data))
				}
			}
			for _, block := range strings.Split("\n"+results, "\n$ ")[1:] {
				lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
				m := exited.FindStringSubmatch(lines[1])
				if m == nil {
					continue // nothing ran
				}
				args := byHand(t, lines[0], m[1])
				cmd := exec.CommandContext(t.Context(), released, append([]string{"--silent", "--exit-code", "--output", "interleaved"}, args...)...)
				cmd.Dir, cmd.Env = dir, append(environ(), "USER=corpus", "REGION=eu-west-1", "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
				var stdout bytes.Buffer
				cmd.Stdout = &stdout
				if err := cmd.Run(); err != nil {
					if _, ended := errors.AsType[*exec.ExitError](err); !ended {
						t.Fatal(err)
					}
				}
				want := ""
				for _, l := range lines[2:] {
					if text, ok := strings.CutPrefix(l, "out| "); ok {
						want += text + "\n"
					}
				}
				got := assuming.ReplaceAllString(taskfile.CleanText(stdout.String()), "")
				if otherwise[name+" "+strings.Join(args, " ")] != "" {
					continue
				}
				if diff := cmp.Diff(strings.TrimSuffix(got, "\n"), strings.TrimSuffix(want, "\n")); diff != "" || fmt.Sprint(cmd.ProcessState.ExitCode()) != m[2] {
					t.Errorf("task %q: status %d, ours %s (-task +ours):\n%s", args, cmd.ProcessState.ExitCode(), m[2], diff)
				}
			}
		})
	}
}

// assuming is what the command says about a prompt that was answered for it.
var assuming = regexp.MustCompile(`(?m)^.* \[assuming yes\]\n`)

// byHand is a line of calls as a person would type it.
func byHand(t *testing.T, line, called string) (args []string) {
	t.Helper()
	line, yes := strings.CutPrefix(line, "yes ")
	if yes {
		args = append(args, "--yes")
	}
	name, arguments, given := strings.Cut(line, " {")
	if strings.Contains(name, "*") {
		name = called
	}
	args = append(args, name)
	if !given {
		return args
	}
	d := json.NewDecoder(strings.NewReader("{" + arguments))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if key != taskfile.MatchName {
			args = append(args, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return args
}
