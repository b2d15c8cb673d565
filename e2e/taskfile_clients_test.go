package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	other "github.com/mark3labs/mcp-go/client"
	othertransport "github.com/mark3labs/mcp-go/client/transport"
	othermcp "github.com/mark3labs/mcp-go/mcp"

	"handrail/internal/testenv"
)

// runnerPath is a PATH on which the runner is.
func runnerPath(t testing.TB) string {
	return "PATH=" + filepath.Dir(testenv.Runner(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
}

func TestTaskfileWithTypeScriptV2(t *testing.T) {
	for _, mode := range []string{"legacy", "modern", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			drive(t, 100, "taskfile-v2.mjs", []string{mode}, []string{runnerPath(t)}, testenv.Binary(t), "taskfile")
		})
	}
	t.Run("nobody to ask", func(t *testing.T) {
		t.Parallel()
		drive(t, 100, "taskfile-v2.mjs", []string{"modern", "mute"}, []string{runnerPath(t)}, testenv.Binary(t), "taskfile")
	})
}

func TestTaskfileWithTypeScriptV1(t *testing.T) {
	t.Parallel()
	drive(t, 100, "taskfile-v1.mjs", nil, []string{runnerPath(t)}, testenv.Binary(t), "taskfile")
}

func TestTaskfileWithTheInspector(t *testing.T) {
	t.Parallel()
	node := testenv.Node(t)
	if why := modules(); why != "" {
		testenv.LeftOut(t, why)
	}
	dir := project(t, "shop", everyday)
	inspect := func(words ...string) map[string]any {
		t.Helper()
		args := append([]string{filepath.Join("node_modules", ".bin", "mcp-inspector"), "--cli"}, words...)
		cmd := exec.CommandContext(t.Context(), node, append(args, "--", testenv.Binary(t), "taskfile", "--root", dir)...)
		cmd.Env = append(os.Environ(), runnerPath(t), "XDG_STATE_HOME="+t.TempDir(), "HOME="+t.TempDir())
		out, err := cmd.Output()
		var got map[string]any
		if jsonErr := json.Unmarshal(out, &got); jsonErr != nil {
			t.Fatalf("%v: %v: %s", words, err, out)
		}
		return got
	}
	tools, _ := inspect("--method", "tools/list")["tools"].([]any)
	if len(tools) != 10 {
		t.Errorf("%d tools", len(tools))
	}
	result := inspect("--method", "tools/call", "--tool-name", "hello", "--tool-arg", "WHO=Ann")
	content, _ := result["content"].([]any)
	if len(content) != 2 || content[1].(map[string]any)["text"] != "hello Ann\n" {
		t.Errorf("%v", result)
	}
}

func TestTaskfileWithMCPGo(t *testing.T) {
	t.Parallel()
	dir := project(t, "shop", everyday)
	cmd := taskfileCommand(t, dir)
	transport := othertransport.NewStdioWithOptions(cmd.Path, cmd.Env, cmd.Args[1:], othertransport.WithCommandFunc(
		func(ctx context.Context, _ string, _ []string, _ []string) (*exec.Cmd, error) { return cmd, nil }))
	client := other.NewClient(transport)
	t.Cleanup(func() { client.Close() })
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	request := othermcp.InitializeRequest{}
	request.Params.ProtocolVersion = othermcp.LATEST_PROTOCOL_VERSION
	request.Params.ClientInfo = othermcp.Implementation{Name: "e2e", Version: "1"}
	if _, err := client.Initialize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	list, err := client.ListTools(t.Context(), othermcp.ListToolsRequest{})
	if err != nil || !slices.ContainsFunc(list.Tools, func(tool othermcp.Tool) bool { return tool.Name == "start" }) {
		t.Fatalf("%v, %v", list, err)
	}
	call := othermcp.CallToolRequest{}
	call.Params.Name, call.Params.Arguments = "start", map[string]any{"MATCH": []string{"web"}}
	got, err := client.CallTool(t.Context(), call)
	if err != nil || got.IsError {
		t.Fatalf("%+v, %v", got, err)
	}
	var texts []string
	for _, c := range got.Content {
		texts = append(texts, c.(othermcp.TextContent).Text)
	}
	if text := strings.Join(texts, "|"); text != "Task `start:web` exited with status 0|starting web\n" {
		t.Errorf("%q", text)
	}
}
