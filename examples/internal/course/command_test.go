package course_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/internal/testenv"
)

// commandTime bounds one block of commands; the first may have to compile.
const commandTime = 3 * time.Minute

func TestEveryCommandOfThePagesRunsAndPrintsWhatIsPromised(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		testenv.LeftOut(t, "no sh on PATH; run the commands of the pages on Linux or macOS")
	}
	done := map[string]bool{}
	for _, twin := range twins {
		for _, path := range twin {
			p := readPage(t, path)
			for _, s := range p.sections {
				for i, b := range s.blocks {
					if b.lang != "sh" || done[b.text] {
						continue // the two languages have the same commands: that is tested
					}
					done[b.text] = true
					var promised string
					if i+1 < len(s.blocks) && s.blocks[i+1].lang == "text" {
						promised = s.blocks[i+1].text
					}
					t.Run(fmt.Sprintf("%s:%d", path, b.line), func(t *testing.T) { runBlock(t, sh, b, promised) })
				}
			}
		}
	}
	if len(done) < 40 {
		t.Errorf("only %d blocks of commands were found", len(done))
	}
}

// goRun is how the pages run a lesson.
var goRun = regexp.MustCompile(`go run \./examples/(lesson\d\d) `)

// shorter is a block with the built lesson in place of go run, which would look
// at all packages again each time. Blocks that only run a demo stay as they are,
// so that each lesson is run once as a reader runs it.
func shorter(t *testing.T, text string) string {
	if strings.HasSuffix(text, " -demo\n") {
		return text
	}
	return goRun.ReplaceAllStringFunc(text, func(s string) string {
		return "'" + filepath.ToSlash(program(t, goRun.FindStringSubmatch(s)[1])) + "' "
	})
}

// runBlock runs the commands of a block in the module's root.
func runBlock(t *testing.T, sh string, b block, promised string) {
	want := 0
	switch rule, rest, _ := strings.Cut(b.note, ": "); {
	case rule == "not run" && rest != "":
		return
	case strings.HasPrefix(rule, "exit status "):
		want, _ = strconv.Atoi(rule[len("exit status "):])
	case b.note != "":
		t.Fatalf("the note %q is none that is known", b.note)
	}
	path := os.Getenv("PATH")
	if !strings.Contains(b.text, "go build") {
		t.Parallel() // what is built has been built by then
	}
	if strings.Contains(b.text, "node_modules") {
		// The Inspector is started by a line that asks PATH for Node.
		path = filepath.Dir(testenv.Node(t)) + string(os.PathListSeparator) + path
		if _, err := os.Stat(filepath.Join(root, "e2e", "node_modules", ".bin", "mcp-inspector")); err != nil {
			testenv.LeftOut(t, "the Inspector is not installed; run go tool task e2e:install")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, sh, "-e")
	cmd.Stdin = strings.NewReader(shorter(t, b.text))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "PATH="+path,
		"MCP_CATALOG_PATH="+filepath.Join(t.TempDir(), "catalog.json"), "MCP_INSPECTOR_SECRET_STORE=file")
	out, err := cmd.CombinedOutput()
	if status := exitStatus(err); status != want {
		t.Fatalf("%sstatus %d, want %d: %v\n%s", b.text, status, want, err, out)
	}
	keepsPromise(t, string(out), promised)
}

func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// keepsPromise fails unless every line that is promised was printed, in order;
// three dots stand for anything.
func keepsPromise(t *testing.T, out, promised string) {
	t.Helper()
	lines := strings.Split(out, "\n")
	at := 0
	for want := range strings.Lines(promised) {
		want = strings.TrimRight(want, " \n")
		if want == "" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + ",?$")
		found := false
		for ; at < len(lines) && !found; at++ {
			found = pattern.MatchString(strings.TrimRight(lines[at], " \r"))
		}
		if !found {
			t.Fatalf("the page promises\n%s\nwhich was not printed, or not after what stands before it:\n%s", want, out)
		}
	}
}

func TestEveryExperimentChangesWhatThePageSays(t *testing.T) {
	english, chinese := experiments(t, twins[0][0]), experiments(t, twins[0][1])
	if len(english) != len(lessons) || len(chinese) != len(lessons) {
		t.Fatalf("%d and %d experiments for %d lessons", len(english), len(chinese), len(lessons))
	}
	for i, e := range english {
		t.Run(fmt.Sprintf("line %d", e[0].line), func(t *testing.T) {
			t.Parallel()
			lesson := changed(t, e[0])
			// Both at once: some experiments wait for what never comes.
			said := try(t, lesson, e[1].text, "-zh=false")
			inChinese := try(t, lesson, chinese[i][1].text, "-zh")
			keepsPromise(t, said(), e[1].text)
			keepsPromise(t, inChinese(), chinese[i][1].text)
		})
	}
}

// experiments are the changes of a page, each with what one sees then.
func experiments(t *testing.T, path string) (found [][2]block) {
	for _, s := range readPage(t, path).sections {
		for i, b := range s.blocks {
			if b.lang != "diff" {
				continue
			}
			if i+1 >= len(s.blocks) || s.blocks[i+1].lang != "text" {
				t.Fatalf("%s:%d: an experiment is followed by what one sees", path, b.line)
			}
			found = append(found, [2]block{b, s.blocks[i+1]})
		}
	}
	return found
}

// changed builds a lesson with the change of a diff, made in a copy.
func changed(t *testing.T, b block) string {
	name, hunk, _ := strings.Cut(strings.TrimPrefix(b.text, "--- "), "\n")
	var before, after strings.Builder
	for line := range strings.Lines(hunk) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		default:
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		}
	}
	file, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), before.String()); n != 1 {
		t.Fatalf("%s has the lines to be changed %d times:\n%s", name, n, before.String())
	}
	dir := t.TempDir()
	copied, overlay, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "lesson.exe")
	err = os.WriteFile(copied, []byte(strings.Replace(string(text), before.String(), after.String(), 1)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: copied}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-ldflags=-s -w", "-o", out, "./"+path.Dir(name))
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

// try begins to run the demo of a changed lesson, and returns how to wait for what
// it prints. It may fail: most experiments take away what holds it up.
func try(t *testing.T, lesson, promised string, flags ...string) (wait func() string) {
	ctx, cancel := context.WithTimeout(t.Context(), commandTime)
	cmd := exec.CommandContext(ctx, lesson, append(flags, "-demo")...)
	if strings.Contains(promised, "← ") || strings.Contains(promised, "→ ") && strings.Contains(promised, "jsonrpc") {
		cmd.Args = append(cmd.Args, "-wire")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Start()
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		defer cancel()
		if status := exitStatus(cmd.Wait()); status < 0 {
			t.Fatalf("status %d\n%s", status, &out)
		}
		return out.String()
	}
}
