package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/internal/testenv"
)

// Field case 24: clients begin anew after a restart because they are told at
// once.
func TestASessionFromBeforeARestartIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	before := serveBasic(t, db)
	alice := as(t, before, aliceToken)
	session := alice.session(`{"elicitation":{}}`)
	id := alice.create("survives")
	state := alice.post(deletes(id, "")).message(t).state(t)
	before.Kill() // it was not even asked to stop

	after := serveBasic(t, db, "--listen", before.Addr)
	defer silent(t, after)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		body := ""
		if method == http.MethodPost {
			body = latest.call("1", "list_tasks", `{}`)
		}
		if g := alice.do(alice.request(method, "/mcp", body, inSession(session))); g.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", method, g.status, g.body)
		}
	}
	again := alice.session(`{}`)
	if e := alice.post(latest.call("1", "list_tasks", `{}`), inSession(again)).message(t).envelope(t); !strings.Contains(string(e.Data), "survives") {
		t.Errorf("anew: %+v %s", e.Err, e.Data)
	}
	// The secret is the same, so a question from before can be answered.
	if e := alice.post(deletes(id, answers(state, saysYes))).message(t).envelope(t); !e.OK {
		t.Errorf("answered after the restart: %+v", e)
	}
	if e := alice.post(deletes(id, answers(state, saysYes))).message(t).envelope(t); e.OK {
		t.Errorf("answered twice: %s", e.Data)
	}
}

// A question that one replica asks can be answered at another that has the same
// secret, or had it before, and at no other.
func TestAnAnswerIsGoodAtEveryReplicaWithTheSecret(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	asked := as(t, serveBasic(t, db), aliceToken)
	first, second, third := asked.create("one"), asked.create("two"), asked.create("three")
	ask := func(id int64) string { return asked.post(deletes(id, "")).message(t).state(t) }
	serve := func(env ...string) *caller {
		env = append([]string{"MCP_AUTH_TOKENS_JSON=" + tokens}, env...)
		return as(t, testenv.Serve(t, t.TempDir(), env, "basic", "--db", db), aliceToken)
	}
	const newer = "newer-newer-newer-newer-newer-newer"
	rotated := serve("REQUEST_STATE_SECRET="+newer, "REQUEST_STATE_SECRET_PREVIOUS="+stateSecret)
	other := serve("REQUEST_STATE_SECRET=" + newer)
	random := serve()

	state := ask(first)
	for name, replica := range map[string]*caller{"another secret": other, "a random secret": random} {
		if e := replica.post(deletes(first, answers(state, saysYes))).message(t).envelope(t); e.Err.Code != "declined" || !strings.Contains(e.Err.Message, "nothing was changed") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := rotated.post(deletes(first, answers(state, saysYes))).message(t).envelope(t); !e.OK {
		t.Errorf("the previous secret: %+v", e)
	}
	same := as(t, serveBasic(t, db), aliceToken)
	if e := same.post(deletes(second, answers(ask(second), saysYes))).message(t).envelope(t); !e.OK {
		t.Errorf("the same secret: %+v", e)
	}
	if e := same.post(deletes(third, answers(ask(third), saysNo))).message(t).envelope(t); e.Err.Code != "declined" {
		t.Errorf("a no at another replica: %+v", e)
	}
	if e := asked.call("complete_task", fmt.Sprintf(`{"id":%d}`, third)); !e.OK {
		t.Errorf("the row is gone: %+v", e)
	}
}

func TestStoppingCompletesCallsAndEndsSubscriptions(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := serveBasic(t, db)
	alice, bob := as(t, s, aliceToken), as(t, s, bobToken)
	ears := alice.listen(`"ears"`, `{"resourceSubscriptions":["tasks://board"]}`)
	session := bob.session(`{}`)
	old := bob.open(bob.request(http.MethodGet, "/mcp", "", inSession(session), "Accept: text/event-stream"))
	start := func(c *caller, e era, headers ...string) *stream {
		body := strings.Replace(e.call("1", "process_steps", `{"steps":10,"delayMs":100}`), `"arguments"`, `"_meta":{"progressToken":"p"},"arguments"`, 1)
		if e.modern() {
			body = strings.Replace(e.call("1", "process_steps", `{"steps":10,"delayMs":100}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
		}
		call := c.open(c.request(http.MethodPost, "/mcp", body, headers...))
		if m, _ := call.next(); m.Method != "notifications/progress" {
			t.Fatalf("a call begins with %+v", m)
		}
		return call
	}
	calls := []*stream{start(alice, modern), start(bob, latest, inSession(session))}
	s.Signal()
	if m, _ := ears.next(); string(m.ID) != `"ears"` || !strings.Contains(string(m.Result), `"complete"`) {
		t.Errorf("the subscription ended with %+v %s", m, m.Result)
	}
	if m, open := ears.next(); open {
		t.Errorf("the subscription said after its end: %+v", m)
	}
	if m, open := old.next(); open {
		t.Errorf("the old stream said at its end: %+v", m)
	}
	for _, call := range calls {
		for {
			m, open := call.next()
			if !open {
				t.Fatal("a running call was cut off")
			}
			if m.reply() {
				if e := m.envelope(t); !e.OK || !strings.Contains(string(e.Data), "10") {
					t.Errorf("a running call ended with %+v", e)
				}
				break
			}
		}
	}
	if status := s.Wait(); status != 0 {
		t.Errorf("exit status %d:\n%s", status, s.Log())
	}
	if _, err := alice.try(alice.request(http.MethodGet, "/health", "")); err == nil {
		t.Error("something still listens")
	}
	silent(t, s)
	if n := len(audited(t, db, "process_steps", "ok")); n != 2 {
		t.Errorf("%d calls on the record as done, and there were 2", n)
	}
	verified(t, db)
}

// A call that takes longer than the grace period is cut off, and the record
// says so.
func TestACallThatOutlastsTheGracePeriodIsCutOff(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := serveBasic(t, db)
	alice := as(t, s, aliceToken)
	body := strings.Replace(modern.call("1", "process_steps", `{"steps":100,"delayMs":10000}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	over := make(chan error, 1)
	go func() { _, err := alice.try(alice.request(http.MethodPost, "/mcp", body)); over <- err }()
	for deadline := 0; ; deadline++ { // until it runs
		if g := alice.do(alice.request(http.MethodGet, "/metrics", "")); strings.Contains(g.body, "handrail_calls 1\n") {
			break
		}
		if deadline > 1000 {
			t.Fatal("the call does not begin")
		}
	}
	s.Signal()
	s.Wait() // which fails the test where the server waits for the call
	if err := <-over; err == nil {
		t.Log("the call got an answer before it was cut off")
	}
	if entries := strings.Join(audited(t, db, "process_steps", "error"), ""); !strings.Contains(entries, "cancelled") {
		t.Errorf("the record says %q", entries)
	}
	verified(t, db)
	silent(t, s)
}

// The layouts of the original's database, before and after it knew users.
const (
	withoutUsers = `CREATE TABLE tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, completed INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL);
INSERT INTO tasks (title, completed, created_at) VALUES ('old and open', 0, '2026-01-02T03:04:05.678Z'), ('旧任务', 1, '2026-01-02T03:04:06.000Z');`
	withUsers = `CREATE TABLE tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL DEFAULT 'local', title TEXT NOT NULL, completed INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL);
INSERT INTO tasks (user_id, title, completed, created_at) VALUES ('local', 'old and open', 0, '2026-01-02T03:04:05.678Z'), ('local', '旧任务', 1, '2026-01-02T03:04:06.000Z'), ('alice', 'hers already', 0, '2026-01-02T03:04:07.000Z');`
)

// newestNode is the first Node with SQLite inside, as the original has it.
const newestNode = 24

func TestTheOriginalsDatabaseIsTakenOver(t *testing.T) {
	t.Parallel()
	node := testenv.NodeAtLeast(t, newestNode)
	for name, layout := range map[string]string{"without users": withoutUsers, "with users": withUsers} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db := filepath.Join(dir, "data", "tasks.db")
			if err := os.MkdirAll(filepath.Dir(db), 0o700); err != nil {
				t.Fatal(err)
			}
			make := `const {DatabaseSync} = require('node:sqlite'); const db = new DatabaseSync(process.argv[1]); db.exec(process.argv[2]); db.close();`
			if out, err := exec.CommandContext(t.Context(), node, "-e", make, db, layout).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			const localToken = "local-local-local-local-local-local"
			both := fmt.Sprintf(`MCP_AUTH_TOKENS_JSON={"local":%q,"alice":%q}`, localToken, aliceToken)
			s := testenv.Serve(t, dir, []string{both}, "basic") // finds data/tasks.db
			local, alice := as(t, s, localToken), as(t, s, aliceToken)
			var page struct {
				Tasks []struct {
					ID            int64
					Title, Status string
				}
			}
			if err := json.Unmarshal(local.call("list_tasks", `{}`).Data, &page); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(page.Tasks); got != "[{1 old and open open} {2 旧任务 done}]" {
				t.Errorf("local has %s", got)
			}
			hers := string(alice.call("list_tasks", `{}`).Data)
			if strings.Contains(hers, "old and open") || strings.Contains(hers, "hers already") != (name == "with users") {
				t.Errorf("alice has %s", hers)
			}
			if id := local.create("new"); id < 3 {
				t.Errorf("an id is used twice: %d", id)
			}
			// Over stdio everybody is local.
			cmd := exec.Command(testenv.Binary(t), "basic")
			cmd.Dir = dir
			list, status := pipe(t, cmd, modern.call("1", "list_tasks", `{}`)+"\n")
			if len(list) != 1 || status != 0 || !strings.Contains(string(list[0].envelope(t).Data), "旧任务") {
				t.Errorf("over stdio: %+v, status %d", list, status)
			}
		})
	}
}

func TestWhatStopsTheStartShowsNoSecret(t *testing.T) {
	t.Parallel()
	const short = "sh0rt-s3cret"
	rows := []struct {
		name string
		env  []string
		args []string
		says string
	}{
		{"a short token", []string{`MCP_AUTH_TOKENS_JSON={"alice":"` + short + `"}`}, nil, "32"},
		{"a token twice", []string{`MCP_AUTH_TOKENS_JSON={"alice":"` + aliceToken + `","bob":"` + aliceToken + `"}`}, nil, "same"},
		{"a user twice", []string{`MCP_AUTH_TOKENS_JSON={"alice":"` + aliceToken + `","alice":"` + bobToken + `"}`}, nil, "MCP_AUTH_TOKENS_JSON"},
		{"no JSON", []string{`MCP_AUTH_TOKENS_JSON=` + aliceToken}, nil, "MCP_AUTH_TOKENS_JSON"},
		{"no tokens", []string{`MCP_AUTH_TOKENS_JSON={}`}, nil, "token"},
		{"nothing", nil, nil, "token"},
		{"a short secret", []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "REQUEST_STATE_SECRET=" + short}, nil, "REQUEST_STATE_SECRET"},
		{"a short previous secret", []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "REQUEST_STATE_SECRET_PREVIOUS=" + short}, nil, "REQUEST_STATE_SECRET_PREVIOUS"},
		{"every interface", []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "MCP_HOST=0.0.0.0"}, nil, "allowed"},
		{"every interface, hosts alone", []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "MCP_ALLOWED_HOSTS=mcp.example.com"}, []string{"--host", "::"}, "origins"},
		{"a host with a port", []string{"MCP_AUTH_TOKENS_JSON=" + tokens, "MCP_ALLOWED_HOSTS=mcp.example.com:443"}, nil, "mcp.example.com:443"},
		{"a token as a flag", nil, []string{"--auth-tokens", tokens}, "auth-tokens"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"basic", "--http", "--port", "0", "--db", newDB(t)}, row.args...)
			cmd := exec.CommandContext(t.Context(), testenv.Binary(t), args...)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), row.env...)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 2 && cmd.ProcessState.ExitCode() != 1 {
				t.Fatalf("it starts: %v\n%s", err, out)
			}
			if !strings.Contains(string(out), row.says) {
				t.Errorf("it does not say %q: %s", row.says, out)
			}
			for _, secret := range []string{short, aliceToken, bobToken, stateSecret} {
				if strings.Contains(string(out), secret) && !strings.Contains(strings.Join(row.args, " "), secret) {
					t.Errorf("it shows %s: %s", secret, out)
				}
			}
		})
	}
}

// What stands between a client and a server ends a connection that is silent for
// long; a comment now and then keeps it.
func TestASilentStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	s := serveBasic(t, newDB(t))
	alice, bob := as(t, s, aliceToken), as(t, s, bobToken)
	alice.listen(`1`, `{"resourcesListChanged":true}`)
	bob.open(bob.request(http.MethodGet, "/mcp", "", inSession(bob.session(`{}`)), "Accept: text/event-stream"))
	for end := time.Now().Add(3 * patience); ; time.Sleep(100 * time.Millisecond) {
		if strings.Contains(alice.all(), "\n: ") && strings.Contains(bob.all(), "\n: ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no comment came: %q, %q", alice.all(), bob.all())
		}
	}
}

func TestOverStdioNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *wire {
		cmd := command(t, "", "basic", "--db", filepath.Join(dir, "tasks.db"), "--log-level", "debug")
		cmd.Env = append(cmd.Env, "REQUEST_STATE_SECRET="+stateSecret, "MCP_AUTH_TOKENS_JSON="+tokens)
		return dial(t, cmd)
	}
	w := open()
	w.send(modern.call("1", "create_task", `{"title":"one"}`))
	w.reply("1")
	w.send(deletes(1, ""))
	state := w.reply("1").state(t)
	for _, extra := range []string{
		answers(state+"x", saysYes), answers(state[1:], saysYes), answers(state, saysNo), answers(state, saysYes),
		`,"requestState":"` + state + `"`, `,"requestState":7`, `,"requestState":"` + state + `","inputResponses":{"confirm":7}`,
	} {
		w.send(deletes(1, extra))
		w.reply("1")
	}
	w.end()
	tells(t, "log", w.stderr.String())

	w = open()
	w.raw(strings.Replace(latest.hello(), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
	w.reply(`"hello"`)
	for _, answer := range []string{`"result":` + saysNo, `"error":{"code":-1,"message":"the dialog broke"}`, `"result":{"action":7}`, `"result":{}`} {
		w.send(latest.call("2", "delete_task", `{"id":1}`))
		question, _ := w.next()
		if question.Method != "elicitation/create" {
			t.Fatalf("asked with %+v", question)
		}
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, question.ID, answer))
		if e := w.reply("2").envelope(t); e.Err.Code != "declined" {
			t.Errorf("%s: %+v", answer, e)
		}
	}
	w.end()
	tells(t, "log", w.stderr.String())
}
