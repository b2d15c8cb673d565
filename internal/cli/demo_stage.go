package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"handrail/internal/config"
	"handrail/internal/mcpclient"
)

// stage is where the demo plays: a folder, a server that runs, and the person
// who watches.
type stage struct {
	env     Env
	paint   paint
	self    string // this program
	dir     string
	db      string
	step    int
	session *mcpclient.Session
	log     serverLog

	speaking sync.Mutex // what goes over the wire is shown by other goroutines
}

// serverLog is what the server wrote to stderr. Safe for concurrent use.
type serverLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.text.String())
}

func newStage(env Env, self, dir string) *stage {
	return &stage{env: env, paint: newPaint(env), self: self, dir: dir, db: filepath.Join(dir, "tasks.db")}
}

func (d *stage) say(format string, args ...any) {
	d.speaking.Lock()
	defer d.speaking.Unlock()
	fmt.Fprintf(d.env.Out, format+"\n", args...)
}

// title begins a step; the text says what will be seen.
func (d *stage) title(title, text string) {
	d.step++
	d.say("\n%s", d.paint.strong(fmt.Sprintf("%d. %s", d.step, title)))
	d.indented(text)
}

// indented shows lines that somebody else wrote.
func (d *stage) indented(text string) {
	if text == "" {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		d.say("%s", strings.TrimRight("   "+line, " "))
	}
}

// start starts the server and connects to it.
func (d *stage) start(ctx context.Context, version string) error {
	p, _ := config.FindPreset(defaultPreset)
	s := mcpclient.Server{Path: d.self, Args: []string{p.Name, "--db", d.db, "--log-level", "warn"}, Dir: d.dir, Stderr: &d.log}
	for _, setting := range p.Settings {
		s.Without = append(s.Without, setting.Env)
	}
	session, err := mcpclient.Start(ctx, s, mcpclient.Client{Name: "handrail-demo", Version: version})
	if err != nil {
		return d.withLog(err)
	}
	d.session = session
	if got := session.Protocol(); got != version {
		return fmt.Errorf("asked for protocol %s, got %s", version, got)
	}
	return nil
}

// withLog adds what the server said to stderr: the cause is often there.
func (d *stage) withLog(err error) error {
	log := d.log.String()
	if log == "" {
		return err
	}
	return fmt.Errorf("%w; the server's log:\n%s", err, log)
}

// end ends the server that runs, if one does.
func (d *stage) end() error {
	if d.session == nil {
		return nil
	}
	s := d.session
	d.session = nil
	if err := s.Close(); err != nil {
		return d.withLog(err)
	}
	return nil
}

// envelope is what every tool of ours answers.
type envelope struct {
	OK    bool            `json:"ok"`
	Data  json.RawMessage `json:"data"`
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// call calls a tool, shows both sides and returns what was answered.
func (d *stage) call(ctx context.Context, tool, args string) (envelope, error) {
	d.say("\n   %s %s %s", d.paint.faint("→"), tool, args)
	answer, err := d.session.Call(ctx, tool, json.RawMessage(args))
	if err != nil {
		return envelope{}, d.withLog(fmt.Errorf("%s: %w", tool, err))
	}
	shown := visibleJSON([]byte(times.ReplaceAllString(answer.Text, "")))
	if answer.Failed {
		shown = d.paint.bad(shown)
	}
	d.say("   %s %s", d.paint.faint("←"), shown)
	return readEnvelope(tool, answer)
}

// readEnvelope reads the answer of a tool of ours, and holds its parts against
// each other.
func readEnvelope(tool string, answer mcpclient.Answer) (envelope, error) {
	var e envelope
	if err := json.Unmarshal(answer.Content, &e); err != nil {
		return e, fmt.Errorf("%s: the answer is no envelope: %w", tool, err)
	}
	if !sameJSON(answer.Content, []byte(answer.Text)) {
		return e, fmt.Errorf("%s: the text and the structured content differ", tool)
	}
	if e.OK == answer.Failed {
		return e, fmt.Errorf("%s: ok is %v and isError is %v", tool, e.OK, answer.Failed)
	}
	return e, nil
}

// times are the fields that the demo leaves out of what it shows.
var times = regexp.MustCompile(`,\\?"(createdAt|updatedAt|completedAt)\\?":\\?"[^"\\]*\\?"`)

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// succeeds calls a tool that must do what it is asked, and reads its data.
func (d *stage) succeeds(ctx context.Context, tool, args string, data any) error {
	e, err := d.call(ctx, tool, args)
	if err != nil {
		return err
	}
	if !e.OK {
		return fmt.Errorf("%s was refused: %s", tool, e.Error.Message)
	}
	return json.Unmarshal(e.Data, data)
}

// refused calls a tool that must refuse, with this code and this word in the
// message.
func (d *stage) refused(ctx context.Context, tool, args, code, word string) error {
	e, err := d.call(ctx, tool, args)
	switch {
	case err != nil:
		return err
	case e.OK:
		return fmt.Errorf("%s was not refused", tool)
	case e.Error.Code != code || !strings.Contains(e.Error.Message, word):
		return fmt.Errorf("%s was refused for another reason than %s of %s", tool, code, word)
	}
	return nil
}

// command runs one of our own commands as a person would, shows it, and returns
// what it printed. It must end with this exit status.
func (d *stage) command(ctx context.Context, status int, args ...string) (string, error) {
	var out, complaint bytes.Buffer
	env := Env{In: strings.NewReader(""), Out: &out, Err: &complaint, Getenv: func(string) string { return "" }, Now: d.env.Now}
	got := Main(ctx, args, env)
	d.say("\n   %s handrail %s", d.paint.faint("$"), d.short(strings.Join(args, " ")))
	text := d.short(strings.TrimRight(out.String()+complaint.String(), "\n"))
	d.indented(text)
	if status != ExitOK {
		d.say("   %s", d.paint.faint(fmt.Sprintf("(exit status %d)", got)))
	}
	if got != status {
		return text, fmt.Errorf("handrail %s ended with status %d, not %d", args[0], got, status)
	}
	return text, nil
}

// short leaves the demo's own folder out of a text.
func (d *stage) short(s string) string {
	return strings.ReplaceAll(s, d.dir+string(filepath.Separator), "")
}

// copyDB copies the database, which no server has open.
func (d *stage) copyDB(name string) (string, error) {
	to := filepath.Join(d.dir, name)
	b, err := os.ReadFile(d.db)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	return to, err
}

// forge changes text in a file, behind the back of the database: no SQL, so no
// trigger is asked.
func forge(path, old, new string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := bytes.Count(b, []byte(old)); n == 0 || len(old) != len(new) {
		return fmt.Errorf("%q does not stand in the file", old)
	}
	return os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(new)), 0o600)
}
