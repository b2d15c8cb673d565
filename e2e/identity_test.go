package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The words that only alice's data holds.
const hers = "Quittenmarmelade"

// deletes is a delete_task by a client that can ask a person; extra goes into
// the parameters.
func deletes(id int64, extra string) string {
	body := modern.request("1", "tools/call", fmt.Sprintf(`"name":"delete_task","arguments":{"id":%d}%s`, id, extra))
	return strings.Replace(body, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)
}

func answers(state, answer string) string {
	return fmt.Sprintf(`,"requestState":%q,"inputResponses":{"confirm":%s}`, state, answer)
}

const (
	saysYes = `{"action":"accept","content":{"confirm":true}}`
	saysNo  = `{"action":"decline"}`
)

// create makes a task and returns its id.
func (c *caller) create(title string) int64 {
	c.t.Helper()
	e := c.call("create_task", fmt.Sprintf(`{"title":%q}`, title))
	var task struct{ ID int64 }
	if err := json.Unmarshal(e.Data, &task); err != nil || !e.OK {
		c.t.Fatalf("create_task: %+v", e)
	}
	return task.ID
}

func TestNoUserLearnsOfAnother(t *testing.T) {
	t.Parallel()
	p := servePair(t)
	alice, bob := as(t, p.one, aliceToken), as(t, p.one, bobToken)
	var ids []int64
	for i := range 230 { // more than a page of resources
		ids = append(ids, alice.create(fmt.Sprintf("%s %d", hers, i)))
	}
	last := ids[len(ids)-1]
	aliceList := cursorOf(t, alice.ask("tools/call", `"name":"list_tasks","arguments":{"limit":2}`))
	aliceFilter := cursorOf(t, alice.ask("tools/call", `"name":"list_tasks","arguments":{"limit":2,"filter":{"status":"open"}}`))
	alicePage := cursorOf(t, alice.ask("resources/list", ""))
	aliceState := alice.post(deletes(last, "")).message(t).state(t)
	aliceSession := alice.session(`{"elicitation":{}}`)
	id := func(n int64) string { return fmt.Sprintf(`{"id":%d}`, n) }

	t.Run("by her session", func(t *testing.T) {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			body := ""
			if method == http.MethodPost {
				body = latest.request("1", "tools/list", "")
			}
			for _, extra := range []string{"X-Nothing: x", "Last-Event-ID: 0_0", "Mcp-Protocol-Version: 2025-11-25"} {
				herSession := bob.do(bob.request(method, "/mcp", body, inSession(aliceSession), extra))
				noSession := bob.do(bob.request(method, "/mcp", body, inSession(strings.Repeat("A", len(aliceSession))), extra))
				if herSession.status != 404 || herSession.status != noSession.status || herSession.body != noSession.body {
					t.Errorf("%s: hers %d %q, none %d %q", method, herSession.status, herSession.body, noSession.status, noSession.body)
				}
			}
		}
		if g := alice.post(latest.call("1", "list_tasks", `{"limit":1}`), inSession(aliceSession)); g.status != 200 {
			t.Errorf("her session is gone: %d %s", g.status, g.body)
		}
	})
	t.Run("by her cursors", func(t *testing.T) {
		for _, args := range []string{`{"limit":2,"cursor":"` + aliceList + `"}`, `{"limit":2,"filter":{"status":"open"},"cursor":"` + aliceFilter + `"}`} {
			if e := bob.call("list_tasks", args); e.OK && strings.Contains(string(e.Data), `"id"`) {
				t.Errorf("%s: %s", args, e.Data)
			}
		}
		if m := bob.ask("resources/list", `"cursor":"`+alicePage+`"`); strings.Contains(string(m.Result), "tasks://items") {
			t.Errorf("%s", m.Result)
		}
	})
	t.Run("by her request state", func(t *testing.T) {
		for _, answer := range []string{saysYes, saysNo} {
			if e := bob.post(deletes(last, answers(aliceState, answer))).message(t).envelope(t); e.Err.Code != "not_found" {
				t.Errorf("%+v", e)
			}
		}
		own := bob.create("bob's own")
		if e := bob.post(deletes(own, answers(aliceState, saysYes))).message(t).envelope(t); e.Err.Code != "declined" {
			t.Errorf("for his own task: %+v", e)
		}
		if e := alice.post(deletes(last, answers(aliceState, saysNo))).message(t).envelope(t); e.Err.Code != "declined" {
			t.Errorf("hers: %+v", e)
		}
	})
	t.Run("by ids", func(t *testing.T) {
		mask := regexp.MustCompile(`\d+`)
		for _, body := range []func(int64) string{
			func(n int64) string { return modern.call("1", "complete_task", id(n)) },
			func(n int64) string { return deletes(n, "") },
		} {
			there, nowhere := bob.post(body(last)).message(t).envelope(t), bob.post(body(987_654)).message(t).envelope(t)
			if there.Err.Code != "not_found" || mask.ReplaceAllString(there.Err.Message, "N") != mask.ReplaceAllString(nowhere.Err.Message, "N") {
				t.Errorf("hers %+v, none %+v", there, nowhere)
			}
		}
		for _, path := range []string{"%d", "0%d", "%d/", "%%3%d", "%d?user=1", "%d#x"} {
			m := bob.ask("resources/read", `"uri":"tasks://items/`+fmt.Sprintf(path, last)+`"`)
			if m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("%s: %+v %s", path, m.Error, m.Result)
			}
		}
		there, nowhere := bob.ask("resources/read", fmt.Sprintf(`"uri":"tasks://items/%d"`, last)), bob.ask("resources/read", `"uri":"tasks://items/987654"`)
		if mask.ReplaceAllString(there.Error.Message, "N") != mask.ReplaceAllString(nowhere.Error.Message, "N") {
			t.Errorf("hers %+v, none %+v", there.Error, nowhere.Error)
		}
	})
	t.Run("by lists, boards, searches and completions", func(t *testing.T) {
		for _, m := range []message{
			bob.ask("resources/list", ""), bob.ask("resources/read", `"uri":"tasks://board"`), bob.ask("resources/templates/list", ""),
			bob.ask("tools/call", `"name":"list_tasks","arguments":{}`), bob.ask("tools/list", ""), bob.ask("server/discover", ""),
			bob.ask("completion/complete", `"ref":{"type":"ref/resource","uri":"tasks://items/{id}"},"argument":{"name":"id","value":""}`),
			bob.ask("resources/read", `"uri":"handrail://bell"`),
		} {
			if m.Error == nil && strings.Contains(string(m.Result), hers) {
				t.Errorf("%s", m.Result)
			}
		}
	})
	t.Run("by saying to be her", func(t *testing.T) {
		for _, header := range []string{"X-User: alice", "X-Forwarded-User: alice", "Mcp-User: alice", "X-Remote-User: alice", "Cookie: user=alice", "From: alice"} {
			m := bob.post(modern.request("1", "resources/read", `"uri":"tasks://board"`), header).message(t)
			if !strings.Contains(string(m.Result), `\"user\":\"bob\"`) {
				t.Errorf("%s: %s %+v", header, m.Result, m.Error)
			}
		}
		meta := strings.Replace(modern.request("1", "resources/read", `"uri":"tasks://board"`), `"_meta":{`, `"user":"alice","_meta":{"user":"alice","userId":"alice",`, 1)
		if m := bob.post(meta).message(t); !strings.Contains(string(m.Result), `\"user\":\"bob\"`) {
			t.Errorf("%s %+v", m.Result, m.Error)
		}
		nobody := as(t, p.one, "")
		body := modern.call("1", "list_tasks", `{}`)
		for _, path := range []string{"/mcp?access_token=" + aliceToken, "/mcp?token=" + aliceToken + "&user=alice", "/mcp"} {
			if g := nobody.do(nobody.request(http.MethodPost, path, body)); g.status != 401 {
				t.Errorf("%s: %d %s", path[:8], g.status, g.body)
			}
		}
		for _, value := range []string{"Bearer " + aliceToken + ", Bearer " + bobToken, "Bearer", "Bearer  ", "Basic " + aliceToken, aliceToken, "Bearer " + strings.ToUpper(aliceToken)} {
			if g := nobody.do(nobody.request(http.MethodPost, "/mcp", body, "Authorization: "+value)); g.status != 401 {
				t.Errorf("%s: %d %s", value, g.status, g.body)
			}
		}
		r := nobody.request(http.MethodPost, "/mcp", body)
		r.Header["Authorization"] = []string{"Bearer " + bobToken, "Bearer " + aliceToken}
		if g := nobody.do(r); g.status != 401 {
			t.Errorf("two tokens: %d %s", g.status, g.body)
		}
		if shown := nobody.all(); strings.Contains(shown, hers) || strings.Contains(shown, "alice") {
			t.Errorf("nobody was shown something of hers")
		}
	})
	t.Run("by cancelling or answering for her", func(t *testing.T) {
		// Her session asks its person; his answers and cancels with every id it could have.
		asks := alice.open(alice.request(http.MethodPost, "/mcp", latest.request("77", "tools/call", `"name":"delete_task","arguments":`+id(last)), inSession(aliceSession)))
		question, _ := asks.next()
		if question.Method != "elicitation/create" {
			t.Fatalf("asked with %+v", question)
		}
		his := bob.session(`{"elicitation":{}}`)
		for _, session := range []string{his, aliceSession} {
			bob.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, question.ID, saysYes), inSession(session))
			bob.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, inSession(session))
		}
		bob.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, "Mcp-Protocol-Version: "+modern.version)
		if e := alice.call("complete_task", id(last)); !e.OK {
			t.Errorf("her task is gone: %+v", e)
		}
		alice.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, question.ID, saysNo), inSession(aliceSession))
		if m, _ := asks.next(); string(m.ID) != "77" || m.envelope(t).Err.Code != "declined" {
			t.Errorf("her call ended with %+v", m)
		}
	})
	t.Run("by subscriptions", func(t *testing.T) {
		uris := fmt.Sprintf(`["tasks://board","tasks://items/%d","tasks://items/%d","handrail://bell"]`, last, last+1)
		ears := bob.listen(`"ears"`, `{"resourceSubscriptions":`+uris+`,"resourcesListChanged":true,"toolsListChanged":true,"promptsListChanged":true}`)
		his := bob.session(`{}`)
		old := bob.open(bob.request(http.MethodGet, "/mcp", "", inSession(his), "Accept: text/event-stream"))
		for _, uri := range []string{"tasks://board", fmt.Sprintf("tasks://items/%d", last), "handrail://bell"} {
			bob.post(latest.request("1", "resources/subscribe", fmt.Sprintf(`"uri":%q`, uri)), inSession(his))
		}
		alice.create(hers + " once more")
		alice.call("complete_task", id(ids[0]))
		as(t, p.two, aliceToken).call("complete_task", id(ids[1])) // by another process too
		ears2 := alice.listen(`"hers"`, `{"resourceSubscriptions":["tasks://board"]}`)
		alice.call("complete_task", id(ids[2]))
		if m, _ := ears2.next(); m.uri() != "tasks://board" {
			t.Errorf("she heard %+v", m)
		}
		// What he hears first is of his own.
		own := bob.create("the first that he hears of")
		want := []string{"tasks://board", fmt.Sprintf("tasks://items/%d", own), ""}
		for _, s := range []*stream{ears, old} {
			if m, _ := s.next(); !slices.Contains(want, m.uri()) || m.uri() == "" && m.Method != "notifications/resources/list_changed" {
				t.Errorf("he heard %s %s", m.Method, m.Params)
			}
		}
	})
	t.Run("by what is open to everybody", func(t *testing.T) {
		for _, path := range []string{"/health", "/ready", "/metrics", "/", "/mcp/", "/debug/pprof/", "/.well-known/oauth-protected-resource"} {
			g := bob.do(bob.request(http.MethodGet, path, "", "Authorization: "))
			for _, word := range []string{hers, "alice", "bob", aliceToken, bobToken, stateSecret, aliceSession} {
				if strings.Contains(g.body, word) {
					t.Errorf("%s tells of %s: %s", path, word, g.body)
				}
			}
			if found := requestState.FindString(g.body); found != "" {
				t.Errorf("%s holds %s", path, found)
			}
		}
	})
	shown := bob.all()
	for _, word := range []string{hers, "alice", aliceSession, aliceToken, bobToken, stateSecret} {
		if i := strings.Index(shown, word); i >= 0 {
			t.Errorf("bob was shown %q: …%s", word, shown[max(0, i-200):min(len(shown), i+100)])
		}
	}
	verified(t, p.db)
}

// cursorOf is the nextCursor of a list's result, or of its data.
func cursorOf(t *testing.T, m message) string {
	t.Helper()
	found := regexp.MustCompile(`"nextCursor":"([^"]+)"`).FindSubmatch(m.Result)
	if found == nil {
		t.Fatalf("no cursor in %+v %.300s", m.Error, m.Result)
	}
	return string(found[1])
}
