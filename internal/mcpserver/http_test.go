package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

const (
	aliceToken = "alice-alice-alice-alice-alice-alice"
	bobToken   = "bob-bob-bob-bob-bob-bob-bob-bob-bob"
)

// web is a server over HTTP with two users.
type web struct {
	t       *testing.T
	url     string
	stop    context.CancelFunc
	over    chan error
	mu      sync.Mutex
	servers map[string]*mcpserver.Server
	clock   atomic.Int64
}

// server is a user's server, once the user has called.
func (w *web) server(user string) *mcpserver.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.servers[user]
}

func (w *web) now() time.Time { return time.Unix(w.clock.Load(), 0) }

func serveWeb(t *testing.T, set toolset.Set, change func(*mcpserver.HTTPOptions)) *web {
	t.Helper()
	w := &web{t: t, servers: map[string]*mcpserver.Server{}, over: make(chan error, 1)}
	w.clock.Store(1_000_000)
	tokens, err := mcpserver.NewTokens(map[string]string{"alice": aliceToken, "bob": bobToken})
	if err != nil {
		t.Fatal(err)
	}
	seal, err := mcpserver.NewSeal(strings.Repeat("s", 32), nil, w.now)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := tool.NewDoor(tool.Options{Log: audit.Nowhere{}, Policy: tool.Ask})
	o := mcpserver.HTTPOptions{
		Tokens: tokens, Listen: l.Addr().String(), Now: w.now, Logger: slog.New(slog.DiscardHandler),
		NewServer: func(who actor.Actor) (*mcpserver.Server, error) {
			s, err := mcpserver.New(who, mcpserver.Options{Name: "bench", Version: "1", Door: door, Sets: []toolset.Set{set}, Seal: seal})
			w.mu.Lock()
			w.servers[who.User] = s
			w.mu.Unlock()
			return s, err
		},
	}
	if change != nil {
		change(&o)
	}
	h, err := mcpserver.NewHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w.url, w.stop = "http://"+l.Addr().String(), stop
	go func() { w.over <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-w.over:
		case <-time.After(patience):
			t.Error("the server does not stop")
		}
	})
	return w
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

// message is the last JSON-RPC message of a reply, from JSON or from a stream.
func (r reply) message(t *testing.T) map[string]any {
	t.Helper()
	text := r.body
	for _, line := range strings.Split(r.body, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "" {
			text = data
		}
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	return m
}

// request makes a request; headers are "Name: value", and an empty value takes
// the header away.
func (w *web) request(method, path, token, body string, headers ...string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if strings.Contains(body, "io.modelcontextprotocol/protocolVersion") {
		var m struct {
			Method string
			Params struct{ Name, URI string }
		}
		if json.Unmarshal([]byte(body), &m) == nil {
			r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", m.Method)
			if name := m.Params.Name + m.Params.URI; name != "" {
				r.Header.Set("Mcp-Name", name)
			}
		}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

func (w *web) do(r *http.Request) reply {
	w.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

func (w *web) post(token, body string, headers ...string) reply {
	w.t.Helper()
	return w.do(w.request(http.MethodPost, "/mcp", token, body, headers...))
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// session opens a session of the handshake era.
func (w *web) session(token string) string {
	w.t.Helper()
	r := w.post(token, hello)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != http.StatusOK || id == "" {
		w.t.Fatalf("handshake: %d %s", r.status, r.body)
	}
	if r := w.post(token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id: "+id); r.status != http.StatusAccepted {
		w.t.Fatalf("initialized: %d %s", r.status, r.body)
	}
	return id
}

func TestOnlyKnownTokensOwnHostsAndOwnOriginsGetIn(t *testing.T) {
	w := serveWeb(t, newBench().set(false), func(o *mcpserver.HTTPOptions) { o.Origins = []string{"app.example.com"} })
	ping := call("1", "say", `{}`)
	rows := []struct {
		name    string
		token   string
		headers []string
		status  int
	}{
		{"a known token", aliceToken, nil, 200},
		{"no token", "", nil, 401},
		{"a wrong token", strings.Repeat("x", 35), nil, 401},
		{"a token cut short", aliceToken[:34], nil, 401},
		{"a token and more", aliceToken + "x", nil, 401},
		{"another scheme", "", []string{"Authorization: Basic " + aliceToken}, 401},
		{"the scheme in another case", "", []string{"Authorization: bearer " + aliceToken}, 200},
		{"a foreign host", aliceToken, []string{"Host: evil.example.com"}, 403},
		{"a foreign host that begins like ours", aliceToken, []string{"Host: localhost.evil.com"}, 403},
		{"localhost with a port", aliceToken, []string{"Host: localhost:1234"}, 200},
		{"our origin", aliceToken, []string{"Origin: https://app.example.com"}, 200},
		{"our origin with a port", aliceToken, []string{"Origin: https://app.example.com:8443"}, 200},
		{"a foreign origin", aliceToken, []string{"Origin: https://evil.example.com"}, 403},
		{"an origin that ends like ours", aliceToken, []string{"Origin: https://evilapp.example.com"}, 403},
		{"the origin null", aliceToken, []string{"Origin: null"}, 403},
		{"an origin with a user", aliceToken, []string{"Origin: https://app.example.com@evil.com"}, 403},
		{"a foreign origin without a token", "", []string{"Origin: https://evil.example.com"}, 403},
		{"a file", aliceToken, []string{"Origin: file://"}, 403},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := w.post(row.token, ping, row.headers...)
			if r.status != row.status {
				t.Errorf("%d %s, want %d", r.status, r.body, row.status)
			}
			if row.status == 401 && !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("no challenge: %v", r.header)
			}
			if row.status != 200 && strings.Contains(r.body, "alice") {
				t.Errorf("the refusal tells of a user: %s", r.body)
			}
		})
	}
	pre := w.do(w.request(http.MethodOptions, "/mcp", "", "", "Origin: https://app.example.com", "Access-Control-Request-Method: POST"))
	if pre.status != 204 || pre.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("preflight: %+v", pre)
	}
	if pre := w.do(w.request(http.MethodOptions, "/mcp", "", "", "Origin: https://evil.com", "Access-Control-Request-Method: POST")); pre.status != 403 || pre.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("foreign preflight: %+v", pre)
	}
	if r := w.do(w.request(http.MethodOptions, "/mcp", "", "")); r.status != 401 {
		t.Errorf("OPTIONS that is no preflight: %d", r.status)
	}
	for path, want := range map[string]int{"/health": 200, "/ready": 200, "/metrics": 200, "/": 404, "/mcp/": 404, "/health/": 404} {
		if r := w.do(w.request(http.MethodGet, path, "", "")); r.status != want {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if r := w.do(w.request(http.MethodGet, "/health", "", "", "Host: 10.1.2.3:3000")); r.status != 200 {
		t.Errorf("health skips the host check: %d", r.status)
	}
	if r := w.do(w.request(http.MethodGet, "/metrics", "", "")); strings.Contains(r.body, "alice") || !strings.Contains(r.body, `handrail_http_requests_total{path="/mcp"`) {
		t.Errorf("metrics: %.2000s", r.body)
	}
}

func TestAnUnsafeConfigurationDoesNotStart(t *testing.T) {
	tokens, err := mcpserver.NewTokens(map[string]string{"alice": aliceToken})
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name           string
		listen         string
		hosts, origins []string
		says           string
	}{
		{"every interface without lists", "0.0.0.0:3000", nil, nil, "allowed-hosts: required"},
		{"every interface, no host given", ":3000", nil, nil, "allowed-hosts: required"},
		{"every IPv6 interface", "[::]:3000", nil, nil, "allowed-origins: required"},
		{"hosts alone", "0.0.0.0:3000", []string{"mcp.example.com"}, nil, "allowed-origins: required"},
		{"origins alone", "0.0.0.0:3000", nil, []string{"app.example.com"}, "allowed-hosts: required"},
		{"a host with a scheme", "127.0.0.1:0", []string{"https://mcp.example.com"}, nil, `"https://mcp.example.com"`},
		{"a host with a port", "127.0.0.1:0", []string{"mcp.example.com:443"}, nil, `"mcp.example.com:443"`},
		{"an origin with a scheme", "127.0.0.1:0", nil, []string{"http://app"}, `"http://app"`},
		{"a wildcard", "127.0.0.1:0", []string{"*"}, nil, `"*"`},
	}
	for _, row := range rows {
		_, err := mcpserver.NewHTTP(mcpserver.HTTPOptions{Tokens: tokens, Listen: row.listen, Hosts: row.hosts, Origins: row.origins, Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	secret := "short-secret"
	for name, byUser := range map[string]map[string]string{
		"none":      {},
		"short":     {"alice": secret},
		"the same":  {"alice": aliceToken, "bob": aliceToken},
		"no name":   {"": aliceToken},
		"line feed": {"a\nb": aliceToken},
	} {
		if _, err := mcpserver.NewTokens(byUser); err == nil || strings.Contains(err.Error(), aliceToken) || strings.Contains(err.Error(), secret) {
			t.Errorf("tokens %s: %v", name, err)
		}
	}
	if _, err := mcpserver.NewSeal("too short", nil, time.Now); err == nil {
		t.Error("a short secret passes")
	}
	if _, err := mcpserver.NewSeal(strings.Repeat("s", 32), []string{"short"}, time.Now); err == nil {
		t.Error("a short previous secret passes")
	}
}

func TestBothErasAreServedOnOneURL(t *testing.T) {
	w := serveWeb(t, newBench().set(false), nil)
	if m := w.post(aliceToken, call("1", "say", `{"text":"hi"}`)).message(t); dig(m, "result", "structuredContent", "data", "text") != "hi" {
		t.Errorf("modern: %v", m)
	}
	id := w.session(aliceToken)
	legacy := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":{"text":"hi"}}}`
	if m := w.post(aliceToken, legacy, "Mcp-Session-Id: "+id).message(t); dig(m, "result", "structuredContent", "data", "text") != "hi" {
		t.Errorf("legacy: %v", m)
	}
	// A header that is missing is a mismatch, not an unknown version.
	r := w.post(aliceToken, call("1", "say", `{}`), "Mcp-Protocol-Version: ")
	if m := r.message(t); r.status != 400 || dig(m, "error", "code") != -32020.0 {
		t.Errorf("without the header: %d %v", r.status, m)
	}
	// The TypeScript client sends notifications without the method's header.
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	if r := w.post(aliceToken, cancelled, "Mcp-Protocol-Version: 2026-07-28"); r.status != 202 {
		t.Errorf("notification: %d %s", r.status, r.body)
	}
	if r := w.post(aliceToken, call("1", "say", `{}`), "Mcp-Method: "); r.status != 400 || dig(r.message(t), "error", "code") != -32020.0 {
		t.Errorf("a request without the method's header: %d %s", r.status, r.body)
	}
	// A name that is not ASCII comes encoded.
	read := ask(3, "resources/read", `"uri":"bench://item/今天"`)
	if m := w.post(aliceToken, read, "Mcp-Name: =?base64?YmVuY2g6Ly9pdGVtL+S7iuWkqQ==?=").message(t); dig(m, "error", "code") == -32020.0 {
		t.Errorf("encoded name: %v", m)
	}
	if r := w.do(w.request(http.MethodDelete, "/mcp", aliceToken, "", "Mcp-Session-Id: "+id)); r.status != 204 {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
	if r := w.post(aliceToken, legacy, "Mcp-Session-Id: "+id); r.status != 404 {
		t.Errorf("after DELETE: %d %s", r.status, r.body)
	}
}

func TestASessionOfSomebodyElseLooksLikeOneThatNeverWas(t *testing.T) {
	w := serveWeb(t, newBench().set(false), nil)
	id := w.session(aliceToken)
	body := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		send := body
		if method != http.MethodPost {
			send = ""
		}
		hers := w.do(w.request(method, "/mcp", bobToken, send, "Mcp-Session-Id: "+id))
		never := w.do(w.request(method, "/mcp", bobToken, send, "Mcp-Session-Id: "+strings.Repeat("A", len(id))))
		if hers.status != 404 || hers.status != never.status || hers.body != never.body {
			t.Errorf("%s: hers %d %q, never %d %q", method, hers.status, hers.body, never.status, never.body)
		}
	}
	if m := w.post(aliceToken, body, "Mcp-Session-Id: "+id).message(t); m["result"] == nil {
		t.Errorf("hers is gone: %v", m)
	}
	if m := w.post(aliceToken, ask(1, "resources/read", `"uri":"bench://item/1"`)).message(t); !strings.Contains(fmt.Sprint(m), "alice bench") {
		t.Errorf("alice reads %v", m)
	}
	if m := w.post(bobToken, ask(1, "resources/read", `"uri":"bench://item/1"`)).message(t); !strings.Contains(fmt.Sprint(m), "bob bench") {
		t.Errorf("bob reads %v", m)
	}
}

func TestABodyThatIsWrongGetsAClearError(t *testing.T) {
	w := serveWeb(t, newBench().set(false), nil)
	rows := []struct {
		name, body string
		headers    []string
		status     int
		code       any
	}{
		{"rubbish", `hello`, nil, 400, -32700.0},
		{"empty", ``, nil, 400, -32700.0},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}`, nil, 400, -32600.0},
		{"arguments twice", strings.Replace(call("1", "say", `{}`), `"arguments":{}`, `"arguments":{},"arguments":{}`, 1), nil, 400, -32602.0},
		{"an id that would be rounded", call("9007199254740993", "say", `{}`), nil, 400, -32600.0},
		{"an id with a fraction", call("1.5", "say", `{}`), nil, 400, -32600.0},
		{"another type", call("1", "say", `{}`), []string{"Content-Type: text/plain"}, 415, nil},
		{"no type", call("1", "say", `{}`), []string{"Content-Type: "}, 415, nil},
		{"too long", call("1", "say", `{"text":"`+strings.Repeat("a", 4<<20)+`"}`), nil, 413, nil},
		{"a name that differs from the body", call("1", "say", `{}`), []string{"Mcp-Name: put"}, 400, -32020.0},
		{"an unknown tool", call("1", "nope", `{}`), nil, 0, -32602.0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := w.post(aliceToken, row.body, row.headers...)
			if row.status != 0 && r.status != row.status {
				t.Fatalf("%d %.300s, want %d", r.status, r.body, row.status)
			}
			if row.code != nil && dig(r.message(t), "error", "code") != row.code {
				t.Errorf("%s, want code %v", r.body, row.code)
			}
		})
	}
}

func TestAUserIsHeldToTheRateAndOthersAreNot(t *testing.T) {
	w := serveWeb(t, newBench().set(false), func(o *mcpserver.HTTPOptions) { o.Rate, o.Burst = 1, 3 })
	statuses := func(token string, n int) (got []int) {
		for range n {
			got = append(got, w.post(token, call("1", "say", `{}`)).status)
		}
		return got
	}
	if got := fmt.Sprint(statuses(aliceToken, 4)); got != "[200 200 200 429]" {
		t.Errorf("alice: %s", got)
	}
	if r := w.post(aliceToken, call("1", "say", `{}`)); r.header.Get("Retry-After") != "1" {
		t.Errorf("no Retry-After: %v", r.header)
	}
	if got := fmt.Sprint(statuses(bobToken, 2)); got != "[200 200]" {
		t.Errorf("bob: %s", got)
	}
	w.clock.Add(2)
	if got := fmt.Sprint(statuses(aliceToken, 3)); got != "[200 200 429]" {
		t.Errorf("alice later: %s", got)
	}
}
