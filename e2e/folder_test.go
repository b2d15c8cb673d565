package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

// The tools of the notes server.
var (
	readTools  = []string{"notes_list", "notes_read", "notes_search", "tasks_list"}
	writeTools = []string{"notes_append", "notes_write", "tasks_add", "tasks_complete"}
)

// folder is a folder of notes with a neighbour that nobody may reach.
type folder struct {
	t                    testing.TB
	dir, root, state, db string
}

func newFolder(t testing.TB) *folder {
	t.Helper()
	dir := t.TempDir()
	f := &folder{t: t, dir: dir, root: filepath.Join(dir, "my notes"), state: filepath.Join(dir, "state")}
	f.db = filepath.Join(f.state, "handrail", "audit.db")
	for _, d := range []string{f.root, filepath.Join(dir, "outside"), filepath.Join(dir, "my notes-private")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if d != f.root {
			write(t, filepath.Join(d, "diary.md"), "nobody may read this\n")
		}
	}
	return f
}

// command is `handrail workspace` on the folder, with an environment that holds
// none of its settings but where the record is.
func (f *folder) command(args ...string) *exec.Cmd {
	f.t.Helper()
	cmd := exec.Command(testenv.Binary(f.t), append([]string{"workspace", "--root", f.root}, args...)...)
	cmd.Env = append(plainEnviron(), "XDG_STATE_HOME="+f.state)
	cmd.Dir = f.t.TempDir()
	return cmd
}

// plainEnviron is the environment without anything that sets an option.
func plainEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MCP_") || strings.HasPrefix(v, "TASKS_") || strings.HasPrefix(v, "HANDRAIL_") || strings.HasPrefix(v, "REQUEST_STATE")
	})
}

// open starts the server and says hello.
func (f *folder) open(e era, args ...string) *wire {
	f.t.Helper()
	return e.start(f.t, f.command(args...))
}

// start starts any server and says hello.
func (e era) start(t testing.TB, cmd *exec.Cmd) *wire {
	t.Helper()
	w := dial(t, cmd)
	if hello := e.hello(); hello != "" {
		w.raw(hello)
		if m := w.reply(`"hello"`); m.Error != nil {
			t.Fatalf("initialize failed: %+v", m.Error)
		}
	}
	return w
}

func (f *folder) file(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

func (f *folder) put(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.file(name)), 0o700); err != nil {
		f.t.Fatal(err)
	}
	write(f.t, f.file(name), text)
}

// save saves as many editors do: a new file takes the old one's name.
func (f *folder) save(name, text string) {
	f.t.Helper()
	write(f.t, f.file(name)+".swp~", text)
	if err := os.Rename(f.file(name)+".swp~", f.file(name)); err != nil {
		f.t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// text is what a note holds; there must be one.
func (f *folder) text(name string) string {
	f.t.Helper()
	b, err := os.ReadFile(f.file(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

func (f *folder) has(name string) bool {
	_, err := os.Lstat(f.file(name))
	return err == nil
}

// untouched proves that nothing beside the root was changed and that nothing
// temporary is left in it.
func (f *folder) untouched() {
	f.t.Helper()
	for _, d := range []string{"outside", "my notes-private"} {
		list, err := os.ReadDir(filepath.Join(f.dir, d))
		if err != nil || len(list) != 1 {
			f.t.Errorf("%s holds %v, %v", d, list, err)
		}
		if b, err := os.ReadFile(filepath.Join(f.dir, d, "diary.md")); err != nil || string(b) != "nobody may read this\n" {
			f.t.Errorf("the diary in %s is %q, %v", d, b, err)
		}
	}
	err := filepath.WalkDir(f.root, func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), "handrail") || strings.Contains(filepath.Base(path), ".tmp") {
			f.t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil {
		f.t.Error(err)
	}
}

// record is the entries of the record, as lines of JSON, oldest first.
func (f *folder) record(db string, filter ...string) []entry {
	f.t.Helper()
	args := append([]string{"audit", "list", "--db", db, "--json", "--limit", "0"}, filter...)
	out, status := run(f.t, db, args...)
	if status != 0 {
		f.t.Fatalf("audit list: status %d: %s", status, out)
	}
	return parseEntries(f.t, out)
}

// entry is one call, or one end of it, on the record.
type entry struct {
	Tool      string
	Outcome   string
	Code      string
	Args      string
	CallID    string `json:"call_id"`
	User      string `json:"user_id"`
	ArgsBytes int64  `json:"args_bytes"`
	SHA       string `json:"args_sha256"`
	At        string
	Duration  int64 `json:"duration_us"`
}

func parseEntries(t testing.TB, out string) (all []entry) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("audit list --json printed %q", line)
		}
		all = append(all, e)
	}
	return all
}

// names are the names of the tools in a list.
func names(t testing.TB, raw json.RawMessage) (all []string) {
	t.Helper()
	var tools []struct{ Name string }
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return sorted(all)
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
