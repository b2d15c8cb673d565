package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"handrail/internal/cli"
	"handrail/internal/config"
	"handrail/internal/testenv"
)

// A calling is one call of a tool, and how it must end.
type calling struct {
	tool, args string
	ok         bool
}

// callings are, for each preset, calls that follow each other: every tool once
// with each kind of answer that it has.
var callings = map[string][]calling{
	"tasks": {
		{"add_task", `{"title":"one","due":"2027-03-01","tags":["a"]}`, true}, {"add_task", `{"title":""}`, false},
		{"add_task", `{"title":"two"}`, true},
		{"list_tasks", `{"limit":1}`, true}, {"list_tasks", `{"filter":{"dueAftr":"2027-01-01"}}`, false},
		{"search_tasks", `{"query":"o","limit":1}`, true}, {"search_tasks", `{}`, false},
		{"complete_task", `{"id":1}`, true}, {"complete_task", `{"id":99}`, false},
		{"delete_task", `{"id":1,"confirm":true}`, true}, {"delete_task", `{"id":2}`, false},
	},
	"workspace": {
		{"notes_write", `{"path":"a/one.md","content":"# One\n\u200bhidden\n"}`, true}, {"notes_write", `{"path":"../x.md","content":""}`, false},
		{"notes_append", `{"path":"two.md","content":"more"}`, true}, {"notes_append", `{"path":".x.md","content":""}`, false},
		{"notes_list", `{"limit":1}`, true}, {"notes_list", `{"folder":"nowhere"}`, false},
		{"notes_read", `{"path":"a/one.md"}`, true}, {"notes_read", `{"path":"gone.md"}`, false},
		{"notes_search", `{"query":"HIDDEN"}`, true}, {"notes_search", `{"query":""}`, false},
		{"tasks_add", `{"title":"one","due":"2027-03-01","tags":["a"]}`, true}, {"tasks_add", `{"title":"x","due":"soon"}`, false},
		{"tasks_list", `{"status":"all"}`, true}, {"tasks_list", `{"status":"most"}`, false},
		{"tasks_complete", `{"id":1}`, true}, {"tasks_complete", `{"id":9}`, false},
	},
	"basic": {
		{"add", `{"a":1,"b":2.5}`, true}, {"add", `{"a":1e308,"b":1e308}`, false},
		{"multiply", `{"a":3,"b":2}`, true}, {"multiply", `{"a":3}`, false},
		{"echo", `{"text":"say"}`, true}, {"echo", `{"text":7}`, false},
		{"current-time", `{"timeZone":"Europe/Berlin"}`, true}, {"current-time", `{"timeZone":"Nowhere"}`, false},
		{"process_steps", `{"steps":2}`, true}, {"process_steps", `{"steps":0}`, false},
		{"create_task", `{"title":"one"}`, true}, {"create_task", `{"titel":"one"}`, false},
		{"list_tasks", `{}`, true}, {"list_tasks", `{"limit":0}`, false},
		{"complete_task", `{"id":1}`, true}, {"complete_task", `{"id":99}`, false},
		{"delete_task", `{"id":1,"confirm":true}`, true}, {"delete_task", `{"id":1,"confirm":true}`, false},
	},
	"taskfile": {
		{"taskfile_list", `{"status":true}`, true}, {"taskfile_list", `{"root":"nowhere"}`, false},
		{"taskfile_run", `{"task":"greet","vars":{"WHO":"you"}}`, true}, {"taskfile_run", `{"task":"fail"}`, false},
		{"greet", `{}`, true}, {"greet", `{"WHO":"$(id)"}`, false},
		{"fail", `{"WHO":"nobody"}`, false},
		{"deploy", `{"MATCH":["api"]}`, true}, {"deploy", `{"MATCH":[]}`, false},
	},
}

// testTaskfile has the tasks of the callings.
const testTaskfile = `version: '3'
vars: {WHO: world}
tasks:
  greet: {desc: Say hello, cmds: ['echo "hello {{.WHO}}"']}
  fail: {cmds: ['echo out; echo err >&2; exit 7']}
  'deploy:*': {cmds: ['echo {{index .MATCH 0}}']}
`

// bench is a preset that is set up in a folder of its own, with every tool on.
type bench struct {
	preset config.Preset
	flags  []string
	self   string // beside which the runner lies
}

func setUp(t *testing.T, p config.Preset) bench {
	t.Helper()
	dir := t.TempDir()
	b := bench{preset: p}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(p.Toolsets, "taskfile") {
		b.self = filepath.Join(filepath.Dir(testenv.Runner(t)), "handrail")
		if err := os.WriteFile(filepath.Join(root, "Taskfile.yml"), []byte(testTaskfile), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range p.Settings {
		switch s.Option {
		case "db", "audit-db":
			b.flags = append(b.flags, "--"+s.Option, filepath.Join(dir, "a.db"))
		case "root":
			b.flags = append(b.flags, "--root", root)
		case "allow-write":
			b.flags = append(b.flags, "--allow-write", strings.Join(p.Writes, ","))
		case "confirm":
			if p.Name == "basic" { // nobody can be asked here
				b.flags = append(b.flags, "--confirm", "argument")
			}
		}
	}
	return b
}

// serve runs the preset on these lines of input and returns its lines of output.
func (b bench) serve(t *testing.T, in string) (out []string, log string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{b.preset.Name}, b.flags...)
	status := cli.Main(t.Context(), args, cli.Env{
		In: strings.NewReader(in), Out: &stdout, Err: &stderr, Now: time.Now, Self: b.self, Environ: os.Environ(),
		Getenv: func(string) string { return "" },
	})
	if status != 0 {
		t.Fatalf("handrail %s ended with status %d\n%s", strings.Join(args, " "), status, stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		out = append(out, line)
	}
	return out, stderr.String()
}

// modern is a request of the modern era.
func modern(t *testing.T, id int, method string, params map[string]any) string {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// listed is what tools/list says of a tool, as far as these tests go.
type listed struct {
	Name         string
	OutputSchema json.RawMessage
}

func (b bench) tools(t *testing.T) map[string]listed {
	t.Helper()
	out, _ := b.serve(t, modern(t, 1, "tools/list", nil))
	var reply struct{ Result struct{ Tools []listed } }
	if len(out) != 1 || json.Unmarshal([]byte(out[0]), &reply) != nil {
		t.Fatalf("tools/list answered %q", out)
	}
	all := map[string]listed{}
	for _, tool := range reply.Result.Tools {
		all[tool.Name] = tool
	}
	return all
}

// Clients refuse structured content that is not as the tool's outputSchema says,
// and many read the text only (servers 3099).
func TestWhatEveryToolAnswersIsAsItsOutputSchemaSaysAndItsTextSaysTheSame(t *testing.T) {
	for _, p := range config.Presets {
		t.Run(p.Name, func(t *testing.T) {
			b := setUp(t, p)
			tools := b.tools(t)
			answered := map[string]map[bool]bool{}
			for _, c := range callings[p.Name] {
				tool, offered := tools[c.tool]
				if !offered {
					t.Fatalf("%s is not offered", c.tool)
				}
				checkAnswer(t, b, tool, c)
				if answered[c.tool] == nil {
					answered[c.tool] = map[bool]bool{}
				}
				answered[c.tool][c.ok] = true
			}
			for name := range tools {
				if name != "fail" && !answered[name][true] || !answered[name][false] {
					t.Errorf("%s is not tried with both kinds of answer", name)
				}
			}
		})
	}
}

func checkAnswer(t *testing.T, b bench, tool listed, c calling) {
	t.Helper()
	out, log := b.serve(t, modern(t, 1, "tools/call", map[string]any{"name": c.tool, "arguments": json.RawMessage(c.args)}))
	var reply struct {
		Result struct {
			Content []struct {
				Type, Text string
				Meta       map[string]any `json:"_meta"`
			}
			StructuredContent map[string]any
			IsError           bool
		}
	}
	if len(out) != 1 || json.Unmarshal([]byte(out[0]), &reply) != nil {
		t.Fatalf("%s %s answered %q\n%s", c.tool, c.args, out, log)
	}
	r := reply.Result
	if r.StructuredContent["ok"] != c.ok || r.IsError == c.ok {
		t.Errorf("%s %s: ok is not %v, or isError not its opposite: %s", c.tool, c.args, c.ok, out[0])
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(r.StructuredContent); err != nil {
		t.Errorf("%s %s: not as the output schema says: %v\n%s", c.tool, c.args, err, out[0])
	}
	if len(r.Content) == 0 || r.Content[0].Text == "" {
		t.Fatalf("%s %s: the text is empty", c.tool, c.args)
	}
	for _, block := range r.Content {
		if block.Type != "text" || block.Text == "" {
			t.Errorf("%s %s: a block that is no text, or empty", c.tool, c.args)
		}
	}
	// What runs a task has blocks of its own: the status, then what it printed.
	if b.preset.Name == "taskfile" && c.tool != "taskfile_list" {
		if !strings.HasPrefix(r.Content[0].Text, "Task `") {
			t.Errorf("%s %s: the first block is %q", c.tool, c.args, r.Content[0].Text)
		}
		return
	}
	var twin map[string]any
	if err := json.Unmarshal([]byte(r.Content[0].Text), &twin); err != nil {
		t.Fatalf("%s %s: the text is no JSON: %v", c.tool, c.args, err)
	}
	if diff := cmp.Diff(r.StructuredContent, twin); diff != "" || len(r.Content) != 1 {
		t.Errorf("%s %s: the text says something else (-structured +text):\n%s", c.tool, c.args, diff)
	}
}
