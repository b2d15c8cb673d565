package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"handrail/internal/config"
	"handrail/internal/testenv"
)

// chatty prints all that it can: lines that look like the protocol's, escapes,
// halves of characters, and straight to /dev/stdout.
const chatty = `
  chatty:
    cmds:
      - cmd: |
          echo '{"jsonrpc":"2.0","id":1,"result":{"forged":true}}'
          echo '{"jsonrpc":"2.0","id":1,"result":{"forged":true}}' >&2
          printf '\033[31mred\000\377\n'
          echo to-dev-stdout > /dev/stdout
          echo to-dev-stderr > /dev/stderr
          i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done
        silent: false
`

// rubbish is what a session survives, whatever the preset.
var rubbish = []string{
	"hello?", `{"jsonrpc":"2.0"`, "[]", "[1,2]", "null", "7", `""`, "\x00\x01\x02", "\xff\xfe", "{}", `{"jsonrpc":"1.0","id":"v","method":"ping"}`,
	`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`,
	`{"jsonrpc":"2.0","id":"x","method":"no/such"}`, `{"jsonrpc":"2.0","id":"y","method":"tools/call","params":{"name":"no_such"}}`,
	`{"jsonrpc":"2.0","id":"z","method":"tools/call","params":7}`, `{"jsonrpc":"2.0","method":"notifications/no/such"}`,
	`{"jsonrpc":"2.0","id":"r","result":{}}`, `{"jsonrpc":"2.0","id":"e","error":{"code":1,"message":"m"}}`,
	`{"jsonrpc":"2.0","id":"d","id":"d2","method":"ping"}`, strings.Repeat("[", 5000), strings.Repeat("x", 100_000), "", " ", "\r",
}

// program is a command that serves a preset which is set up; a runner is found on
// its PATH.
func program(t *testing.T, p config.Preset, more ...string) *exec.Cmd {
	t.Helper()
	b := setUp(t, p)
	cmd := exec.CommandContext(t.Context(), testenv.Binary(t), append(append([]string{p.Name}, b.flags...), more...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	if b.self == "" {
		return cmd
	}
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(b.self)+string(os.PathListSeparator)+os.Getenv("PATH"))
	for i, flag := range b.flags {
		if flag == "--root" {
			text := testTaskfile + strings.TrimPrefix(chatty, "\n")
			if err := os.WriteFile(filepath.Join(b.flags[i+1], "Taskfile.yml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return cmd
}

// A session is what a client of one era sends: rubbish among what is right.
func session(t *testing.T, p config.Preset, isModern bool) (in string, ids []string) {
	t.Helper()
	var b strings.Builder
	ask := func(id int, method string, params map[string]any) {
		ids = append(ids, fmt.Sprint(id))
		if isModern {
			b.WriteString(modern(t, id, method, params))
			return
		}
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	begin := func() {}
	if !isModern {
		begin = func() {
			ask(1000, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
			b.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
		}
	}
	begin()
	ask(1001, "tools/list", map[string]any{})
	calls := callings[p.Name]
	if p.Name == "taskfile" {
		calls = append([]calling{{"chatty", `{}`, true}}, calls...)
	}
	for i := range max(len(calls), len(rubbish)) {
		b.WriteString(rubbish[i%len(rubbish)] + "\n")
		if i < len(calls) {
			ask(i+1, "tools/call", map[string]any{"name": calls[i].tool, "arguments": json.RawMessage(calls[i].args)})
		}
	}
	return b.String(), ids
}

// Whatever comes in and whatever a task prints, only the protocol comes out
// (mcp-jenkins 6), and every request that is right has its one reply.
func TestStdoutIsTheProtocolsInEveryPresetAndBothEras(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.LeftOut(t, "the chatty task needs a Unix; run this on Linux or macOS")
	}
	for _, p := range config.Presets {
		for era, isModern := range map[string]bool{"modern": true, "legacy": false} {
			t.Run(p.Name+" "+era, func(t *testing.T) {
				cmd := program(t, p)
				in, ids := session(t, p, isModern)
				cmd.Env = append(cmd.Env, "HANDRAIL_LOG_LEVEL=debug", "MCP_TASKFILE_LOG_LEVEL=debug")
				cmd.Stdin = strings.NewReader(in)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s", err, stderr.String())
				}
				replies := map[string]int{}
				for line := range strings.Lines(stdout.String()) {
					for _, m := range messages(t, line) {
						if m.Result != nil && m.Result.Forged {
							t.Error("what a task printed came out as a reply")
						}
						if m.Method == "" {
							replies[string(m.ID)]++
						}
					}
				}
				for _, id := range ids {
					if replies[id] != 1 {
						t.Errorf("request %s has %d replies", id, replies[id])
					}
				}
				if p.Name == "taskfile" && !strings.Contains(stdout.String(), "line 1999") {
					t.Error("the chatty task did not run")
				}
				for line := range strings.Lines(stderr.String()) {
					if !json.Valid([]byte(line)) {
						t.Errorf("the log has a line that is no JSON: %.300q", line)
					}
				}
			})
		}
	}
}

// A message is what these tests read of one.
type message struct {
	JSONRPC string
	ID      json.RawMessage
	Method  string
	Result  *struct{ Forged bool }
	Error   json.RawMessage
}

// messages are the messages of a line: one, or those of a batch.
func messages(t *testing.T, line string) (list []message) {
	t.Helper()
	var err error
	if strings.HasPrefix(line, "[") {
		err = json.Unmarshal([]byte(line), &list)
	} else {
		list = make([]message, 1)
		err = json.Unmarshal([]byte(line), &list[0])
	}
	if err != nil {
		t.Errorf("stdout has %.300q: %v", line, err)
		return nil
	}
	for _, m := range list {
		if m.JSONRPC != "2.0" || (m.Method == "") == (m.Result == nil && m.Error == nil) {
			t.Errorf("this is no message of JSON-RPC: %.300q", line)
		}
	}
	return list
}

// Over HTTP stdout belongs to nobody, and a signal ends every preset in order.
func TestAServerOverHTTPPrintsNothingAndEndsInOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.LeftOut(t, "no signal ends a server in order here; run this on Linux or macOS")
	}
	const secret = "a-secret-that-nobody-may-ever-see-in-a-log"
	for _, p := range config.Presets {
		for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
			t.Run(p.Name+" "+sig.String(), func(t *testing.T) {
				cmd := program(t, p, "--http", "--listen", "127.0.0.1:0")
				cmd.Env = append(cmd.Env, `MCP_AUTH_TOKENS_JSON={"ann":"`+secret+`"}`, "REQUEST_STATE_SECRET="+secret, "REQUEST_STATE_SECRET_PREVIOUS="+secret)
				var stdout bytes.Buffer
				cmd.Stdout = &stdout
				pipe, err := cmd.StderrPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				var log strings.Builder
				lines := bufio.NewScanner(io.TeeReader(pipe, &log))
				for lines.Scan() && !strings.Contains(lines.Text(), `"listening"`) {
				}
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				for lines.Scan() {
				}
				if err := lines.Err(); err != nil {
					t.Error(err)
				}
				if err := cmd.Wait(); err != nil {
					t.Errorf("it ended with %v\n%s", err, log.String())
				}
				if stdout.Len() > 0 {
					t.Errorf("it printed %q", stdout.String())
				}
				if strings.Contains(log.String(), secret) || !strings.Contains(log.String(), "set, not shown") {
					t.Errorf("the log shows a secret, or does not say that there is one:\n%s", log.String())
				}
			})
		}
	}
}
