package course_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// eras are the protocol versions that every lesson must speak.
var eras = []string{"2026-07-28", "2025-11-25", "2024-11-05"}

// patience is how long anything that should come at once may take.
const patience = 20 * time.Second

// host is a client that has started a lesson as a process of its own.
type host struct {
	*mcp.ClientSession
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *syncBuffer
	stderr *syncBuffer
}

// syncBuffer can be read while a process writes to it.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// copied writes everything to the buffer, and to the client as long as it reads.
type copied struct {
	all *syncBuffer
	to  io.Writer
}

func (c copied) Write(p []byte) (int, error) {
	_, _ = c.to.Write(p) // a client that is done reads no more
	return c.all.Write(p)
}

// start starts a lesson and connects to it. When the test ends, it closes the
// lesson's input, which must end it with status 0, and looks at what it printed.
func start(t *testing.T, lesson, era string, options *mcp.ClientOptions, middleware ...mcp.Middleware) *host {
	t.Helper()
	h := &host{cmd: exec.Command(program(t, lesson)), stdout: &syncBuffer{}, stderr: &syncBuffer{}}
	reader, writer := io.Pipe()
	h.cmd.Stdout, h.cmd.Stderr = copied{h.stdout, writer}, h.stderr
	stdin, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.stdin = stdin
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stdin.Close()
		kill := time.AfterFunc(patience, func() { h.cmd.Process.Kill() })
		defer kill.Stop()
		reader.Close()
		if err := h.cmd.Wait(); err != nil {
			t.Errorf("the end of input did not end %s in order: %v\n%s", lesson, err, h.stderr)
		}
		h.checkStdout(t)
	})
	client := mcp.NewClient(&mcp.Implementation{Name: "course", Version: "1"}, options)
	client.AddReceivingMiddleware(middleware...)
	h.ClientSession, err = client.Connect(t.Context(), &mcp.IOTransport{Reader: reader, Writer: stdin},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatalf("connecting: %v\n%s", err, h.stderr)
	}
	if got := h.InitializeResult().ProtocolVersion; got != era {
		t.Errorf("asked for %s, got %s", era, got)
	}
	return h
}

// checkStdout fails if anything but messages of the protocol was printed.
func (h *host) checkStdout(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(h.stdout.String()) {
		var m struct {
			Version string `json:"jsonrpc"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("on standard output: %q", line)
		}
	}
}

// call calls a tool, whose answer must be an error or must not.
func (h *host) call(t *testing.T, tool string, args map[string]any, failed bool) *mcp.CallToolResult {
	t.Helper()
	res, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, h.stderr)
	}
	if res.IsError != failed {
		t.Fatalf("%s %v: isError is %v: %s", tool, args, res.IsError, text(res))
	}
	return res
}

// text is all text of a result.
func text(res *mcp.CallToolResult) string {
	var all []string
	for _, block := range res.Content {
		if b, ok := block.(*mcp.TextContent); ok {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

// says fails unless all words are in s.
func says(t *testing.T, s string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(s, w) {
			t.Errorf("%q does not say %q", s, w)
		}
	}
}

// soon waits for a value.
func soon[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// inEveryEra runs a test once for each era.
func inEveryEra(t *testing.T, test func(t *testing.T, era string)) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			test(t, era)
		})
	}
}

func TestLesson01OffersOneTool(t *testing.T) {
	inEveryEra(t, func(t *testing.T, era string) {
		h := start(t, "lesson01", era, nil)
		tools, err := h.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 1 || tools.Tools[0].Name != "add" || !tools.Tools[0].Annotations.ReadOnlyHint {
			t.Fatalf("%v, %v", tools, err)
		}
		says(t, text(h.call(t, "add", map[string]any{"a": 2, "b": 0.5}, false)), "2.5")
		h.call(t, "add", map[string]any{"a": 2}, true)
		if _, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: "subtract"}); err == nil {
			t.Error("a tool that is not there was called")
		}
	})
}

func TestLesson02RefusesWhatDoesNotFitAndSaysWhatToDo(t *testing.T) {
	inEveryEra(t, func(t *testing.T, era string) {
		h := start(t, "lesson02", era, nil)
		res := h.call(t, "book_table", map[string]any{"date": "2027-06-05", "guests": 4, "area": "terrace"}, false)
		got, err := json.Marshal(res.StructuredContent)
		if want := `{"area":"terrace","date":"2027-06-05","guests":4,"weekday":"Saturday"}`; err != nil || string(got) != want || text(res) != want {
			t.Errorf("structured %s, text %s, want %s", got, text(res), want)
		}
		for _, tt := range []struct {
			args  map[string]any
			words []string
		}{
			{map[string]any{"date": "2027-06-05", "guests": 13}, []string{"guests", "12"}},
			{map[string]any{"date": "2027-06-05", "guests": 0}, []string{"guests", "1"}},
			{map[string]any{"date": "2027-06-05", "guests": 1.5}, []string{"guests", "integer"}},
			{map[string]any{"date": "2027-06-05", "guests": 4, "aera": "terrace"}, []string{"aera"}},
			{map[string]any{"date": "2027-06-05", "guests": 4, "area": "roof"}, []string{"area"}},
			{map[string]any{"guests": 4}, []string{"date"}},
			{map[string]any{"date": "2027-02-30", "guests": 4}, []string{"date", "YYYY-MM-DD"}},
			{map[string]any{"date": "2027-01-09", "guests": 4, "area": "terrace"}, []string{"inside", "April"}},
		} {
			says(t, text(h.call(t, "book_table", tt.args, true)), tt.words...)
		}
		says(t, text(h.call(t, "book_table", map[string]any{"date": "2027-01-09", "guests": 2}, false)), `"inside"`)
	})
}

func TestLesson03TellsWhatChangedAndNotHow(t *testing.T) {
	inEveryEra(t, func(t *testing.T, era string) {
		updated, listed, begun := make(chan string, 10), make(chan string, 10), make(chan string, 10)
		h := start(t, "lesson03", era, &mcp.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
			ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
				listed <- "changed"
			},
		}, func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if strings.HasSuffix(method, "/acknowledged") {
					begun <- method
				}
				return next(ctx, method, req)
			}
		})
		read := func(uri string) string {
			res, err := h.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				t.Fatalf("%s: %v", uri, err)
			}
			return res.Contents[0].Text
		}
		says(t, read("shopping://list"), `["tea","rice"]`)
		says(t, read("shopping://items/1"), `"tea"`)
		for _, uri := range []string{"shopping://items/0", "shopping://items/99", "shopping://items/x", "shopping://other"} {
			if _, err := h.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s was read", uri)
			}
		}
		if err := h.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "shopping://list"}); err != nil {
			t.Fatal(err)
		}
		if era == eras[0] {
			soon(t, "the acknowledgement of lists", begun)
			soon(t, "the acknowledgement of the resource", begun)
		}
		h.call(t, "add_item", map[string]any{"item": "soap"}, false)
		says(t, soon(t, "the update", updated), "shopping://list")
		soon(t, "the change of the list", listed)
		says(t, read("shopping://list"), "soap")
		res, err := h.ListResources(t.Context(), nil)
		if err != nil || len(res.Resources) != 2 {
			t.Errorf("%v, %v", res, err)
		}
		if strings.Contains(notices(h), "soap") {
			t.Errorf("a notice says what has changed:\n%s", notices(h))
		}
	})
}

// notices are the lines of standard output that are notices.
func notices(h *host) string {
	var all strings.Builder
	for line := range strings.Lines(h.stdout.String()) {
		if strings.Contains(line, `"method":"notifications/`) {
			all.WriteString(line)
		}
	}
	return all.String()
}
