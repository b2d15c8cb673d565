package course_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	for _, twin := range twins[:3] {
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
	if len(done) < 25 {
		t.Errorf("only %d blocks of commands were found", len(done))
	}
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
	if strings.Contains(b.text, "node_modules") {
		testenv.Node(t)
		if _, err := os.Stat(filepath.Join(root, "e2e", "node_modules", ".bin", "mcp-inspector")); err != nil {
			testenv.LeftOut(t, "the Inspector is not installed; run go tool task e2e:install")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, sh, "-e")
	cmd.Stdin = strings.NewReader(b.text)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "NO_COLOR=1",
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
	p := readPage(t, twins[0][0])
	tried := 0
	for _, s := range p.sections {
		for i, b := range s.blocks {
			if b.lang != "diff" {
				continue
			}
			tried++
			if i+1 >= len(s.blocks) || s.blocks[i+1].lang != "text" {
				t.Errorf("%s:%d: an experiment is followed by what one sees", p.path, b.line)
				continue
			}
			t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
				t.Parallel()
				experiment(t, b, s.blocks[i+1].text)
			})
		}
	}
	if tried != len(lessons) {
		t.Errorf("%d experiments for %d lessons", tried, len(lessons))
	}
}

// experiment makes the change of a diff in a copy, and runs the demo with it. The
// demo may fail: most experiments take away what holds it up.
func experiment(t *testing.T, b block, promised string) {
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
	changed, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	err = os.WriteFile(changed, []byte(strings.Replace(string(text), before.String(), after.String(), 1)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "run", "-overlay", overlay, "./"+filepath.ToSlash(filepath.Dir(name)), "-demo")
	if strings.Contains(promised, "← ") || strings.Contains(promised, "→ ") && strings.Contains(promised, "jsonrpc") {
		cmd.Args = append(cmd.Args, "-wire")
	}
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if status := exitStatus(err); status < 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	keepsPromise(t, string(out), promised)
}
