package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/testenv"
)

func TestTasksAreToolsInEveryEra(t *testing.T) {
	for _, e := range both {
		t.Run(e.version, func(t *testing.T) {
			t.Parallel()
			s := dialTaskfile(t, e, taskfileCommand(t, project(t, "shop", everyday)), nil)
			want := []string{"chatty", "deploy", "fail", "hello", "reads", "release", "secret", "start", "taskfile_list", "taskfile_run"}
			if got := s.names(); !slices.Equal(got, want) {
				t.Fatalf("tools %v, want %v", got, want)
			}
			rows := []struct {
				tool, args       string
				status, out, err string
				code             string
				exit             any
			}{
				{"hello", `{}`, "Task `hello` exited with status 0", "hello world\n", "", "", 0.0},
				{"hello", `{"WHO":"Ann B"}`, "Task `hello` exited with status 0", "hello Ann B\n", "", "", 0.0},
				{"fail", `{}`, "Task `fail` exited with status 7: ", "before\n", "wrong\n", "task_failed", 7.0},
				{"start", `{"MATCH":["web"]}`, "Task `start:web` exited with status 0", "starting web\n", "", "", 0.0},
				{"start", `{"MATCH":["$(id)"]}`, "Task `start:$(id)` failed: MATCH[0]: ", "", "", "invalid_input", nil},
				{"start", `{}`, "Task `start:*` failed: MATCH", "", "", "invalid_input", nil},
				{"release", `{"ENV":"prod"}`, "Task `release` exited with status 0", "to prod\n", "", "", 0.0},
				{"release", `{"ENV":"pro"}`, "Task `release` failed: ENV: ", "", "", "invalid_input", nil},
				{"release", `{}`, "Task `release` failed: ", "", "", "invalid_input", nil},
				{"hello", `{"WHO":"$(id)"}`, "Task `hello` failed: WHO: ", "", "", "invalid_input", nil},
				{"hello", `{"WHOM":"x"}`, "Task `hello` failed: ", "", "", "invalid_input", nil},
				{"hello", `{"WHO":["x"]}`, "Task `hello` failed: WHO: ", "", "", "invalid_input", nil},
				{"hello", `[]`, "Task `hello` failed: ", "", "", "invalid_input", nil},
				{"reads", `{}`, "Task `reads` exited with status 0", "", "", "", 0.0},
				{"deploy", `{}`, "Task `deploy` failed: ", "", "", "confirmation_required", nil},
				{"taskfile_run", `{"task":"hello","vars":{"WHO":"Bob"}}`, "Task `hello` exited with status 0", "hello Bob\n", "", "", 0.0},
				{"taskfile_run", `{"task":"start:*","match":["api"]}`, "Task `start:api` exited with status 0", "starting api\n", "", "", 0.0},
				{"taskfile_run", `{"task":"nope"}`, "Task `nope` failed: ", "", "", "not_found", nil},
				{"taskfile_run", `{"task":"hello","vars":{"WHO":"a;b"}}`, "Task `hello` exited with status 0", "hello a;b\n", "", "", 0.0},
			}
			for _, row := range rows {
				got := s.run(row.tool, json.RawMessage(row.args))
				if !strings.HasPrefix(got.status, row.status) || got.stdout != row.out || got.stderr != row.err || got.code != row.code || got.data["exitCode"] != row.exit {
					t.Errorf("%s %s: %+v", row.tool, row.args, got)
				}
			}
			if got := s.run("chatty", nil); !strings.Contains(got.stdout, "line 3\n") {
				t.Errorf("%+v", got)
			}
			if got := s.run("secret", nil); strings.Contains(got.stdout, strings.Repeat("s", 40)) || !strings.Contains(got.stdout, "PATH=") {
				t.Error("a task sees a secret of the server, or no PATH")
			}
		})
	}
}

func TestWhatATaskAsksIsPutToAPerson(t *testing.T) {
	for _, e := range both {
		t.Run(e.version, func(t *testing.T) {
			t.Parallel()
			reply := &mcp.ElicitResult{}
			s := dialTaskfile(t, e, taskfileCommand(t, project(t, "shop", everyday)), func(*mcp.ElicitParams) *mcp.ElicitResult { return reply })
			reply = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}
			if got := s.run("deploy", nil); got.stdout != "deployed\n" {
				t.Errorf("accepted: %+v", got)
			}
			if len(s.asked) != 1 || !strings.Contains(s.asked[0], "Really deploy?") {
				t.Errorf("asked %q", s.asked)
			}
			for _, no := range []*mcp.ElicitResult{{Action: "decline"}, {Action: "cancel"}, {Action: "accept", Content: map[string]any{"confirm": false}}} {
				reply = no
				if got := s.run("deploy", nil); got.code != "declined" || got.stdout != "" || !strings.HasPrefix(got.status, "Task `deploy` failed: ") {
					t.Errorf("%v: %+v", no, got)
				}
			}
			reply = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"ENV": "dev"}}
			if got := s.run("release", nil); got.stdout != "to dev\n" {
				t.Errorf("a variable that the person filled in: %+v", got)
			}
		})
	}
}

func TestTheLogOfARunIsAResource(t *testing.T) {
	t.Parallel()
	s := dialTaskfile(t, modern, taskfileCommand(t, project(t, "shop", everyday+`
  many:
    cmd: 'seq 1 100000'
`)), nil)
	got := s.run("many", nil)
	if len(got.stdout) > 64<<10 || !strings.HasSuffix(got.stdout, "\n100000\n") || !strings.HasPrefix(got.stdout, "1\n2\n") || got.data["truncated"] != true {
		t.Errorf("%d bytes, truncated %v", len(got.stdout), got.data["truncated"])
	}
	res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: got.data["stdoutUri"].(string)})
	if err != nil {
		t.Fatal(err)
	}
	if text := res.Contents[0].Text; strings.Count(text, "\n") != 100000 || float64(len(text)) != got.data["stdoutBytes"] {
		t.Errorf("the log has %d bytes of %v", len(text), got.data["stdoutBytes"])
	}
	if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "run://nope/stdout"}); err == nil {
		t.Error("a run that never was has a log")
	}
}

func TestLinesOfARunReachAClientThatAskedForThem(t *testing.T) {
	t.Parallel()
	s := dialTaskfile(t, latest, taskfileCommand(t, project(t, "shop", everyday)), nil)
	s.run("chatty", nil)
	if len(s.logged) != 0 {
		t.Errorf("logged before it was asked for: %v", s.logged)
	}
	if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	params := &mcp.CallToolParams{Name: "chatty"}
	params.SetProgressToken("p1")
	if _, err := s.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	until(t, "the lines and the progress", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.progress) > 0 && slices.ContainsFunc(s.logged, func(d map[string]any) bool {
			return d["event"] == "task.output" && d["line"] == "line 3" && d["stream"] == "stdout"
		})
	})
}

// until waits for something that another process brings about.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come within %v", what, patience)
		}
	}
}

func TestToolsFollowTheTaskfile(t *testing.T) {
	t.Parallel()
	dir := project(t, "shop", everyday)
	s := dialTaskfile(t, latest, taskfileCommand(t, dir), nil)
	s.names()
	waitFor := func(name string, there bool) {
		t.Helper()
		select {
		case <-s.changed:
		case <-time.After(patience):
			t.Fatal("the change was not announced")
		}
		until(t, fmt.Sprintf("%s there: %v", name, there), func() bool { return slices.Contains(s.names(), name) == there })
	}
	writeTaskfile(t, dir, everyday+"\n  fresh:\n    cmd: echo fresh\n")
	waitFor("fresh", true)
	if got := s.run("fresh", nil); got.stdout != "fresh\n" {
		t.Errorf("%+v", got)
	}
	writeTaskfile(t, dir, everyday+"\n  fresh: [broken\n")
	waitFor("hello", false)
	list := s.listed(nil)
	if len(list.Roots) != 1 || list.Roots[0].Error == "" || strings.Contains(list.Roots[0].Error, dir) {
		t.Errorf("roots %+v", list.Roots)
	}
	writeTaskfile(t, dir, everyday)
	waitFor("hello", true)
}

type tasksListed struct {
	Roots []struct{ Root, URI, Error string }
	Tasks []struct {
		Task, Tool, Root, Reason string
		UpToDate                 *bool
		Exposed                  bool
	}
}

func (s *taskfileSession) listed(args any) tasksListed {
	s.t.Helper()
	res, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Name: "taskfile_list", Arguments: args})
	if err != nil {
		s.t.Fatal(err)
	}
	b, _ := json.Marshal(res.StructuredContent)
	var out struct{ Data tasksListed }
	if err := json.Unmarshal(b, &out); err != nil || res.IsError {
		s.t.Fatalf("%v: %s", err, b)
	}
	return out.Data
}

func TestRootsComeFromALegacyClient(t *testing.T) {
	t.Parallel()
	one := project(t, "front end", "version: '3'\ntasks:\n  build: {cmd: 'echo one'}\n")
	two := project(t, "backend", "version: '3'\ntasks:\n  build: {cmd: 'echo two'}\n")
	elsewhere := project(t, "cwd", "version: '3'\ntasks:\n  here: {cmd: 'echo cwd'}\n")
	static := []string{"taskfile_list", "taskfile_run"}
	rows := []struct {
		name  string
		roots []string
		args  []string
		want  []string
	}{
		{"none known: the working directory", nil, nil, []string{"here"}},
		{"an empty list: no roots", []string{""}, nil, nil},
		{"one", []string{one}, nil, []string{"build"}},
		{"two", []string{one, two}, nil, []string{"backend_build", "front_end_build"}},
		{"a flag stands before them", []string{one}, []string{"--root", two}, []string{"build"}},
		{"a placeholder counts", []string{one, t.TempDir()}, nil, []string{"front_end_build"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := dialTaskfile(t, latest, taskfileCommand(t, elsewhere, row.args...), nil, row.roots...)
			want := append(slices.Clone(row.want), static...)
			if got := s.names(); !slices.Equal(got, want) {
				t.Errorf("tools %v, want %v", got, want)
			}
		})
	}
	t.Run("a flag's root is the one that runs", func(t *testing.T) {
		s := dialTaskfile(t, latest, taskfileCommand(t, elsewhere, "--root", two), nil, one)
		if got := s.run("build", nil); got.stdout != "two\n" {
			t.Errorf("%+v", got)
		}
	})
}

func TestOneUserCannotReadWhatAnothersRunPrinted(t *testing.T) {
	t.Parallel()
	cmd := taskfileCommand(t, project(t, "shop", everyday))
	server := testenv.Serve(t, cmd.Dir, append(cmd.Env, "MCP_AUTH_TOKENS_JSON="+tokens), "taskfile")
	ann, bob := dialHTTP(t, server.URL, aliceToken), dialHTTP(t, server.URL, bobToken)
	res, err := ann.CallTool(t.Context(), &mcp.CallToolParams{Name: "hello"})
	if err != nil || res.IsError {
		t.Fatalf("%v %+v", err, res)
	}
	uri := res.StructuredContent.(map[string]any)["data"].(map[string]any)["stdoutUri"].(string)
	if got, err := ann.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || got.Contents[0].Text != "hello world\n" {
		t.Errorf("ann: %v", err)
	}
	if got, err := bob.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
		t.Errorf("bob reads %q", got.Contents[0].Text)
	}
}

// bearer adds a token to every request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func dialHTTP(t testing.TB, url, token string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func TestEveryLineOfTheLogSaysWhoAndWhat(t *testing.T) {
	t.Parallel()
	cmd := taskfileCommand(t, project(t, "shop", "version: [broken"))
	cmd.Env = append(cmd.Env, "MCP_TASKFILE_LOG_LEVEL=DEBUG")
	var stderr strings.Builder
	cmd.Stdin = strings.NewReader(latest.hello() + latest.request("1", "tools/list", "") + "\n")
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	events := map[string]bool{}
	for line := range strings.Lines(stderr.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Errorf("no JSON: %s", line)
		}
		for _, key := range []string{"time", "level", "msg", "service", "version", "event"} {
			if record[key] == nil || record[key] == "" {
				t.Errorf("no %s: %s", key, line)
			}
		}
		if event, ok := record["event"].(string); ok {
			events[event] = true
		}
		if strings.Count(line, `"event":`) != 1 {
			t.Errorf("more than one event: %s", line)
		}
	}
	for _, want := range []string{"root.load_failed", "server.settings"} {
		if !events[want] {
			t.Errorf("no %s among %v", want, events)
		}
	}
}
