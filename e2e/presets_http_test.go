package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

func TestTheTaskServerOverHTTPKeepsUsersApart(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := testenv.Serve(t, t.TempDir(), []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "TASKS_DB_PATH=" + db}, "tasks", "--log-level", "debug")
	alice, bob := as(t, s, aliceToken), as(t, s, bobToken)
	session := alice.session(`{}`)
	inEach := map[string]func(c *caller, tool, args string) envelope{
		"modern": func(c *caller, tool, args string) envelope { return c.call(tool, args) },
		"legacy": func(c *caller, tool, args string) envelope {
			id := session
			if c == bob {
				id = bob.session(`{}`)
			}
			return c.post(latest.call("1", tool, args), inSession(id)).message(t).envelope(t)
		},
	}
	for era, call := range inEach {
		if e := call(alice, "add_task", `{"title":"hers"}`); !e.OK {
			t.Fatalf("%s: %+v", era, e)
		}
		for _, list := range [][2]string{{"list_tasks", `{}`}, {"search_tasks", `{"query":"hers"}`}} {
			if e := call(bob, list[0], list[1]); !e.OK || strings.Contains(string(e.Data), "hers") {
				t.Errorf("%s: %s: %+v %s", era, list[0], e.Err, e.Data)
			}
			if e := call(alice, list[0], list[1]); !strings.Contains(string(e.Data), "hers") {
				t.Errorf("%s: hers: %+v %s", era, e.Err, e.Data)
			}
		}
		for _, args := range []string{`{"id":1,"confirm":true}`, `{"id":2,"confirm":true}`} {
			if e := call(bob, "delete_task", args); e.Err.Code != "not_found" {
				t.Errorf("%s: %+v", era, e)
			}
		}
		if e := call(alice, "delete_task", `{"id":1}`); e.Err.Code != "invalid_input" {
			t.Errorf("%s: %+v", era, e)
		}
	}
	if e := alice.call("delete_task", `{"id":1,"confirm":true}`); !e.OK {
		t.Errorf("hers: %+v", e)
	}
	silent(t, s)
	verified(t, db)
}

func TestTheNotesServerOverHTTPSharesItsFolderAndSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "notes")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "shared.md"), []byte("# Shared\nfor all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := testenv.Serve(t, dir, []string{"MCP_AUTH_TOKENS_JSON=" + tokens}, "workspace", "--root", root, "--allow-write", "notes_append", "--audit-db", filepath.Join(dir, "audit.db"), "--log-level", "debug")
	alice, bob := as(t, s, aliceToken), as(t, s, bobToken)
	if !strings.Contains(s.Log(), "everybody who has a token shares") {
		t.Errorf("stderr does not say that the folder is shared:\n%s", s.Log())
	}
	ears := bob.listen(`1`, `{"resourceSubscriptions":["notes://shared.md"]}`)
	if e := alice.call("notes_append", `{"path":"shared.md","content":"from alice"}`); !e.OK {
		t.Fatalf("%+v", e)
	}
	if m, _ := ears.next(); m.uri() != "notes://shared.md" {
		t.Errorf("bob heard %+v", m)
	}
	session := bob.session(`{}`)
	if e := bob.post(latest.call("1", "notes_read", `{"path":"shared.md"}`), inSession(session)).message(t).envelope(t); !strings.Contains(string(e.Data), "from alice") {
		t.Errorf("bob reads %+v %s", e.Err, e.Data)
	}
	if m := bob.ask("resources/read", `"uri":"notes://shared.md"`); !strings.Contains(string(m.Result), "from alice") {
		t.Errorf("bob reads %+v %s", m.Error, m.Result)
	}
	for _, e := range []envelope{bob.call("notes_read", `{"path":"../audit.db"}`), bob.call("notes_list", `{"folder":"/"}`)} {
		if e.OK || strings.Contains(e.Err.Message, dir) {
			t.Errorf("%+v %s", e.Err, e.Data)
		}
	}
	silent(t, s)
	if out, status := run(t, "", "audit", "list", "--db", filepath.Join(dir, "audit.db"), "--json", "--tool", "notes_append"); status != 0 || !strings.Contains(out, `"alice"`) {
		t.Errorf("the record does not say who: status %d: %s", status, out)
	}
}
