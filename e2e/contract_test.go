package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

// servers are the commands that serve over stdio, each on data of its own.
func servers(t *testing.T) map[string]func() *exec.Cmd {
	return map[string]func() *exec.Cmd{
		"tasks":     func() *exec.Cmd { return command(t, newDB(t)) },
		"workspace": func() *exec.Cmd { return newFolder(t).command("--allow-write", strings.Join(writeTools, ",")) },
	}
}

// A host that caches the list of tools must get the same one, to the byte.
func TestTheListOfToolsIsTheSameEveryTimeAndInEveryProcess(t *testing.T) {
	t.Parallel()
	for name, start := range servers(t) {
		eachEra(t, every, func(t *testing.T, e era) {
			var first string
			for range 2 {
				w := e.start(t, start())
				for range 3 {
					w.send(e.request("1", "tools/list", ""))
					if got := string(w.reply("1").Result); first == "" {
						first = got
					} else if got != first {
						t.Errorf("%s: %s\nand then %s", name, first, got)
					}
				}
			}
		})
	}
}

func TestListsAndReadsSayHonestlyHowLongTheyStayTrueAndForWhom(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("a.md", "x")
	for i := range 300 {
		f.put(fmt.Sprintf("n%03d.md", i), "x")
	}
	w := f.open(modern)
	for _, row := range []struct {
		method, params string
		keeps          bool
	}{
		{"server/discover", "", true},
		{"tools/list", "", true},
		{"resources/templates/list", "", true},
		{"resources/list", "", false},
		{"resources/list", `"cursor":"` + nextPage(t, w) + `"`, false},
		{"resources/read", `"uri":"notes://a.md"`, false},
	} {
		w.send(modern.request("1", row.method, row.params))
		var res struct {
			TTLMs      *int64
			CacheScope string
		}
		m := w.reply("1")
		if err := json.Unmarshal(m.Result, &res); err != nil {
			t.Fatalf("%s: %v: %+v", row.method, err, m.Error)
		}
		if res.TTLMs == nil || *res.TTLMs > 0 != row.keeps || res.CacheScope != "private" {
			t.Errorf("%s: %.200s", row.method, m.Result)
		}
	}
}

// nextPage is the cursor behind the first page of resources.
func nextPage(t *testing.T, w *wire) string {
	t.Helper()
	w.send(modern.request("1", "resources/list", ""))
	var res struct{ NextCursor string }
	if err := json.Unmarshal(w.reply("1").Result, &res); err != nil || res.NextCursor == "" {
		t.Fatalf("no further page: %v", err)
	}
	return res.NextCursor
}

func TestAnUnknownPromptOrResourceIsAProtocolError(t *testing.T) {
	t.Parallel()
	eachEra(t, every, func(t *testing.T, e era) {
		f := newFolder(t)
		f.put("a.md", "x")
		w := f.open(e)
		for _, row := range [][2]string{
			{"resources/read", `"uri":"notes://b.md"`}, {"resources/read", `"uri":"tasks://board"`}, {"resources/read", `"uri":""`},
			{"resources/read", `"uri":"notes://%zz.md"`}, {"resources/read", `"uri":"notes://a%00.md"`}, {"resources/read", `"uri":"notes://a.md?x#y"`}, {"resources/read", ""},
			{"prompts/get", `"name":"nothing"`}, {"resources/list", `"cursor":"made up"`},
		} {
			w.send(e.request("1", row[0], row[1]))
			if m := w.reply("1"); m.Error == nil || m.Error.Code != -32602 && !(m.Error.Code == -32600 && row[1] == "") && !(row[0] == "prompts/get" && m.Error.Code == -32601) {
				t.Errorf("%s %s: %+v %s", row[0], row[1], m.Error, m.Result)
			}
		}
		w.send(e.request("1", "resources/read", `"uri":"notes://a.md"`))
		if m := w.reply("1"); m.Error != nil {
			t.Errorf("the session does not go on: %+v", m.Error)
		}
	})
}

// The task database is the file of exactly this name, whatever it is made of.
func TestTheTaskDatabaseIsTakenLiterallyFromTheEnvironmentAndTheFlag(t *testing.T) {
	t.Parallel()
	odd := []string{"a b.db", "x#frag?mode=memory.db", "100%41.db", "new\nline.db", "日本 🧾.db", ":memory:", "file:x.db", "-dash.db"}
	if runtime.GOOS == "windows" {
		odd = []string{"a b.db", "x#frag.db", "100%41.db", "日本 🧾.db", "-dash.db"}
	}
	for _, name := range odd {
		for _, by := range []string{"environment", "flag", "both"} {
			dir := t.TempDir()
			cmd := command(t, "")
			cmd.Dir, cmd.Env = dir, plainEnviron()
			switch by {
			case "environment":
				cmd.Env = append(cmd.Env, "TASKS_DB_PATH="+name)
			case "flag":
				cmd.Args = append(cmd.Args, "--db="+name)
			case "both":
				cmd.Env = append(cmd.Env, "TASKS_DB_PATH=other.db")
				cmd.Args = append(cmd.Args, "--db", name)
			}
			list, status := pipe(t, cmd, modern.call("1", "add_task", `{"title":"x"}`)+"\n")
			if status != 0 || len(list) != 1 || !list[0].envelope(t).OK {
				t.Errorf("%q by %s: status %d, %+v", name, by, status, list)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 1 || files[0].Name() != name {
				t.Errorf("%q by %s made %v, %v", name, by, files, err)
			}
		}
	}
	dir := t.TempDir()
	cmd := command(t, "")
	cmd.Dir, cmd.Env = dir, append(plainEnviron(), "TASKS_DB_PATH=")
	if _, status := pipe(t, cmd, modern.call("1", "add_task", `{"title":"x"}`)+"\n"); status != 0 {
		t.Errorf("status %d", status)
	}
	if _, err := os.Stat(filepath.Join(dir, "tasks.db")); err != nil {
		t.Errorf("where nothing names it, the database is not tasks.db in the working directory: %v", err)
	}
}

// The five tools and no others, whatever else is asked for.
func TestTheTaskServerHasItsFiveToolsAndReadOnlyLeavesTheTwoThatRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		want string
	}{
		{nil, "add_task complete_task delete_task list_tasks search_tasks"},
		{[]string{"--read-only"}, "list_tasks search_tasks"},
		{[]string{"--confirm", "ask"}, "add_task complete_task delete_task list_tasks search_tasks"},
	} {
		eachEra(t, both, func(t *testing.T, e era) {
			w := e.start(t, command(t, newDB(t), append([]string{"tasks"}, row.args...)...))
			w.send(e.request("1", "tools/list", ""))
			var list struct{ Tools json.RawMessage }
			if err := json.Unmarshal(w.reply("1").Result, &list); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(names(t, list.Tools), " "); got != row.want {
				t.Errorf("%v: %s, want %s", row.args, got, row.want)
			}
			w.send(e.call("1", "delete_task", `{"id":1,"confirm":true}`))
			if m := w.reply("1"); slices.Contains(row.args, "--read-only") != (m.Error != nil) {
				t.Errorf("%v: delete_task: %+v %s", row.args, m.Error, m.Result)
			}
		})
	}
}

// A client that cannot ask a person is told what to do, and nothing is deleted.
func TestADeleteThatNobodyConfirmedSaysHowUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ policy, args, code, says string }{
		{"argument", `{"id":1}`, "invalid_input", "confirm"},
		{"argument", `{"id":1,"confirm":false}`, "invalid_input", "confirm"},
		{"argument", `{"id":1,"confirm":"true"}`, "invalid_input", "confirm"},
		{"auto", `{"id":1}`, "confirmation_required", "confirm: true"},
		{"auto", `{"id":1,"confirm":false}`, "invalid_input", "confirm"},
		{"ask", `{"id":1}`, "confirmation_required", "elicitation"},
		{"ask", `{"id":1,"confirm":true}`, "invalid_input", "confirm"},
	} {
		eachEra(t, both, func(t *testing.T, e era) {
			db := newDB(t)
			w := e.start(t, command(t, db, "tasks", "--confirm", row.policy))
			e.do(w, "add_task", `{"title":"x"}`)
			if got := e.do(w, "delete_task", row.args); got.Err.Code != row.code || !strings.Contains(got.Err.Message, row.says) {
				t.Errorf("%s %s: %+v", row.policy, row.args, got)
			}
			if n := e.count(w); n != 1 {
				t.Errorf("%s %s: %d tasks", row.policy, row.args, n)
			}
			w.end()
			if got := audited(t, db, "delete_task", "rejected"); len(got) != 1 {
				t.Errorf("%s %s: recorded %v", row.policy, row.args, got)
			}
		})
	}
}

// Over HTTP the notes server gives one folder to everybody who has a token.
func TestOverHTTPAFolderThatUsersShareIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	env := []string{`MCP_AUTH_TOKENS_JSON={"ann":"` + strings.Repeat("a", 40) + `"}`, "XDG_STATE_HOME=" + f.state, "TASKS_DB_PATH=" + newDB(t)}
	const says = "everybody who has a token shares"
	if s := testenv.Serve(t, t.TempDir(), env, "workspace", "--root", f.root); !strings.Contains(s.Log(), says) {
		t.Errorf("workspace does not say that users share its root:\n%s", s.Log())
	}
	if s := testenv.Serve(t, t.TempDir(), env, "tasks"); strings.Contains(s.Log(), says) {
		t.Errorf("tasks, where they share nothing, says so:\n%s", s.Log())
	}
}
