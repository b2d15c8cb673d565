package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"handrail/internal/config"
	"handrail/internal/mcpclient"
)

// act is one way to speak MCP: a transport in one era of the protocol.
type act struct {
	version     string
	http        bool
	title, text string
}

// acts are the four that there are.
var acts = []act{
	{mcpclient.Modern, false, "Standard streams, the modern era",
		"A host on your own machine starts the server as a child process. Messages are JSON-RPC,\none a line: requests go into its standard input, replies come out of its standard\noutput, and its standard error is for people. In this era there is no handshake."},
	{mcpclient.Legacy, false, "Standard streams, the era of the handshake",
		"The same program, and an older host. What differs is said at each step."},
	{mcpclient.Modern, true, "HTTP, the modern era",
		"One server for several people, who each have a token. Each message to it is a POST;\nthe answer is one JSON message, or a stream of events if there is more to say."},
	{mcpclient.Legacy, true, "HTTP, the era of the handshake",
		"The same server at the same URL, and an older client. Now there is a session."},
}

// course is the teaching client: every feature of the protocol, in each act,
// against the real server.
type course struct {
	*stage
	wire    *wire
	act     act
	first   bool               // the explanations stand in the first act only
	server  *mcpclient.Process // over HTTP
	tokens  map[string]string
	person  func(mcpclient.Question) mcpclient.Reply
	task    int64 // a task that the act made
	givenUp int   // calls that were cancelled, in this database
}

// playCourse runs every act, in order, until a step fails.
func (d *stage) playCourse(ctx context.Context) error {
	c := &course{stage: d, wire: newWire(d), tokens: map[string]string{"alice": token(), "bob": token()}}
	defer c.stop()
	d.say("%s", d.paint.strong("MCP, message by message"))
	d.say("This is the real server in a process of its own, in a temporary folder, and a client")
	d.say("that shows what goes over the wire: → is what it sends, ← what it gets. Long texts are")
	d.say("cut and time stamps left out. Everything is done four times: over standard streams and")
	d.say("over HTTP, each in both eras of the protocol. Nothing of yours is touched.")
	for i, a := range acts {
		c.act, c.first = a, i == 0
		d.say("\n%s", d.paint.strong(fmt.Sprintf("— %s (%s) —", a.title, a.version)))
		d.indented(a.text)
		if err := c.playAct(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *course) playAct(ctx context.Context, i int) error {
	if !c.act.http || c.server == nil {
		c.db, c.givenUp = filepath.Join(c.dir, fmt.Sprintf("act%d.db", i+1)), 0
	}
	steps := []func(context.Context) error{
		c.connects, c.callsTool, c.readsResource, c.fillsPrompt, c.completes, c.followsProgress, c.givesUp, c.subscribes, c.isAsked,
	}
	if c.act.http {
		steps = append(steps, c.isSomebodyElse)
	}
	for _, step := range append(steps, c.parts) {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// told waits for a notice that the server sends.
func (c *course) told(ctx context.Context, method, text string) error {
	_, err := c.wire.await(ctx, method+" of "+text, func(s said) bool { return !s.Sent && s.is(method, text) })
	return err
}

// stop ends whatever still runs.
func (c *course) stop() error {
	err := c.end()
	if c.server != nil {
		err = errors.Join(err, c.server.Stop())
		c.server = nil
	}
	return err
}

// token is a random bearer token.
func token() string { return rand.Text() + rand.Text() }

// begins begins a step. why explains it, in the first act; here says what is
// different in this one.
func (c *course) begins(title, why string, here ...string) {
	if !c.first {
		why = ""
	}
	text := slices.DeleteFunc(append([]string{why}, here...), func(s string) bool { return s == "" })
	c.title(title, strings.Join(text, "\n"))
	c.wire.begin(title == connecting)
	c.say("")
}

// only is text where a condition holds, else nothing.
func only(when bool, text string) string {
	if when {
		return text
	}
	return ""
}

func (c *course) modern() bool { return c.act.version == mcpclient.Modern }

// client is the client of this act.
func (c *course) client() mcpclient.Client {
	return mcpclient.Client{
		Name: "handrail-demo", Version: c.act.version, Tap: c.wire.tap, Announced: true,
		Person: func(q mcpclient.Question) mcpclient.Reply { return c.person(q) },
	}
}

// child is the server as a child process.
func (c *course) child(args ...string) mcpclient.Server {
	p, _ := config.FindPreset("basic")
	s := mcpclient.Server{Path: c.self, Dir: c.dir, Stderr: &c.log}
	s.Args = append([]string{p.Name, "--db", c.db}, args...)
	for _, setting := range p.Settings {
		s.Without = append(s.Without, setting.Env)
	}
	// A secret, so that nothing is said about there being none.
	s.Env = append(s.Env, "REQUEST_STATE_SECRET="+token())
	return s
}

// listen starts the server over HTTP.
func (c *course) listen(ctx context.Context) error {
	tokens, err := json.Marshal(c.tokens)
	if err != nil {
		return err
	}
	s := c.child("--http", "--listen", "127.0.0.1:0")
	s.Env = append(s.Env, "MCP_AUTH_TOKENS_JSON="+string(tokens))
	c.server, err = mcpclient.Launch(ctx, s, func(line []byte) string {
		var entry struct{ Msg, URL string }
		if json.Unmarshal(line, &entry) != nil || entry.Msg != "listening" {
			return ""
		}
		return entry.URL
	})
	if err != nil {
		return c.withLog(err)
	}
	return nil
}

// ask calls a tool and reads its answer, which must be an envelope.
func (c *course) ask(ctx context.Context, tool, args string) (envelope, error) {
	answer, err := c.session.Call(ctx, tool, json.RawMessage(args))
	if err != nil {
		return envelope{}, c.withLog(fmt.Errorf("%s: %w", tool, err))
	}
	return readEnvelope(tool, answer)
}

// must calls a tool that must succeed, and reads its data.
func (c *course) must(ctx context.Context, tool, args string, data any) error {
	e, err := c.ask(ctx, tool, args)
	if err != nil {
		return err
	}
	if !e.OK {
		return fmt.Errorf("%s was refused: %s", tool, e.Error.Message)
	}
	return json.Unmarshal(e.Data, data)
}

// mustNot calls a tool that must be refused with this code.
func (c *course) mustNot(ctx context.Context, tool, args, code string) error {
	e, err := c.ask(ctx, tool, args)
	switch {
	case err != nil:
		return err
	case e.OK || e.Error.Code != code:
		return fmt.Errorf("%s was not refused with %s: ok is %v, code %q", tool, code, e.OK, e.Error.Code)
	}
	return nil
}

// sent reports an error unless the client sent such a message in this step.
func (c *course) sent(what string, match func(said) bool) error {
	if len(c.wire.all(func(s said) bool { return s.Sent && match(s) })) == 0 {
		return fmt.Errorf("%s was not sent", what)
	}
	return nil
}

// holds reports an error unless a text has another one in it.
func holds(what, text, part string) error {
	if !strings.Contains(text, part) {
		return fmt.Errorf("%s does not have %q in it: %s", what, part, clip(visible(text), shownJSON))
	}
	return nil
}
