package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/testenv"
)

// patience is how long a test waits for one reply or one exit. It is generous:
// it decides only when a hang is called a hang.
const patience = 15 * time.Second

// lockedBuffer is stderr of a server: written by its process, read by tests.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// command is `handrail tasks` on the database db.
func command(t testing.TB, db string, args ...string) *exec.Cmd {
	t.Helper()
	if len(args) == 0 {
		args = []string{"tasks"}
	}
	cmd := exec.Command(testenv.Binary(t), args...)
	cmd.Env = append(os.Environ(), "TASKS_DB_PATH="+db)
	cmd.Dir = t.TempDir()
	return cmd
}

func newDB(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "tasks.db")
}

// message is one line of the wire, or one element of a batch.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *rpcError       `json:"error"`
	// inBatch says that the message came inside an array.
	inBatch bool
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (m message) reply() bool { return m.Method == "" }

// envelope is a tool result as Handrail makes it.
type envelope struct {
	OK   bool            `json:"ok"`
	Data json.RawMessage `json:"data"`
	Err  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// envelope checks the three faces of a tool result against each other.
func (m message) envelope(t testing.TB) envelope {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("reply %s is a protocol error: %+v", m.ID, m.Error)
	}
	var res struct {
		IsError bool
		Content []struct{ Type, Text string }
		Struct  json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(m.Result, &res); err != nil {
		t.Fatalf("reply %s: %v in %s", m.ID, err, m.Result)
	}
	var e envelope
	if err := json.Unmarshal(res.Struct, &e); err != nil {
		t.Fatalf("structuredContent %s: %v", res.Struct, err)
	}
	if len(res.Content) == 0 || res.Content[0].Type != "text" || !sameJSON(res.Content[0].Text, string(res.Struct)) {
		t.Errorf("the text block is not the same JSON as structuredContent: %s", m.Result)
	}
	if res.IsError == e.OK {
		t.Errorf("isError %v beside ok %v: %s", res.IsError, e.OK, m.Result)
	}
	return e
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

// parseLine reads a line of stdout and fails the test unless it is JSON-RPC.
func parseLine(t testing.TB, line []byte) []message {
	t.Helper()
	var list []message
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		if err := json.Unmarshal(line, &list); err != nil || len(list) == 0 {
			t.Fatalf("stdout has a line that is no JSON-RPC batch: %q", line)
		}
		for i := range list {
			list[i].inBatch = true
		}
	} else {
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("stdout has a line that is no JSON: %q", line)
		}
		list = []message{m}
	}
	for _, m := range list {
		switch {
		case m.JSONRPC != "2.0":
			t.Fatalf("stdout has a line without jsonrpc 2.0: %q", line)
		case m.reply() && (m.Result == nil) == (m.Error == nil):
			t.Fatalf("stdout has a reply with neither or both of result and error: %q", line)
		case m.reply() && m.ID == nil:
			t.Fatalf("stdout has a reply without an id: %q", line)
		}
	}
	return list
}

// wire is a running server at the end of raw pipes.
type wire struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte
	held   []message
	stderr *lockedBuffer
	exited chan error
}

// dial starts cmd and reads its stdout line by line.
func dial(t testing.TB, cmd *exec.Cmd) *wire {
	t.Helper()
	w := &wire{t: t, cmd: cmd, lines: make(chan []byte, 1024), stderr: &lockedBuffer{}, exited: make(chan error, 1)}
	cmd.Stderr = w.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.in = in
	go func() {
		defer close(w.lines)
		var buf bytes.Buffer
		chunk := make([]byte, 64<<10)
		for {
			n, err := out.Read(chunk)
			buf.Write(chunk[:n])
			for {
				i := bytes.IndexByte(buf.Bytes(), '\n')
				if i < 0 {
					break
				}
				w.lines <- bytes.Clone(buf.Next(i + 1))
			}
			if err != nil {
				if buf.Len() > 0 {
					w.lines <- bytes.Clone(buf.Bytes())
				}
				w.exited <- cmd.Wait()
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		for range w.lines {
		}
	})
	return w
}

// send writes each line and a newline; a server that is gone fails the test.
func (w *wire) send(lines ...string) {
	w.t.Helper()
	w.raw(strings.Join(lines, "\n") + "\n")
}

func (w *wire) raw(s string) {
	w.t.Helper()
	done := make(chan error, 1)
	go func() { _, err := io.WriteString(w.in, s); done <- err }()
	select {
	case err := <-done:
		if err != nil {
			w.t.Fatalf("the server no longer reads: %v\nstderr: %s", err, w.stderr)
		}
	case <-time.After(patience):
		w.t.Fatalf("the server stopped reading\nstderr: %s", w.stderr)
	}
}

// next is the next message of any kind, or false at the end of stdout.
func (w *wire) next() (message, bool) {
	w.t.Helper()
	if len(w.held) == 0 {
		select {
		case line, ok := <-w.lines:
			if !ok {
				return message{}, false
			}
			w.held = parseLine(w.t, line)
		case <-time.After(patience):
			w.t.Fatalf("no message within %v\nstderr: %s", patience, w.stderr)
		}
	}
	m := w.held[0]
	w.held = w.held[1:]
	return m, true
}

// reply waits for the reply to this id, written as on the wire; what comes
// before it is dropped, except that an id may be given as "*" for any reply.
func (w *wire) reply(id string) message {
	w.t.Helper()
	for {
		m, ok := w.next()
		if !ok {
			w.t.Fatalf("the server ended without a reply to %s\nstderr: %s", id, w.stderr)
		}
		if m.reply() && (id == "*" || string(m.ID) == id) {
			return m
		}
	}
}

// end closes stdin and returns what still came, and the exit status.
func (w *wire) end() ([]message, int) {
	w.t.Helper()
	w.in.Close()
	var rest []message
	for {
		m, ok := w.next()
		if !ok {
			break
		}
		rest = append(rest, m)
	}
	err := <-w.exited
	var exit *exec.ExitError
	switch {
	case err == nil:
		return rest, 0
	case errors.As(err, &exit):
		return rest, exit.ExitCode()
	}
	w.t.Fatal(err)
	return nil, 0
}

// pipe runs cmd with in as its whole stdin and returns every message and the
// exit status.
func pipe(t testing.TB, cmd *exec.Cmd, in string) ([]message, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { cmd.Process.Kill() })()
	err := cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("the server did not end\nstdout: %s\nstderr: %s", &out, &stderr)
	}
	var list []message
	for line := range bytes.Lines(out.Bytes()) {
		list = append(list, parseLine(t, line)...)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Logf("stderr: %s", &stderr)
		return list, exit.ExitCode()
	}
	return list, 0
}

// run is a command of the binary that is no server: its stdout and status.
func run(t testing.TB, db string, args ...string) (string, int) {
	t.Helper()
	cmd := command(t, db, args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String() + stderr.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), 0
}
