package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// ended runs a command that must end by itself, without input.
func ended(t *testing.T, cmd *exec.Cmd) (out, stderr string, status int) {
	t.Helper()
	var stdout, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return stdout.String(), complaint.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), complaint.String(), 0
}

func TestTheNotesServerDoesNotStartWithSettingsThatAreWrong(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	write(t, filepath.Join(f.dir, "a file"), "x")
	for _, row := range []struct {
		args, env []string
		says      []string
	}{
		{says: []string{"--root", "MCP_WORKSPACE_ROOT", "required"}},
		{args: []string{"--root", ""}, says: []string{"--root"}},
		{args: []string{"--root", filepath.Join(f.dir, "nowhere")}, says: []string{"root", "no folder"}},
		{args: []string{"--root", filepath.Join(f.dir, "a file")}, says: []string{"root", "no folder"}},
		{env: []string{"MCP_WORKSPACE_ROOT=" + filepath.Join(f.dir, "nowhere")}, says: []string{"root", "no folder"}},
		{args: []string{"--root", f.root, "--rot", "x"}, says: []string{"unknown option --rot", "--root"}},
		{args: []string{"--root", f.root, "more"}, says: []string{`"more"`}},
		{args: []string{"--root", f.root, "--allow-write", "notes_append,notes_delete"}, says: []string{"notes_delete", "notes_write, notes_append, tasks_add, tasks_complete"}},
		{args: []string{"--root", f.root, "--allow-write", "*"}, says: []string{`"*"`}},
		{args: []string{"--root", f.root, "--allow-write", "notes_read"}, says: []string{"notes_read"}},
		{args: []string{"--root", f.root}, env: []string{"MCP_WORKSPACE_ALLOW_WRITE=all"}, says: []string{"MCP_WORKSPACE_ALLOW_WRITE", `"all"`}},
		{args: []string{"--root", f.root, "--max-note-bytes", "0", "--max-read-bytes", "-1", "--max-search-results", "lots"},
			says: []string{"--max-note-bytes", "--max-read-bytes", "--max-search-results", "3 things"}},
		{args: []string{"--root", f.root}, env: []string{"MCP_WORKSPACE_MAX_NOTE_BYTES=1e5", "MCP_WORKSPACE_MAX_READ_BYTES=1.5", "MCP_WORKSPACE_MAX_SEARCH_RESULTS=0"},
			says: []string{"MCP_WORKSPACE_MAX_NOTE_BYTES", "MCP_WORKSPACE_MAX_READ_BYTES", "MCP_WORKSPACE_MAX_SEARCH_RESULTS"}},
	} {
		cmd := f.command()
		cmd.Args = append(cmd.Args[:2], row.args...) // without --root
		cmd.Env = append(cmd.Env, row.env...)
		out, stderr, status := ended(t, cmd)
		if status == 0 || out != "" {
			t.Errorf("%v %v: status %d, stdout %q", row.args, row.env, status, out)
		}
		for _, word := range row.says {
			if !strings.Contains(stderr, word) {
				t.Errorf("%v %v: %s is missing in %s", row.args, row.env, word, stderr)
			}
		}
	}
	if _, err := os.Stat(f.state); err == nil {
		t.Error("a server that did not start made a record")
	}
}

func TestTheSettingsInForceArePrintedToStderr(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	cmd := f.command("--allow-write", "tasks_add", "--max-read-bytes", "7000")
	cmd.Env = append(cmd.Env, "MCP_WORKSPACE_MAX_SEARCH_RESULTS=9", "MCP_WORKSPACE_MAX_READ_BYTES=1")
	out, stderr, status := ended(t, cmd)
	if status != 0 || out != "" {
		t.Errorf("status %d, stdout %q", status, out)
	}
	var got map[string]any
	for line := range strings.Lines(stderr) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("stderr has a line that is no JSON: %q", line)
		}
		if m["msg"] == "settings" {
			got = m
		}
	}
	for name, want := range map[string]string{"preset": "workspace", "root": f.root, "allow-write": "tasks_add", "max-note-bytes": "100000",
		"max-read-bytes": "7000", "max-search-results": "9", "audit-db": f.db, "read-only": "false"} {
		if got[name] != want {
			t.Errorf("%s is %v, want %s", name, got[name], want)
		}
	}
}

func TestAWriteToolExistsOnlyWhereItIsNamed(t *testing.T) {
	t.Parallel()
	calls := map[string]string{
		"notes_append": `{"path":"made.md","content":"x"}`, "notes_write": `{"path":"made.md","content":"x"}`,
		"tasks_add": `{"title":"x"}`, "tasks_complete": `{"id":1}`,
	}
	rows := []struct {
		args, env []string
		on        []string
	}{
		{},
		{args: []string{"--allow-write", ""}},
		{args: []string{"--allow-write", "notes_append,tasks_add"}, on: []string{"notes_append", "tasks_add"}},
		{env: []string{"MCP_WORKSPACE_ALLOW_WRITE=notes_append, tasks_add"}, on: []string{"notes_append", "tasks_add"}},
		{args: []string{"--allow-write", "tasks_complete"}, env: []string{"MCP_WORKSPACE_ALLOW_WRITE=notes_write"}, on: []string{"tasks_complete"}},
		{args: []string{"--allow-write", strings.Join(writeTools, ",")}, on: writeTools},
		{args: []string{"--allow-write", strings.Join(writeTools, ","), "--read-only"}},
		{args: []string{"--allow-write", strings.Join(writeTools, ",")}, env: []string{"HANDRAIL_READ_ONLY=1"}},
	}
	for _, tool := range writeTools {
		rows = append(rows, struct {
			args, env []string
			on        []string
		}{args: []string{"--allow-write", tool}, on: []string{tool}})
	}
	for _, row := range rows {
		t.Run(fmt.Sprint(row.args, row.env), func(t *testing.T) {
			t.Parallel()
			eachEra(t, both, func(t *testing.T, e era) {
				f := newFolder(t)
				cmd := f.command(row.args...)
				cmd.Env = append(cmd.Env, row.env...)
				w := e.start(t, cmd)
				w.send(e.request("1", "tools/list", ""))
				var list struct{ Tools json.RawMessage }
				if err := json.Unmarshal(w.reply("1").Result, &list); err != nil {
					t.Fatal(err)
				}
				if want := sorted(slices.Concat(readTools, row.on)); !slices.Equal(names(t, list.Tools), want) {
					t.Errorf("the tools are %v, want %v", names(t, list.Tools), want)
				}
				for tool, args := range calls {
					if slices.Contains(row.on, tool) {
						continue
					}
					w.send(e.call("1", tool, args))
					if m := w.reply("1"); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, tool) {
						t.Errorf("%s, which is off: %+v %s", tool, m.Error, m.Result)
					}
				}
				if _, status := w.end(); status != 0 {
					t.Errorf("status %d", status)
				}
				if list, err := os.ReadDir(f.root); err != nil || len(list) != 0 {
					t.Errorf("the folder holds %v, %v", list, err)
				}
				if got := f.record(f.db); len(got) != 0 {
					t.Errorf("calls of tools that are not there are on the record: %+v", got)
				}
			})
		})
	}
}

func TestTheLimitsAreThoseOfTheTableAndBoundWhatTheySay(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, row := range []struct {
		name                   string
		args, env              []string
		note, read, results, n int
	}{
		{name: "defaults", note: 100_000, read: 100_000, results: 20},
		{name: "flags", args: []string{"--max-note-bytes", "50", "--max-read-bytes", "40", "--max-search-results", "3"}, note: 50, read: 40, results: 3},
		{name: "environment", env: []string{"MCP_WORKSPACE_MAX_NOTE_BYTES=60", "MCP_WORKSPACE_MAX_READ_BYTES=70", "MCP_WORKSPACE_MAX_SEARCH_RESULTS=5"}, note: 60, read: 70, results: 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			cmd := f.command(append(row.args, "--allow-write", "notes_write,notes_append")...)
			cmd.Env = append(cmd.Env, row.env...)
			e := modern
			w := e.start(t, cmd)
			do := func(tool, code string, args string) envelope {
				t.Helper()
				got := e.do(w, tool, args)
				if got.Err.Code != code {
					t.Errorf("%s %.60s: %+v", tool, args, got)
				}
				return got
			}
			do("notes_write", "", fmt.Sprintf(`{"path":"full.md","content":%q}`, long(row.note)))
			do("notes_write", "too_large", fmt.Sprintf(`{"path":"over.md","content":%q}`, long(row.note+1)))
			do("notes_append", "too_large", `{"path":"full.md","content":"y"}`)
			if f.text("full.md") != long(row.note) || f.has("over.md") {
				t.Error("a refused write left something")
			}
			f.put("read.md", long(row.read))
			f.put("more.md", long(row.read+1))
			for path, cut := range map[string]bool{"read.md": false, "more.md": true} {
				var note struct {
					Content    string
					Truncated  bool
					TotalBytes int
				}
				if err := json.Unmarshal(do("notes_read", "", fmt.Sprintf(`{"path":%q}`, path)).Data, &note); err != nil {
					t.Fatal(err)
				}
				if note.Content != long(row.read) || note.Truncated != cut || note.TotalBytes != len(f.text(path)) {
					t.Errorf("%s: %d bytes, truncated %v, of %d", path, len(note.Content), note.Truncated, note.TotalBytes)
				}
			}
			do("notes_write", "too_large", `{"path":"more.md","content":"short","overwrite":true}`)
			for i := range row.results + 2 {
				f.put(fmt.Sprintf("found/%02d.md", i), "needle\n")
			}
			found := func(args string) (n int, cut bool) {
				var m struct {
					Matches   []any
					Truncated bool
				}
				if err := json.Unmarshal(do("notes_search", "", args).Data, &m); err != nil {
					t.Fatal(err)
				}
				return len(m.Matches), m.Truncated
			}
			for _, args := range []string{`{"query":"needle"}`, fmt.Sprintf(`{"query":"needle","limit":%d}`, row.results)} {
				if n, cut := found(args); n != row.results || !cut {
					t.Errorf("%s: %d results, truncated %v", args, n, cut)
				}
			}
			do("notes_search", "invalid_input", fmt.Sprintf(`{"query":"needle","limit":%d}`, row.results+1))
		})
	}
}

// The fields of every answer, as the contract has them; those with ? may be
// absent.
func TestTheDataOfEveryNotesToolHasTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		f := newFolder(t)
		for i := range 3 {
			f.put(fmt.Sprintf("n%d.md", i), "# T\nneedle \u200b\n")
		}
		f.put("large.md", strings.Repeat("needle ", 1000))
		w := f.open(e, "--allow-write", strings.Join(writeTools, ","), "--max-read-bytes", "1000")
		w.send(e.request("1", "tools/list", ""))
		var list struct {
			Tools []struct {
				Name         string
				OutputSchema *jsonschema.Schema
			}
		}
		if err := json.Unmarshal(w.reply("1").Result, &list); err != nil {
			t.Fatal(err)
		}
		schemas := map[string]*jsonschema.Resolved{}
		for _, tool := range list.Tools {
			var err error
			if schemas[tool.Name], err = tool.OutputSchema.Resolve(nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, row := range []struct{ tool, args, want string }{
			{"notes_list", `{"limit":1}`, "nextCursor notes notes.bytes notes.modifiedAt notes.path notes.title truncated"},
			{"notes_list", `{"folder":""}`, "notes notes.bytes notes.modifiedAt notes.path notes.title truncated"},
			{"notes_read", `{"path":"n0.md"}`, "content hidden hidden.codePoint hidden.column hidden.line modifiedAt path sha256 totalBytes truncated"},
			{"notes_read", `{"path":"large.md"}`, "content modifiedAt path sha256 totalBytes truncated"},
			{"notes_search", `{"query":"needle"}`, "matches matches.line matches.path matches.text skipped skipped.path skipped.reason truncated"},
			{"notes_write", `{"path":"w.md","content":"x"}`, "bytes created path sha256"},
			{"notes_append", `{"path":"w.md","content":"x"}`, "bytes created path sha256"},
			{"tasks_add", `{"title":"x"}`, "createdAt id status tags title"},
			{"tasks_add", `{"title":"x","due":"2027-02-28","tags":["a"]}`, "createdAt due id status tags title"},
			{"tasks_complete", `{"id":2}`, "completedAt createdAt due id status tags title"},
			{"tasks_list", `{"status":"all","limit":1}`, "nextCursor tasks tasks.createdAt tasks.id tasks.status tasks.tags tasks.title"},
			{"tasks_list", `{}`, "tasks tasks.createdAt tasks.id tasks.status tasks.tags tasks.title"},
		} {
			w.send(e.call("1", row.tool, row.args))
			m := w.reply("1")
			got := m.envelope(t)
			var data any
			if err := json.Unmarshal(got.Data, &data); err != nil || !got.OK {
				t.Errorf("%s %s: %+v", row.tool, row.args, got)
				continue
			}
			if diff := cmp.Diff(strings.Fields(row.want), fields(data, "")); diff != "" {
				t.Errorf("%s %s (-contract +answer):\n%s", row.tool, row.args, diff)
			}
			var value any
			structured(t, m.Result, &value)
			if err := schemas[row.tool].Validate(value); err != nil {
				t.Errorf("%s %s does not fit its outputSchema: %v", row.tool, row.args, err)
			}
		}
	})
}

// fields are the keys of an object and of the first element of its lists.
func fields(v any, prefix string) (all []string) {
	object, _ := v.(map[string]any)
	for key, value := range object {
		all = append(all, prefix+key)
		if list, ok := value.([]any); ok && len(list) > 0 {
			all = append(all, fields(list[0], prefix+key+".")...)
		}
	}
	return sorted(all)
}

// Every way to fail that a folder can offer, and not one message that shows
// where the folder is.
func TestNoMessageShowsAnAbsolutePath(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("note.md", "x")
	f.put("sub/x.md", "x")
	f.put("tasks.json", "{]")
	if err := os.Mkdir(f.file("folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	paths := []string{"no.md", "no/no.md", "note.md/x.md", "folder.md", "../outside/diary.md", f.file("note.md"), "sub", strings.Repeat("d/", 300) + "x.md", "sub/.x.md"}
	if runtime.GOOS != "windows" {
		for name, target := range map[string]string{"out.md": filepath.Join(f.dir, "outside", "diary.md"), "round.md": "round.md", "broken.md": "gone.md", "outside": filepath.Join(f.dir, "outside"), "up.md": "../my notes/note.md"} {
			if err := os.Symlink(target, f.file(name)); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, "out.md", "round.md", "outside/diary.md", "outside/new.md", "up.md")
	}
	e := modern
	w := f.open(e, "--allow-write", strings.Join(writeTools, ","), "--max-note-bytes", "10")
	refusedOf := 0
	for _, path := range paths {
		for _, line := range []string{
			e.call("1", "notes_read", fmt.Sprintf(`{"path":%q}`, path)),
			e.call("1", "notes_write", fmt.Sprintf(`{"path":%q,"content":"much too long"}`, path)),
			e.call("1", "notes_append", fmt.Sprintf(`{"path":%q,"content":"much too long"}`, path)),
			e.call("1", "notes_list", fmt.Sprintf(`{"folder":%q}`, path)),
			e.call("1", "notes_search", fmt.Sprintf(`{"query":"x","folder":%q}`, path)),
			e.request("1", "resources/read", fmt.Sprintf(`"uri":%q`, "notes://"+path)),
			e.call("1", "tasks_list", `{}`),
			e.call("1", "tasks_add", `{"title":"x"}`),
		} {
			w.send(line)
			m := w.reply("1")
			text := string(m.Result)
			if m.Error != nil {
				text = m.Error.Message + string(m.Error.Data)
			}
			// What the caller itself sent may come back.
			text = strings.ReplaceAll(text, path, "PATH")
			if strings.Contains(text, f.dir) || strings.Contains(text, filepath.Base(f.root)) {
				t.Errorf("%s\nshows where the folder is: %s", line, text)
			}
			if m.Error != nil || strings.Contains(text, `"ok":false`) {
				refusedOf++
			}
			if strings.Contains(text, "internal_error") {
				t.Errorf("%s\nhas no answer of its own: %s", line, text)
			}
		}
	}
	if refusedOf < 6*len(paths) {
		t.Errorf("only %d calls were refused: the test proves too little", refusedOf)
	}
	f.untouched()
}

// Field case 1, for the notes server.
func TestThreeRequestsToTheNotesServerGiveThreeRepliesEveryTime(t *testing.T) {
	t.Parallel()
	times := 100
	if testing.Short() {
		times = 10
	}
	eachEra(t, both, func(t *testing.T, e era) {
		f := newFolder(t)
		f.put("a.md", "needle\n")
		in := e.hello() + e.call("1", "notes_append", `{"path":"a.md","content":"more"}`) + "\n" +
			e.call("2", "notes_list", `{}`) + "\n" + e.call("3", "notes_search", `{"query":"needle"}`) + "\n"
		for n := range times {
			list, status := pipe(t, f.command("--allow-write", "notes_append"), in)
			got := map[string]bool{}
			for _, m := range list {
				if m.reply() && string(m.ID) != `"hello"` {
					got[string(m.ID)] = m.envelope(t).OK
				}
			}
			if len(got) != 3 || !got["1"] || !got["2"] || !got["3"] || status != 0 {
				t.Fatalf("run %d of %d: %v, exit status %d", n, times, got, status)
			}
		}
		if n := strings.Count(f.text("a.md"), "more\n"); n != times {
			t.Errorf("%d appends of %d", n, times)
		}
		if got := f.record(f.db, "--outcome", "ok"); len(got) != 3*times {
			t.Errorf("%d of %d calls are on the record", len(got), 3*times)
		}
	})
}
