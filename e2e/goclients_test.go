package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	other "github.com/mark3labs/mcp-go/client"
	othertransport "github.com/mark3labs/mcp-go/client/transport"
	othermcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/testenv"
)

// library is a Go client library, reduced to what the session needs. call
// gives the result as JSON, or the protocol's error code.
type library interface {
	version() string
	tools(context.Context) (json.RawMessage, error)
	call(ctx context.Context, tool string, args any) (result json.RawMessage, code int, err error)
	close() error
}

type official struct{ *mcp.ClientSession }

func dialOfficial(t *testing.T, e era, db string) library {
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command(t, db)}, &mcp.ClientSessionOptions{ProtocolVersion: e.version})
	if err != nil {
		t.Fatal(err)
	}
	return official{session}
}

func (o official) version() string { return o.InitializeResult().ProtocolVersion }
func (o official) close() error    { return o.Close() }

func (o official) tools(ctx context.Context) (json.RawMessage, error) {
	res, err := o.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(res.Tools)
}

func (o official) call(ctx context.Context, tool string, args any) (json.RawMessage, int, error) {
	res, err := o.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return nil, int(rpc.Code), err
		}
		return nil, 0, err
	}
	raw, err := json.Marshal(res)
	return raw, 0, err
}

type markLabs struct{ *other.Client }

func dialMarkLabs(t *testing.T, e era, db string) library {
	start := func(context.Context, string, []string, []string) (*exec.Cmd, error) { return command(t, db), nil }
	transport := othertransport.NewStdioWithOptions(testenv.Binary(t), os.Environ(), nil, othertransport.WithCommandFunc(start))
	client := other.NewClient(transport, other.WithProtocolVersion(e.version))
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello othermcp.InitializeRequest
	hello.Params.ClientInfo = othermcp.Implementation{Name: "e2e", Version: "1"}
	if _, err := client.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return markLabs{client}
}

func (m markLabs) version() string { return m.ProtocolVersion() }
func (m markLabs) close() error    { return m.Close() }

func (m markLabs) tools(ctx context.Context) (json.RawMessage, error) {
	res, err := m.ListTools(ctx, othermcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(res.Tools)
}

func (m markLabs) call(ctx context.Context, tool string, args any) (json.RawMessage, int, error) {
	var req othermcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, args
	res, err := m.CallTool(ctx, req)
	if err != nil {
		if errors.Is(err, othermcp.ErrInvalidParams) {
			return nil, -32602, err
		}
		return nil, 0, err
	}
	raw, err := json.Marshal(res)
	return raw, 0, err
}

func TestTheOfficialGoClient(t *testing.T) {
	t.Parallel()
	eachEra(t, every, func(t *testing.T, e era) { goSession(t, e, dialOfficial(t, e, newDB(t))) })
}

func TestMCPGoClient(t *testing.T) {
	t.Parallel()
	eachEra(t, every, func(t *testing.T, e era) { goSession(t, e, dialMarkLabs(t, e, newDB(t))) })
}

// goSession is clients/scenario.mjs in short: what a library could get wrong
// between our bytes and its values.
func goSession(t *testing.T, e era, lib library) {
	if lib.version() != e.version {
		t.Errorf("negotiated %s, asked for %s", lib.version(), e.version)
	}
	schemas := outputSchemas(t, lib)
	call := func(tool, args string) envelope {
		t.Helper()
		raw, _, err := lib.call(t.Context(), tool, json.RawMessage(args))
		if err != nil {
			t.Fatalf("%s %s: %v", tool, args, err)
		}
		got := message{Result: raw}.envelope(t)
		var value any
		structured(t, raw, &value)
		if err := schemas[tool].Validate(value); err != nil {
			t.Errorf("%s %s: structuredContent does not fit outputSchema: %v", tool, args, err)
		}
		return got
	}
	want := func(tool, args, code string, words ...string) {
		t.Helper()
		got := call(tool, args)
		if got.Err.Code != code || got.OK != (code == "") {
			t.Errorf("%s %s: %+v", tool, args, got)
		}
		for _, word := range words {
			if !strings.Contains(got.Err.Message+string(got.Data), word) {
				t.Errorf("%s %s: %s is missing in %+v %s", tool, args, word, got.Err, got.Data)
			}
		}
	}
	want("add_task", `{"title":"Überweisung – 振込 🧾","due":"2027-02-28","tags":["Bank","bank","Bank"]}`, "", `"id":1`, "振込 🧾", "2027-02-28")
	want("add_task", `{"title":"100% wool_sock"}`, "", `"id":2`, `"tags":[]`)
	want("add_task", `{"title":"x","titel":"y"}`, "invalid_input", "titel", "title")
	want("list_tasks", `{}`, "", `"id":1`, `"id":2`)
	want("list_tasks", `{"filter":{"tag":"bank","dueBefore":"2027-02-28"}}`, "", `"id":1`)
	want("list_tasks", `{"limit":1}`, "", "nextCursor")
	want("search_tasks", `{"query":"0%"}`, "", `"id":2`)
	want("search_tasks", `{"query":"l_s"}`, "", `"id":2`)
	want("search_tasks", `{"query":"WOOL"}`, "", `"id":2`)
	first, second := call("complete_task", `{"id":1}`), call("complete_task", `{"id":1}`)
	if string(first.Data) != string(second.Data) || !strings.Contains(string(first.Data), "completedAt") {
		t.Errorf("completed twice: %s, then %s", first.Data, second.Data)
	}
	want("delete_task", `{"id":1}`, "invalid_input", "confirm")
	want("delete_task", `{"id":1,"confirm":true}`, "", `"deleted":true`)
	want("delete_task", `{"id":1,"confirm":true}`, "not_found")
	if _, code, err := lib.call(t.Context(), "no_such_tool", json.RawMessage(`{}`)); err == nil || code != -32602 {
		t.Errorf("an unknown tool: code %d, %v", code, err)
	}

	var calls sync.WaitGroup
	for i := range 16 {
		calls.Go(func() {
			if _, _, err := lib.call(t.Context(), "add_task", json.RawMessage(fmt.Sprintf(`{"title":"at once %d"}`, i))); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	lib.call(cancelled, "search_tasks", json.RawMessage(`{"query":"once"}`))
	var page struct{ Tasks []struct{ ID int64 } }
	if err := json.Unmarshal(call("search_tasks", `{"query":"at once"}`).Data, &page); err != nil || len(page.Tasks) != 16 {
		t.Errorf("%d of 16 tasks, %v", len(page.Tasks), err)
	}
	if err := lib.close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func structured(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	var res struct{ StructuredContent json.RawMessage }
	if err := json.Unmarshal(raw, &res); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(res.StructuredContent, into); err != nil {
		t.Fatal(err)
	}
}

func outputSchemas(t *testing.T, lib library) map[string]*jsonschema.Resolved {
	t.Helper()
	raw, err := lib.tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name         string
		OutputSchema *jsonschema.Schema
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Resolved{}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		resolved, err := tool.OutputSchema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		schemas[tool.Name] = resolved
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "add_task complete_task delete_task list_tasks search_tasks" {
		t.Fatalf("tools: %s", got)
	}
	return schemas
}
