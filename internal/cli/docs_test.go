package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"handrail/internal/testenv"
)

// pages are the pages for users, below the module's root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string]string{}
	read := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[path] = strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	for _, name := range []string{"README.md", "README.zh-CN.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		read(filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var tested = regexp.MustCompile("(?s)<!-- test -->\n```sh\n(.*?)```")

// Every block of commands behind <!-- test --> runs as it stands, in a folder of
// its own.
func TestCommandsInThePagesWork(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		testenv.LeftOut(t, "no sh on PATH to run the pages' commands with")
	}
	bin := programs(t)
	runner := testenv.Runner(t)
	if err := os.Symlink(runner, filepath.Join(bin, filepath.Base(runner))); err != nil {
		testenv.LeftOut(t, "no links can be made here: "+err.Error())
	}
	blocks := 0
	for path, text := range pages(t) {
		for _, block := range tested.FindAllStringSubmatch(text, -1) {
			blocks++
			cmd := exec.Command(sh, "-eu", "-c", block[1])
			cmd.Dir = t.TempDir()
			clone(t, cmd.Dir)
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
				"TASKS_DB_PATH=", "HANDRAIL_AUDIT_DB=", "MCP_DB_PATH=", "XDG_STATE_HOME="+filepath.Join(cmd.Dir, "state"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", path, err, block[1], out)
			}
		}
	}
	if blocks < 6 {
		t.Errorf("only %d blocks were found", blocks)
	}
}

// clone puts into dir what the commands on the pages use of a clone, to be
// changed by them.
func clone(t *testing.T, dir string) {
	t.Helper()
	root := filepath.Join("..", "..")
	if err := os.CopyFS(filepath.Join(dir, "examples", "workspace"), os.DirFS(filepath.Join(root, "examples", "workspace"))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".env.example"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".env.example"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var (
	jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

func TestConfigurationsInThePagesAreJSON(t *testing.T) {
	for path, text := range pages(t) {
		for _, block := range jsonBlock.FindAllStringSubmatch(text, -1) {
			if !json.Valid([]byte(block[1])) {
				t.Errorf("%s: this is no JSON:\n%s", path, block[1])
			}
		}
	}
}

func TestLinksInThePagesLeadSomewhere(t *testing.T) {
	all := pages(t)
	for path, text := range all {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := path
			if target != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(target))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, match[1])
				continue
			}
			if page, known := all[to]; fragment != "" && known && !hasHeading(page, fragment) {
				t.Errorf("%s links to %s, and there is no such heading", path, match[1])
			}
		}
	}
}

// hasHeading reports whether a page has the heading of a fragment, as hosts of
// Markdown make fragments: lower case, spaces as dashes, no punctuation.
func hasHeading(page, fragment string) bool {
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		made := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
				return unicode.ToLower(r)
			}
			return -1
		}, h[1])
		if made == fragment {
			return true
		}
	}
	return false
}

var (
	named    = regexp.MustCompile("go tool task ([a-z][a-z0-9:]*)")
	declared = regexp.MustCompile(`(?m)^  ([a-z][a-z0-9:]*):$`)
)

// The pages send nobody to a task that the Taskfile does not have.
func TestTasksThatThePagesNameAreThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Taskfile.yml"))
	if err != nil {
		t.Fatal(err)
	}
	tasks := map[string]bool{}
	for _, m := range declared.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\r\n", "\n"), -1) {
		tasks[m[1]] = true
	}
	for path, page := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(page, -1) {
			if name := strings.TrimSuffix(m[1], ":"); !tasks[name] {
				t.Errorf("%s names go tool task %s, and there is no such task", path, name)
			}
		}
	}
}
