package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	other "github.com/mark3labs/mcp-go/client"
	othertransport "github.com/mark3labs/mcp-go/client/transport"
	othermcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/testenv"
)

// basicLibrary is a Go client library, reduced to what a session with the
// teaching server needs.
type basicLibrary interface {
	notesLibrary
	prompts(context.Context) (names []string, err error)
	prompt(ctx context.Context, name string, args map[string]string) (text string, err error)
	language(ctx context.Context, prefix string) ([]string, error)
	watch(ctx context.Context, uris ...string) error
}

// person answers what a client is asked, and hears what it is told.
type person struct {
	mu     sync.Mutex
	answer string // accept, decline or cancel; "" cannot be asked
	asked  []string
	heard  chan string // URIs of what changed
	steps  chan float64
}

func newPerson(answer string) *person {
	return &person{answer: answer, heard: make(chan string, 1000), steps: make(chan float64, 1000)}
}

func (p *person) ask(message string) (action string, content map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, message)
	if p.answer != "accept" {
		return p.answer, nil
	}
	return p.answer, map[string]any{"confirm": true}
}

func (p *person) will(answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.asked = answer, nil
}

// seat is where a client sits: over stdio on a database, or over HTTP with a
// token.
type seat struct {
	db         string
	url, token string
}

// withToken adds itself to every request.
type withToken string

func (b withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

type officialBasic struct{ officialNotes }

func dialOfficialBasic(t *testing.T, e era, at seat, p *person) basicLibrary {
	o := &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { p.heard <- r.Params.URI },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			p.steps <- r.Params.Progress
		},
	}
	if p.answer != "" {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			action, content := p.ask(r.Params.Message)
			return &mcp.ElicitResult{Action: action, Content: content}, nil
		}
	}
	var transport mcp.Transport = &mcp.CommandTransport{Command: command(t, at.db, "basic", "--db", at.db)}
	if at.url != "" {
		transport = &mcp.StreamableClientTransport{Endpoint: at.url, HTTPClient: &http.Client{Transport: withToken(at.token)}}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, o).
		Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: e.version})
	if err != nil {
		t.Fatal(err)
	}
	return officialBasic{officialNotes{official{session}}}
}

// call asks for progress where a test wants steps.
func (o officialBasic) call(ctx context.Context, tool string, args any) (json.RawMessage, int, error) {
	if tool != "process_steps" {
		return o.official.call(ctx, tool, args)
	}
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken("steps")
	res, err := o.CallTool(ctx, params)
	if err != nil {
		return nil, 0, err
	}
	raw, err := json.Marshal(res)
	return raw, 0, err
}

func (o officialBasic) prompts(ctx context.Context) (names []string, err error) {
	for p, err := range o.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, p.Name)
	}
	return names, nil
}

func (o officialBasic) prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	res, err := o.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(res.Messages)
	return string(raw), err
}

func (o officialBasic) language(ctx context.Context, prefix string) ([]string, error) {
	res, err := o.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "review-code"}, Argument: mcp.CompleteParamsArgument{Name: "language", Value: prefix},
	})
	if err != nil {
		return nil, err
	}
	return res.Completion.Values, nil
}

func (o officialBasic) watch(ctx context.Context, uris ...string) error {
	for _, uri := range uris {
		if err := o.subscribe(ctx, uri); err != nil {
			return err
		}
	}
	return nil
}

type markLabsBasic struct{ markLabsNotes }

// Elicit implements the library's handler.
func (p *person) Elicit(_ context.Context, r othermcp.ElicitationRequest) (*othermcp.ElicitationResult, error) {
	action, content := p.ask(r.Params.Message)
	out := &othermcp.ElicitationResult{}
	out.Action = othermcp.ElicitationResponseAction(action)
	if content != nil {
		out.Content = content
	}
	return out, nil
}

func dialMarkLabsBasic(t *testing.T, e era, at seat, p *person) basicLibrary {
	start := func(context.Context, string, []string, []string) (*exec.Cmd, error) {
		return command(t, at.db, "basic", "--db", at.db), nil
	}
	var transport othertransport.Interface = othertransport.NewStdioWithOptions(testenv.Binary(t), os.Environ(), nil, othertransport.WithCommandFunc(start))
	if at.url != "" {
		// Only the handshake era has a stream that stands beside the calls.
		options := []othertransport.StreamableHTTPCOption{othertransport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + at.token})}
		if !e.modern() {
			options = append(options, othertransport.WithContinuousListening())
		}
		var err error
		if transport, err = othertransport.NewStreamableHTTP(at.url, options...); err != nil {
			t.Fatal(err)
		}
	}
	options := []other.ClientOption{other.WithProtocolVersion(e.version)}
	if p.answer != "" {
		options = append(options, other.WithElicitationHandler(p))
	}
	client := other.NewClient(transport, options...)
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.OnNotification(func(n othermcp.JSONRPCNotification) {
		switch n.Method {
		case "notifications/resources/updated":
			uri, _ := n.Params.AdditionalFields["uri"].(string)
			p.heard <- uri
		case "notifications/progress":
			done, _ := n.Params.AdditionalFields["progress"].(float64)
			p.steps <- done
		}
	})
	var hello othermcp.InitializeRequest
	hello.Params.ClientInfo = othermcp.Implementation{Name: "e2e", Version: "1"}
	if _, err := client.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return markLabsBasic{markLabsNotes{markLabs{client}}}
}

func (m markLabsBasic) call(ctx context.Context, tool string, args any) (json.RawMessage, int, error) {
	if tool != "process_steps" {
		return m.markLabs.call(ctx, tool, args)
	}
	var req othermcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, args
	req.Params.Meta = &othermcp.Meta{ProgressToken: "steps"}
	res, err := m.CallTool(ctx, req)
	if err != nil {
		return nil, 0, err
	}
	raw, err := json.Marshal(res)
	return raw, 0, err
}

func (m markLabsBasic) prompts(ctx context.Context) (names []string, err error) {
	res, err := m.ListPrompts(ctx, othermcp.ListPromptsRequest{})
	if err != nil {
		return nil, err
	}
	for _, p := range res.Prompts {
		names = append(names, p.Name)
	}
	return names, nil
}

func (m markLabsBasic) prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	var req othermcp.GetPromptRequest
	req.Params.Name, req.Params.Arguments = name, args
	res, err := m.GetPrompt(ctx, req)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(res.Messages)
	return string(raw), err
}

func (m markLabsBasic) language(ctx context.Context, prefix string) ([]string, error) {
	var req othermcp.CompleteRequest
	req.Params.Ref = othermcp.PromptReference{Type: "ref/prompt", Name: "review-code"}
	req.Params.Argument.Name, req.Params.Argument.Value = "language", prefix
	res, err := m.Complete(ctx, req)
	if err != nil {
		return nil, err
	}
	return res.Completion.Values, nil
}

// watch is one subscription in the modern era, where this library has only one.
func (m markLabsBasic) watch(ctx context.Context, uris ...string) error {
	if m.ProtocolVersion() >= modern.version {
		_, err := m.ListenAsync(ctx, othermcp.SubscriptionFilter{ResourceSubscriptions: uris}, nil)
		return err
	}
	for _, uri := range uris {
		if err := m.subscribe(ctx, uri); err != nil {
			return err
		}
	}
	return nil
}

// goLibraries are the two, by the name of their tests.
var goLibraries = map[string]func(*testing.T, era, seat, *person) basicLibrary{
	"official": dialOfficialBasic, "mcp-go": dialMarkLabsBasic,
}

func TestTheTeachingServerWithGoClientsOverStdio(t *testing.T) {
	t.Parallel()
	for name, open := range goLibraries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEra(t, every, func(t *testing.T, e era) {
				db := newDB(t)
				basicSession(t, e, open, seat{db: db}, seat{db: db}, nil)
			})
		})
	}
}

func TestTheTeachingServerWithGoClientsOverHTTP(t *testing.T) {
	t.Parallel()
	p := servePair(t)
	for name, open := range goLibraries {
		// One after the other: the sessions share the users' tasks.
		for _, e := range every {
			t.Run(name+" "+e.version, func(t *testing.T) {
				basicSession(t, e, open, seat{url: p.one.URL, token: aliceToken}, seat{url: p.two.URL, token: aliceToken}, &seat{url: p.one.URL, token: bobToken})
			})
		}
	}
	verified(t, p.db)
}

// basicSession is clients/basic.mjs in short. mine and there are the same user
// at two processes over one database; stranger is another user, or nil.
func basicSession(t *testing.T, e era, open func(*testing.T, era, seat, *person) basicLibrary, mine, there seat, stranger *seat) {
	me := newPerson("decline")
	lib := open(t, e, mine, me)
	if lib.version() != e.version {
		t.Errorf("negotiated %s, asked for %s", lib.version(), e.version)
	}
	far := open(t, e, there, newPerson("")) // which cannot be asked
	want := func(lib basicLibrary, tool, args, code string, words ...string) json.RawMessage {
		t.Helper()
		raw, _, err := lib.call(t.Context(), tool, json.RawMessage(args))
		if err != nil {
			t.Fatalf("%s %s: %v", tool, args, err)
		}
		got := message{Result: raw}.envelope(t)
		if got.Err.Code != code || got.OK != (code == "") {
			t.Errorf("%s %s: %+v", tool, args, got)
		}
		for _, word := range words {
			if !strings.Contains(got.Err.Message+string(got.Data), word) {
				t.Errorf("%s %s: %s is missing in %+v %s", tool, args, word, got.Err, got.Data)
			}
		}
		return got.Data
	}
	want(lib, "multiply", `{"a":6,"b":7}`, "", "42")
	want(lib, "add", `{"a":6,"c":7}`, "invalid_input", "c", "b")
	want(lib, "current-time", `{"timeZone":"Asia/Shanghai"}`, "", "+08:00")
	want(lib, "process_steps", `{"steps":3,"delayMs":10}`, "", `"completed":3`)
	if first := <-me.steps; first != 1 {
		t.Errorf("the first progress is %v", first)
	}
	if names, err := lib.prompts(t.Context()); err != nil || !slices.Equal(sorted(names), []string{"review-code", "summarize-text"}) {
		t.Errorf("prompts %v, %v", names, err)
	}
	if text, err := lib.prompt(t.Context(), "review-code", map[string]string{"code": "x := 今", "language": "go"}); err != nil || !strings.Contains(text, "x := 今") {
		t.Errorf("prompt %s, %v", text, err)
	}
	if values, err := lib.language(t.Context(), "ty"); err != nil || !slices.Equal(values, []string{"typescript"}) {
		t.Errorf("completed to %v, %v", values, err)
	}
	if text, err := lib.read(t.Context(), "demo://greeting/%E4%BB%8A%E5%A4%A9"); err != nil || text != "Hello, 今天!" {
		t.Errorf("read %q, %v", text, err)
	}
	var made struct{ ID int64 }
	if err := json.Unmarshal(want(lib, "create_task", `{"title":"Überweisung","tags":["Bank"]}`, ""), &made); err != nil {
		t.Fatal(err)
	}
	uri, id := fmt.Sprintf("tasks://items/%d", made.ID), fmt.Sprintf(`{"id":%d}`, made.ID)
	if uris, err := lib.resources(t.Context()); err != nil || !slices.Contains(uris, uri) || !slices.Contains(uris, "tasks://board") {
		t.Errorf("resources %v, %v", uris, err)
	}
	if stranger != nil {
		his := open(t, e, *stranger, newPerson("accept"))
		if text, err := his.read(t.Context(), uri); err == nil {
			t.Errorf("another user reads %s", text)
		}
		want(his, "complete_task", id, "not_found")
		want(his, "delete_task", id, "not_found")
		his.close()
	}
	hears(t, lib, me, uri, func() { want(far, "complete_task", id, "") }, func() {
		// Completing twice changes nothing; a new task changes the board alone.
		want(far, "create_task", `{"title":"of another process"}`, "")
	})
	want(far, "delete_task", id, "confirmation_required")
	want(lib, "delete_task", id, "declined", "nothing was changed")
	if len(me.asked) != 1 || !strings.Contains(me.asked[0], "Überweisung") {
		t.Errorf("the person was asked %q", me.asked)
	}
	me.will("cancel")
	want(lib, "delete_task", id, "declined")
	me.will("accept")
	want(lib, "delete_task", id, "", `"deleted":true`)
	want(lib, "delete_task", id, "not_found")
	for _, l := range []basicLibrary{far, lib} {
		if err := l.close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
}

// hears proves that a client hears of the task's change, and of the board's. A
// library may subscribe in the background, so changes are made until it does.
func hears(t *testing.T, lib basicLibrary, p *person, uri string, change, again func()) {
	t.Helper()
	if err := lib.watch(t.Context(), "tasks://board", uri); err != nil {
		t.Fatalf("subscribing: %v", err)
	}
	give := time.After(patience)
	change()
	for heard := ""; heard != "tasks://board"; {
		select {
		case heard = <-p.heard:
			if heard != uri && heard != "tasks://board" {
				t.Errorf("heard of %s", heard)
			}
		case <-time.After(500 * time.Millisecond):
			again()
		case <-give:
			t.Fatal("heard of no change")
		}
	}
}
