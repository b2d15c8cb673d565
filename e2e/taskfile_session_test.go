package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/testenv"
)

// taskfileCommand is `handrail taskfile` in the folder dir.
func taskfileCommand(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(testenv.Binary(t), append([]string{"taskfile"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Dir(testenv.Runner(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
		"XDG_STATE_HOME="+t.TempDir(), "REQUEST_STATE_SECRET="+strings.Repeat("s", 40))
	return cmd
}

// project is a folder with a Taskfile.
func project(t testing.TB, name, taskfile string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeTaskfile(t, dir, taskfile)
	return dir
}

func writeTaskfile(t testing.TB, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "Taskfile.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const everyday = `version: '3'
vars:
  WHO: world
tasks:
  hello:
    desc: Say hello
    cmd: echo "hello {{.WHO}}"
  fail:
    cmds:
      - echo before
      - echo wrong >&2
      - exit 7
  start:*:
    vars: {WHAT: '{{index .MATCH 0}}'}
    cmd: echo starting {{.WHAT}}
  deploy:
    prompt: Really deploy?
    cmd: echo deployed
  release:
    requires: {vars: [{name: ENV, enum: [dev, prod]}]}
    cmd: echo to {{.ENV}}
  reads:
    cmd: cat
  chatty:
    cmd: 'for i in 1 2 3; do echo "line $i"; echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}" > /dev/stdout; done'
  secret:
    cmd: env
`

// taskfileSession is the SDK's client in one of the eras, with a person who
// answers as told.
type taskfileSession struct {
	*mcp.ClientSession
	t testing.TB

	mu       sync.Mutex
	asked    []string
	logged   []map[string]any
	progress []string
	changed  chan struct{}
	answer   func(*mcp.ElicitParams) *mcp.ElicitResult
}

// dialTaskfile connects; a client without answer cannot ask anybody.
func dialTaskfile(t testing.TB, e era, cmd *exec.Cmd, answer func(*mcp.ElicitParams) *mcp.ElicitResult, roots ...string) *taskfileSession {
	t.Helper()
	s := &taskfileSession{t: t, changed: make(chan struct{}, 16), answer: answer}
	options := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			data, _ := r.Params.Data.(map[string]any)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.logged = append(s.logged, data)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.progress = append(s.progress, r.Params.Message)
		},
	}
	if answer != nil {
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			s.mu.Lock()
			s.asked = append(s.asked, r.Params.Message)
			s.mu.Unlock()
			return answer(r.Params), nil
		}
	}
	if roots != nil {
		options.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, options)
	for _, dir := range roots {
		if dir != "" {
			client.AddRoots(&mcp.Root{URI: "file://" + dir})
		}
	}
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: e.version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	s.ClientSession = session
	return s
}

func (s *taskfileSession) names() []string {
	s.t.Helper()
	res, err := s.ListTools(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// ran is a result of a run as a client gets it.
type ran struct {
	status, stdout, stderr string
	isError                bool
	code                   string
	data                   map[string]any
}

func (s *taskfileSession) run(name string, args any) ran {
	s.t.Helper()
	res, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	out := ran{isError: res.IsError}
	for i, c := range res.Content {
		text, ok := c.(*mcp.TextContent)
		if !ok {
			s.t.Fatalf("%s: block %d is %T", name, i, c)
		}
		switch stream := text.Meta["stream"]; {
		case i == 0:
			out.status = text.Text
		case stream == "stdout":
			out.stdout = text.Text
		case stream == "stderr":
			out.stderr = text.Text
		default:
			s.t.Errorf("%s: block %d has the meta %v", name, i, text.Meta)
		}
	}
	b, _ := json.Marshal(res.StructuredContent)
	var e struct {
		OK    bool
		Data  map[string]any
		Error struct{ Code string }
	}
	if err := json.Unmarshal(b, &e); err != nil || e.OK == res.IsError {
		s.t.Errorf("%s: isError %v beside %s (%v)", name, res.IsError, b, err)
	}
	out.code, out.data = e.Error.Code, e.Data
	return out
}
