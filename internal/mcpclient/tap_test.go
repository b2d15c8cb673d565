package mcpclient_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"handrail/internal/mcpclient"
	"handrail/internal/testenv"
)

const token = "a-token-of-more-than-thirty-two-bytes"

// tapped collects what goes over the wire.
type tapped struct {
	mu   sync.Mutex
	list []mcpclient.Message
}

func (w *tapped) tap(m mcpclient.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, m)
}

// has reports whether a message of this direction holds all of these texts.
func (w *tapped) has(sent bool, texts ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.list, func(m mcpclient.Message) bool {
		all := m.HTTP + "\n" + strings.Join(m.Headers, "\n") + "\n" + string(m.JSON)
		return m.Sent == sent && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(all, text) })
	})
}

// launch starts the basic preset over HTTP.
func launch(t *testing.T) *mcpclient.Process {
	t.Helper()
	dir := t.TempDir()
	p, err := mcpclient.Launch(t.Context(), mcpclient.Server{
		Path: testenv.Binary(t), Dir: dir,
		Args:    []string{"basic", "--http", "--listen", "127.0.0.1:0", "--db", filepath.Join(dir, "tasks.db")},
		Without: []string{"HANDRAIL_READ_ONLY", "HANDRAIL_LOG_LEVEL"},
		Env:     []string{`MCP_AUTH_TOKENS_JSON={"ann":"` + token + `"}`},
	}, listening)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func listening(line []byte) string {
	var entry struct{ Msg, URL string }
	if json.Unmarshal(line, &entry) != nil || entry.Msg != "listening" {
		return ""
	}
	return entry.URL
}

func TestEveryMessageIsShownOnBothTransportsInBothEras(t *testing.T) {
	p := launch(t)
	for _, version := range []string{mcpclient.Modern, mcpclient.Legacy} {
		for _, http := range []bool{false, true} {
			var w tapped
			c := mcpclient.Client{Name: "test", Version: version, Tap: w.tap}
			var s *mcpclient.Session
			var err error
			if http {
				s, err = mcpclient.Dial(t.Context(), p.URL, token, c)
			} else {
				basic := server(t)
				basic.Args[0] = "basic"
				s, err = mcpclient.Start(t.Context(), basic, c)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.CallFollowed(t.Context(), "process_steps", json.RawMessage(`{"steps":2}`), "walk"); err != nil {
				t.Fatal(err)
			}
			begin := "server/discover"
			if version == mcpclient.Legacy {
				begin = `"initialize"`
			}
			if !w.has(true, begin) || !w.has(true, "tools/call", "process_steps") || !w.has(false, "notifications/progress", "walk") || !w.has(false, `"completed":2`) {
				t.Errorf("%s, http %v: not everything was shown: %+v", version, http, w.list)
			}
			if http && (!w.has(true, "POST /mcp", "Mcp-Protocol-Version: "+version, "Authorization: Bearer") || !w.has(false, "200 OK")) {
				t.Errorf("%s: the headers were not shown", version)
			}
			if w.has(true, token) || w.has(false, token) {
				t.Error("the token was shown")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAPersonIsAskedInBothErasOnBothTransports(t *testing.T) {
	p := launch(t)
	for _, version := range []string{mcpclient.Modern, mcpclient.Legacy} {
		for _, http := range []bool{false, true} {
			var asked mcpclient.Question
			c := mcpclient.Client{Name: "test", Version: version, Person: func(q mcpclient.Question) mcpclient.Reply {
				asked = q
				return mcpclient.Reply{Action: "accept", Content: map[string]any{"confirm": true}}
			}}
			var s *mcpclient.Session
			var err error
			if http {
				s, err = mcpclient.Dial(t.Context(), p.URL, token, c)
			} else {
				basic := server(t)
				basic.Args[0] = "basic"
				s, err = mcpclient.Start(t.Context(), basic, c)
			}
			if err != nil {
				t.Fatal(err)
			}
			made, err := s.Call(t.Context(), "create_task", json.RawMessage(`{"title":"short-lived"}`))
			if err != nil {
				t.Fatal(err)
			}
			var e struct{ Data struct{ ID json.RawMessage } }
			if err := json.Unmarshal(made.Content, &e); err != nil {
				t.Fatal(err)
			}
			gone, err := s.Call(t.Context(), "delete_task", json.RawMessage(`{"id":`+string(e.Data.ID)+`}`))
			if err != nil || gone.Failed || !strings.Contains(asked.Text, "short-lived") || !strings.Contains(string(asked.Form), "confirm") {
				t.Errorf("%s, http %v: asked %+v, got %+v, %v", version, http, asked, gone, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAWrongTokenAndAServerThatIsGoneAreErrors(t *testing.T) {
	p := launch(t)
	var w tapped
	if _, err := mcpclient.Dial(t.Context(), p.URL, "wrong", mcpclient.Client{Name: "test", Version: mcpclient.Modern, Tap: w.tap}); err == nil {
		t.Error("a wrong token was accepted")
	}
	if !w.has(false, "401 Unauthorized", "Www-Authenticate: Bearer") {
		t.Errorf("the refusal was not shown: %+v", w.list)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := mcpclient.Dial(t.Context(), p.URL, token, mcpclient.Client{Name: "test", Version: mcpclient.Modern}); err == nil {
		t.Error("a server that is gone was connected to")
	}
}

func TestAServerThatNeverListensIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := mcpclient.Launch(ctx, mcpclient.Server{Path: testenv.Binary(t), Args: []string{"version"}}, listening)
	if err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("got %v", err)
	}
	_, err = mcpclient.Launch(ctx, mcpclient.Server{Path: testenv.Binary(t), Args: []string{"--bogus"}}, listening)
	if err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("got %v", err)
	}
	if _, err := mcpclient.Launch(ctx, mcpclient.Server{Path: filepath.Join(t.TempDir(), "nothing")}, listening); err == nil {
		t.Error("a program that is not there was started")
	}
}
