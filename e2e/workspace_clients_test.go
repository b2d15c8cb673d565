package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	other "github.com/mark3labs/mcp-go/client"
	othertransport "github.com/mark3labs/mcp-go/client/transport"
	othermcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/testenv"
)

// workspaceScript runs one of clients/ against the notes server and reports what
// it found; least is how many checks there are.
func workspaceScript(t *testing.T, least int, name string, words ...string) {
	t.Helper()
	t.Parallel()
	node := testenv.Node(t)
	if why := modules(); why != "" {
		testenv.LeftOut(t, why)
	}
	args := append([]string{filepath.Join("clients", name)}, words...)
	cmd := exec.CommandContext(t.Context(), node, append(args, "--", testenv.Binary(t), "workspace")...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, runErr := cmd.Output()
	var report struct {
		Passed   int
		Failures []struct{ Name, Detail string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v, %v\nstdout: %s\nstderr: %s", runErr, err, out, &stderr)
	}
	for _, f := range report.Failures {
		t.Errorf("%s: %s", f.Name, f.Detail)
	}
	if report.Passed < least {
		t.Errorf("only %d checks passed of %d: the script ended early", report.Passed, least)
	}
	if t.Failed() {
		t.Logf("stderr: %s", &stderr)
	}
}

func TestWorkspaceWithTypeScriptV2Legacy(t *testing.T) {
	workspaceScript(t, 600, "workspace-v2.mjs", "legacy")
}
func TestWorkspaceWithTypeScriptV2Modern(t *testing.T) {
	workspaceScript(t, 600, "workspace-v2.mjs", "modern")
}
func TestWorkspaceWithTypeScriptV2Auto(t *testing.T) {
	workspaceScript(t, 600, "workspace-v2.mjs", "auto")
}
func TestWorkspaceWithTypeScriptV1(t *testing.T) { workspaceScript(t, 600, "workspace-v1.mjs") }
func TestWorkspaceWithInspectorLegacy(t *testing.T) {
	workspaceScript(t, 45, "workspace-inspector.mjs", "legacy")
}
func TestWorkspaceWithInspectorModern(t *testing.T) {
	workspaceScript(t, 45, "workspace-inspector.mjs", "modern")
}
func TestWorkspaceWithMCPorter(t *testing.T) { workspaceScript(t, 45, "workspace-mcporter.mjs") }

// notesLibrary is a Go client library, reduced to what a session with notes
// needs. What it hears of is told to heard.
type notesLibrary interface {
	library
	resources(context.Context) (uris []string, err error)
	templates(context.Context) (uris []string, err error)
	read(ctx context.Context, uri string) (text string, err error)
	complete(ctx context.Context, template, name, value string) ([]string, error)
	subscribe(ctx context.Context, uri string) error
}

type officialNotes struct{ official }

func dialOfficialNotes(t *testing.T, e era, cmd *exec.Cmd, heard func(uri string)) notesLibrary {
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard(r.Params.URI) },
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: e.version})
	if err != nil {
		t.Fatal(err)
	}
	return officialNotes{official{session}}
}

func (o officialNotes) resources(ctx context.Context) (uris []string, err error) {
	for r, err := range o.Resources(ctx, nil) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, r.URI)
	}
	return uris, nil
}

func (o officialNotes) templates(ctx context.Context) (uris []string, err error) {
	for r, err := range o.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, r.URITemplate)
	}
	return uris, nil
}

func (o officialNotes) read(ctx context.Context, uri string) (string, error) {
	res, err := o.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	if len(res.Contents) != 1 {
		return "", fmt.Errorf("%d contents", len(res.Contents))
	}
	return res.Contents[0].Text, nil
}

func (o officialNotes) complete(ctx context.Context, template, name, value string) ([]string, error) {
	res, err := o.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/resource", URI: template}, Argument: mcp.CompleteParamsArgument{Name: name, Value: value},
	})
	if err != nil {
		return nil, err
	}
	return res.Completion.Values, nil
}

func (o officialNotes) subscribe(ctx context.Context, uri string) error {
	return o.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
}

type markLabsNotes struct{ markLabs }

func dialMarkLabsNotes(t *testing.T, e era, cmd *exec.Cmd, heard func(uri string)) notesLibrary {
	start := func(context.Context, string, []string, []string) (*exec.Cmd, error) { return cmd, nil }
	transport := othertransport.NewStdioWithOptions(testenv.Binary(t), os.Environ(), nil, othertransport.WithCommandFunc(start))
	client := other.NewClient(transport, other.WithProtocolVersion(e.version))
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.OnNotification(func(n othermcp.JSONRPCNotification) {
		if n.Method == "notifications/resources/updated" {
			uri, _ := n.Params.AdditionalFields["uri"].(string)
			heard(uri)
		}
	})
	var hello othermcp.InitializeRequest
	hello.Params.ClientInfo = othermcp.Implementation{Name: "e2e", Version: "1"}
	if _, err := client.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return markLabsNotes{markLabs{client}}
}

func (m markLabsNotes) resources(ctx context.Context) (uris []string, err error) {
	res, err := m.ListResources(ctx, othermcp.ListResourcesRequest{})
	if err != nil {
		return nil, err
	}
	for _, r := range res.Resources {
		uris = append(uris, r.URI)
	}
	return uris, nil
}

func (m markLabsNotes) templates(ctx context.Context) (uris []string, err error) {
	res, err := m.ListResourceTemplates(ctx, othermcp.ListResourceTemplatesRequest{})
	if err != nil {
		return nil, err
	}
	for _, r := range res.ResourceTemplates {
		uris = append(uris, r.URITemplate.Raw())
	}
	return uris, nil
}

func (m markLabsNotes) read(ctx context.Context, uri string) (string, error) {
	var req othermcp.ReadResourceRequest
	req.Params.URI = uri
	res, err := m.ReadResource(ctx, req)
	if err != nil {
		return "", err
	}
	if len(res.Contents) != 1 {
		return "", fmt.Errorf("%d contents", len(res.Contents))
	}
	text, ok := res.Contents[0].(othermcp.TextResourceContents)
	if !ok {
		return "", errors.New("no text")
	}
	return text.Text, nil
}

func (m markLabsNotes) complete(ctx context.Context, template, name, value string) ([]string, error) {
	var req othermcp.CompleteRequest
	req.Params.Ref = othermcp.ResourceReference{Type: "ref/resource", URI: template}
	req.Params.Argument.Name, req.Params.Argument.Value = name, value
	res, err := m.Complete(ctx, req)
	if err != nil {
		return nil, err
	}
	return res.Completion.Values, nil
}

func (m markLabsNotes) subscribe(ctx context.Context, uri string) error {
	if m.ProtocolVersion() >= modern.version {
		_, err := m.ListenAsync(ctx, othermcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}}, nil)
		return err
	}
	var req othermcp.SubscribeRequest
	req.Params.URI = uri
	return m.Subscribe(ctx, req)
}

func TestWorkspaceWithTheOfficialGoClient(t *testing.T) {
	t.Parallel()
	eachEra(t, every, func(t *testing.T, e era) { notesSession(t, e, dialOfficialNotes) })
}

func TestWorkspaceWithMCPGo(t *testing.T) {
	t.Parallel()
	eachEra(t, every, func(t *testing.T, e era) { notesSession(t, e, dialMarkLabsNotes) })
}

// notesSession is clients/workspace.mjs in short.
func notesSession(t *testing.T, e era, open func(*testing.T, era, *exec.Cmd, func(string)) notesLibrary) {
	f := newFolder(t)
	f.put("inbox.md", "# Inbox\nCall the Ärztin\n")
	f.put("projects/plan.md", "---\ntitle: Boat\n---\nrope\n")
	heard := make(chan string, 1000)
	lib := open(t, e, f.command("--allow-write", strings.Join(writeTools, ",")), func(uri string) { heard <- uri })
	if lib.version() != e.version {
		t.Errorf("negotiated %s, asked for %s", lib.version(), e.version)
	}
	want := func(tool, args, code string, words ...string) {
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
	}
	if raw, err := lib.tools(t.Context()); err != nil || !slices.Equal(names(t, raw), sorted(slices.Concat(readTools, writeTools))) {
		t.Errorf("tools: %v, %v", names(t, raw), err)
	}
	want("notes_list", `{}`, "", "inbox.md", "Inbox", "projects/plan.md", "Boat")
	want("notes_read", `{"path":"inbox.md"}`, "", "Ärztin", "sha256")
	want("notes_search", `{"query":"äRZT"}`, "", `"line":2`)
	want("notes_write", `{"path":"new/a.md","content":"a\r\nb"}`, "", `"created":true`)
	want("notes_append", `{"path":"new/a.md","content":"c"}`, "", `"created":false`)
	if got := f.text("new/a.md"); got != "a\r\nb\r\nc\r\n" {
		t.Errorf("the note is %q", got)
	}
	want("notes_write", `{"path":"inbox.md","content":"lost"}`, "conflict")
	for _, path := range []string{"../outside/diary.md", "/etc/passwd.md", ".git/x.md", "NUL.md", "a.txt"} {
		want("notes_read", fmt.Sprintf(`{"path":%q}`, path), "invalid_input", "path")
		want("notes_append", fmt.Sprintf(`{"path":%q,"content":"x"}`, path), "invalid_input", "path")
	}
	want("tasks_add", `{"title":"Überweisung","tags":["Bank"]}`, "", `"id":1`)
	want("tasks_complete", `{"id":1}`, "", "completedAt")
	want("tasks_list", `{"status":"all"}`, "", "Überweisung", "done")
	if _, code, err := lib.call(t.Context(), "notes_delete", json.RawMessage(`{"path":"inbox.md"}`)); err == nil || code != -32602 {
		t.Errorf("an unknown tool: code %d, %v", code, err)
	}
	uris, err := lib.resources(t.Context())
	if diff := cmp.Diff([]string{"notes://inbox.md", "notes://new/a.md", "notes://projects/plan.md"}, uris); diff != "" || err != nil {
		t.Errorf("resources: %v\n%s", err, diff)
	}
	if uris, err := lib.templates(t.Context()); err != nil || !slices.Equal(uris, []string{"notes://{+path}"}) {
		t.Errorf("templates: %v, %v", uris, err)
	}
	if text, err := lib.read(t.Context(), "notes://inbox.md"); err != nil || text != f.text("inbox.md") {
		t.Errorf("read %q, %v", text, err)
	}
	if text, err := lib.read(t.Context(), "notes://../outside/diary.md"); err == nil {
		t.Errorf("read %q from outside", text)
	}
	if values, err := lib.complete(t.Context(), "notes://{+path}", "path", "in"); err != nil || !slices.Equal(values, []string{"inbox.md"}) {
		t.Errorf("completed to %v, %v", values, err)
	}
	editor(t, f, lib, heard)
	if err := lib.close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	f.untouched()
}

// editor proves that a client hears what somebody else does to the note that it
// subscribed to, and of no other.
func editor(t *testing.T, f *folder, lib notesLibrary, heard chan string) {
	t.Helper()
	const uri = "notes://inbox.md"
	if err := lib.subscribe(t.Context(), uri); err != nil {
		t.Fatalf("subscribing: %v", err)
	}
	give := time.After(patience)
	// A library may subscribe in the background: the first change is made until
	// it is heard of.
	for first := true; first; {
		f.put("inbox.md", "# Inbox\nchanged\n")
		select {
		case got := <-heard:
			first = false
			if got != uri {
				t.Errorf("heard of %s", got)
			}
		case <-time.After(200 * time.Millisecond):
		case <-give:
			t.Fatal("heard of no change")
		}
	}
	f.put("projects/plan.md", "nobody asked to hear of this\n")
	f.save("inbox.md", "replaced\n")
	for {
		select {
		case got := <-heard:
			if got != uri {
				t.Errorf("heard of %s", got)
			}
			if text, err := lib.read(t.Context(), uri); err != nil {
				t.Fatal(err)
			} else if text == "replaced\n" {
				return
			}
		case <-give:
			t.Fatal("the replaced note was not announced")
		}
	}
}
