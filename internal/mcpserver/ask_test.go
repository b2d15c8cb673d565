package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/store/sqlite"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// shelf holds things that can be destroyed.
type shelf struct {
	mu     sync.Mutex
	things map[int]string
}

type thing struct {
	ID int `json:"id"`
}

func (s *shelf) title(id int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.things[id] == "" {
		return "", fault.New(fault.NotFound, "no thing %d", id)
	}
	return s.things[id], nil
}

func (s *shelf) rename(id int, title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.things[id] = title
}

func (s *shelf) set() toolset.Set {
	return toolset.Set{Name: "shelf", Tools: []tool.Tool{tool.Confirmed(
		tool.Spec{Name: "destroy", Title: "Destroy", Doc: "Destroys."},
		func(_ context.Context, _ *tool.Call, in thing) (tool.Question, error) {
			title, err := s.title(in.ID)
			return tool.Question{Message: fmt.Sprintf("Destroy %d, %q?", in.ID, title), Target: title}, err
		},
		func(_ context.Context, _ *tool.Call, in thing) (thing, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.things, in.ID)
			return in, nil
		})}}
}

func newShelf() *shelf { return &shelf{things: map[int]string{1: "one", 2: "two", 3: "three"}} }

// asks is a modern client that can ask a person.
var asks = strings.Replace(modern, `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`, 1)

func destroy(id int, extra string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"destroy","arguments":{"id":%d}%s,%s}}`, id, extra, asks)
}

// answered is a retry with the answer to the question.
func answered(id int, state, answer string) string {
	quoted, err := json.Marshal(state)
	if err != nil {
		panic(err)
	}
	return destroy(id, `,"requestState":`+string(quoted)+`,"inputResponses":{"confirm":`+answer+`}`)
}

const yes = `{"action":"accept","content":{"confirm":true}}`

// question asks and returns the state.
func (w *web) question(t *testing.T, token string, id int) string {
	t.Helper()
	m := w.post(token, destroy(id, "")).message(t)
	state, _ := dig(m, "result", "requestState").(string)
	if dig(m, "result", "resultType") != "input_required" || state == "" || dig(m, "result", "inputRequests", "confirm", "method") != "elicitation/create" {
		t.Fatalf("no question: %v", m)
	}
	return state
}

func TestADeleteHappensOnlyOnAnIntactYesToThisVeryQuestion(t *testing.T) {
	s := newShelf()
	w := serveWeb(t, s.set(), nil)
	code := func(m map[string]any) any { return dig(m, "result", "structuredContent", "error", "code") }

	state := w.question(t, aliceToken, 1)
	flip := func(i int) string {
		b := []byte(state)
		if b[i] == 'A' {
			b[i] = 'B'
		} else {
			b[i] = 'A'
		}
		return string(b)
	}
	rows := []struct {
		name, token, body string
	}{
		{"the first character altered", aliceToken, answered(1, flip(0), yes)},
		{"a middle character altered", aliceToken, answered(1, flip(len(state)/2), yes)},
		{"the last character altered", aliceToken, answered(1, flip(len(state)-1), yes)},
		{"a line break behind it", aliceToken, answered(1, state+"\n", yes)},
		{"a line break in it", aliceToken, answered(1, state[:9]+"\r\n"+state[9:], yes)},
		{"cut short", aliceToken, answered(1, state[:len(state)-4], yes)},
		{"made up", aliceToken, answered(1, "abc", yes)},
		{"for another thing", aliceToken, answered(2, state, yes)},
		{"of another user", bobToken, answered(1, state, yes)},
		{"no answer", aliceToken, destroy(1, `,"requestState":"`+state+`"`)},
		{"an answer to something else", aliceToken, destroy(1, `,"requestState":"`+state+`","inputResponses":{"other":`+yes+`}`)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m := w.post(row.token, row.body).message(t)
			if code(m) != "declined" || !strings.Contains(fmt.Sprint(m), "nothing was changed") {
				t.Errorf("got %v", m)
			}
		})
	}
	for name, answer := range map[string]string{
		"declined":            `{"action":"decline"}`,
		"cancelled":           `{"action":"cancel"}`,
		"accepted but false":  `{"action":"accept","content":{"confirm":false}}`,
		"accepted but empty":  `{"action":"accept","content":{}}`,
		"accepted as a text":  `{"action":"accept","content":{"confirm":"true"}}`,
		"declined with a yes": `{"action":"decline","content":{"confirm":true}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := w.post(aliceToken, answered(1, w.question(t, aliceToken, 1), answer)).message(t)
			if code(m) != "declined" {
				t.Errorf("got %v", m)
			}
		})
	}
	if len(s.things) != 3 {
		t.Fatalf("destroyed: %v", s.things)
	}

	t.Run("too late", func(t *testing.T) {
		late := w.question(t, aliceToken, 1)
		w.clock.Add(301)
		if m := w.post(aliceToken, answered(1, late, yes)).message(t); code(m) != "declined" || !strings.Contains(fmt.Sprint(m), "too late") {
			t.Errorf("got %v", m)
		}
	})
	t.Run("renamed meanwhile", func(t *testing.T) {
		before := w.question(t, aliceToken, 1)
		s.rename(1, "something dear")
		if m := w.post(aliceToken, answered(1, before, yes)).message(t); code(m) != "declined" || s.things[1] == "" {
			t.Errorf("got %v", m)
		}
	})
	t.Run("a yes, and the same yes again", func(t *testing.T) {
		good := w.question(t, aliceToken, 1)
		if m := w.post(aliceToken, answered(1, good, yes)).message(t); dig(m, "result", "structuredContent", "ok") != true || s.things[1] != "" {
			t.Fatalf("got %v", m)
		}
		s.rename(1, "something dear") // as if it were there again
		if m := w.post(aliceToken, answered(1, good, yes)).message(t); code(m) != "declined" || s.things[1] == "" {
			t.Errorf("replayed: %v", m)
		}
	})
	t.Run("a client that cannot ask", func(t *testing.T) {
		m := w.post(aliceToken, call("1", "destroy", `{"id":2}`)).message(t)
		if code(m) != "confirmation_required" || s.things[2] == "" {
			t.Errorf("got %v", m)
		}
	})
	t.Run("what is not there is not asked about", func(t *testing.T) {
		if m := w.post(aliceToken, destroy(9, "")).message(t); code(m) != "not_found" {
			t.Errorf("got %v", m)
		}
	})
}

func TestAStateOfThePreviousSecretIsGoodWhileItIsAccepted(t *testing.T) {
	now := func() time.Time { return time.Unix(1, 0) }
	oldSecret, newSecret := strings.Repeat("o", 32), strings.Repeat("n", 32)
	make := func(secret string, previous ...string) *mcpserver.Seal {
		s, err := mcpserver.NewSeal(secret, previous, now)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ask := func(seal *mcpserver.Seal, body string) map[string]any {
		c := startWith(t, newShelf().set(), seal)
		c.send(body)
		m := c.next()
		c.rest()
		return m
	}
	state, _ := dig(ask(make(oldSecret), destroy(1, "")), "result", "requestState").(string)
	if m := ask(make(newSecret, oldSecret), answered(1, state, yes)); dig(m, "result", "structuredContent", "ok") != true {
		t.Errorf("rotated: %v", m)
	}
	if m := ask(make(newSecret), answered(1, state, yes)); dig(m, "result", "structuredContent", "error", "code") != "declined" {
		t.Errorf("rotated out: %v", m)
	}
}

func startWith(t *testing.T, set toolset.Set, seal *mcpserver.Seal) *session {
	t.Helper()
	s, err := mcpserver.New(actor.LocalUser(), mcpserver.Options{
		Name: "bench", Version: "1", Sets: []toolset.Set{set}, Seal: seal, Drain: patience,
		Door: tool.NewDoor(tool.Options{Log: audit.Nowhere{}, Policy: tool.Ask}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return run(t, s)
}

func TestAClientOfTheHandshakeEraIsAskedThroughElicitation(t *testing.T) {
	seal, err := mcpserver.NewSeal("", nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := newShelf()
	c := startWith(t, s.set(), seal)
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	c.next()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask := func(id int, answer string) map[string]any {
		t.Helper()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"destroy","arguments":{"id":%d}}}`, id, id))
		q := c.next()
		if q["method"] != "elicitation/create" || !strings.Contains(fmt.Sprint(dig(q, "params", "message")), "Destroy") {
			t.Fatalf("no question: %v", q)
		}
		number, err := json.Marshal(q["id"])
		if err != nil {
			t.Fatal(err)
		}
		c.send(strings.Replace(answer, "ID", string(number), 1))
		return c.next()
	}
	if m := ask(1, `{"jsonrpc":"2.0","id":ID,"result":{"action":"decline"}}`); dig(m, "result", "structuredContent", "error", "code") != "declined" {
		t.Errorf("declined: %v", m)
	}
	if m := ask(1, `{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"the dialog broke"}}`); dig(m, "result", "structuredContent", "error", "code") != "declined" {
		t.Errorf("an error of the client: %v", m)
	}
	if len(s.things) != 3 {
		t.Fatalf("destroyed: %v", s.things)
	}
	if m := ask(1, `{"jsonrpc":"2.0","id":ID,"result":{"action":"accept","content":{"confirm":true}}}`); dig(m, "result", "structuredContent", "ok") != true || len(s.things) != 2 {
		t.Errorf("accepted: %v, left %v", m, s.things)
	}
	// While a person thinks, other calls go on; and when input ends without an
	// answer, the call ends too.
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"destroy","arguments":{"id":2}}}`)
	c.next()
	c.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	if m := c.next(); m["id"] != "ping" {
		t.Errorf("meanwhile: %v", m)
	}
	rest := c.rest()
	if len(rest) != 1 || dig(rest[0], "result", "structuredContent", "error", "code") != "declined" || len(s.things) != 2 {
		t.Errorf("unanswered: %v, left %v", rest, s.things)
	}
}

func TestAConfirmationThatWasUsedIsUsedForEveryReplicaAndAfterARestart(t *testing.T) {
	secret := strings.Repeat("s", 32)
	path := filepath.Join(t.TempDir(), "tasks.db")
	replica := func() *mcpserver.Seal {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now, Report: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		seal, err := mcpserver.NewSeal(secret, nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		seal.SpendIn(db)
		return seal
	}
	send := func(seal *mcpserver.Seal, body string) map[string]any {
		c := startWith(t, newShelf().set(), seal)
		c.send(body)
		m := c.next()
		c.rest()
		return m
	}
	one, two := replica(), replica()
	state, _ := dig(send(one, destroy(1, "")), "result", "requestState").(string)
	if m := send(two, answered(1, state, yes)); dig(m, "result", "structuredContent", "ok") != true {
		t.Fatalf("the answer at another replica: %v", m)
	}
	for _, seal := range []*mcpserver.Seal{one, two, replica()} {
		if m := send(seal, answered(1, state, yes)); dig(m, "result", "structuredContent", "error", "code") != "declined" {
			t.Errorf("used again: %v", m)
		}
	}
}
