package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/internal/mcpclient"
)

const connecting = "The client connects"

// The notices that the course waits for.
const (
	acknowledged = "notifications/subscriptions/acknowledged"
	updated      = "notifications/resources/updated"
	listChanged  = "notifications/resources/list_changed"
	cancelled    = "notifications/cancelled"
)

func (c *course) connects(ctx context.Context) error {
	c.begins(connecting, "",
		only(c.modern() && c.first, "It asks what the server can do: server/discover. Every request says in _meta which\nversion of the protocol it speaks, who the client is, and what it can do; the server\nkeeps nothing of it between two requests. After this step that part is not shown. The\nclient also asks to be told when the list of resources changes: subscriptions/listen is\na request whose reply comes when it is over."),
		only(c.modern() && c.act.http, "The same messages, each in a POST. Headers repeat the version, the method and the name,\nso that a proxy can route by them without reading the body; the server refuses a request\nwhose headers say something else. After this step, headers that were shown are not\nrepeated. The first try has a wrong token; this client then tries the handshake, in case\nthe server knows only that, and is refused again."),
		only(!c.modern(), "A handshake: initialize says what the client speaks and can do, the reply what the\nserver speaks and can do, and notifications/initialized begins the session."),
		only(!c.modern() && c.act.http, "The server names a session, which the client repeats in a header. A GET opens the\nstream for what the server says unasked."))
	if err := c.connect(ctx); err != nil {
		return err
	}
	if got := c.session.Protocol(); got != c.act.version {
		return fmt.Errorf("asked for protocol %s, got %s", c.act.version, got)
	}
	if c.modern() {
		if err := c.sent("server/discover", func(s said) bool { return s.is("server/discover", c.act.version) }); err != nil {
			return err
		}
		return c.told(ctx, acknowledged, "resourcesListChanged")
	}
	return c.sent("notifications/initialized", func(s said) bool { return s.Method == "notifications/initialized" })
}

func (c *course) connect(ctx context.Context) (err error) {
	if !c.act.http {
		c.say("   %s handrail basic --db %s\n", c.paint.faint("$"), c.short(c.db))
		if c.session, err = mcpclient.Start(ctx, c.child("--log-level", "warn"), c.client()); err != nil {
			return c.withLog(err)
		}
		return nil
	}
	if c.server == nil {
		c.say("   %s MCP_AUTH_TOKENS_JSON='{\"alice\":…,\"bob\":…}' handrail basic --db %s --http\n", c.paint.faint("$"), c.short(c.db))
		if err := c.listen(ctx); err != nil {
			return err
		}
		if _, err := mcpclient.Dial(ctx, c.server.URL, token(), c.client()); err == nil {
			return errors.New("a wrong token was accepted")
		}
		if len(c.wire.all(func(s said) bool { return strings.HasPrefix(s.HTTP, "401 ") })) == 0 {
			return errors.New("a wrong token was not answered with 401")
		}
		c.say("\n   With the token of alice:\n")
		c.wire.begin(true)
	}
	if c.session, err = mcpclient.Dial(ctx, c.server.URL, c.tokens["alice"], c.client()); err != nil {
		return c.withLog(err)
	}
	return nil
}

func (c *course) callsTool(ctx context.Context) error {
	c.begins("Tools: what the model may do",
		"The model chooses a tool by its name, title and description, and the host sends the\ncall. A tool says what its arguments may be (inputSchema), what it returns (outputSchema)\nand whether it only reads or can destroy. The answer comes twice: structuredContent for\nprograms, a text with the same JSON for models. A refusal is an answer too (isError), so\nthat the model reads what was wrong and mends it.")
	tools, err := c.session.Tools(ctx)
	if err != nil {
		return c.withLog(err)
	}
	for _, name := range []string{"add", "process_steps", "create_task", "delete_task"} {
		if !slices.ContainsFunc(tools, func(t mcpclient.Tool) bool { return t.Name == name }) {
			return fmt.Errorf("the server does not offer %s", name)
		}
	}
	var sum struct{ Result float64 }
	if err := c.must(ctx, "add", `{"a":2,"b":3}`, &sum); err != nil {
		return err
	}
	if sum.Result != 5 {
		return fmt.Errorf("2 and 3 made %v", sum.Result)
	}
	return c.mustNot(ctx, "add", `{"a":2,"c":3}`, "invalid_input")
}

func (c *course) readsResource(ctx context.Context) error {
	c.begins("Resources: what the host may read",
		"A resource is read, never run: the host, or the person, puts it into the context.\nIt has a URI; a template stands for many. Here a\ntool makes a task first, so that the list changes, and the client hears of it. ttlMs\nsays how long a reader may keep what it read.")
	var made shownTask
	if err := c.must(ctx, "create_task", `{"title":"Read the first lesson"}`, &made); err != nil {
		return err
	}
	c.task = made.ID
	if err := c.told(ctx, listChanged, ""); err != nil {
		return err
	}
	all, err := c.session.Resources(ctx)
	if err != nil {
		return c.withLog(err)
	}
	for _, uri := range []string{"demo://about", "demo://greeting/{name}", "tasks://board", "tasks://items/{id}", fmt.Sprintf("tasks://items/%d", c.task)} {
		if !slices.Contains(all, uri) {
			return fmt.Errorf("the server does not list %s", uri)
		}
	}
	text, err := c.session.Read(ctx, "demo://greeting/Ada")
	if err == nil {
		err = holds("the greeting", text, "Ada")
	}
	if err != nil {
		return err
	}
	if text, err = c.session.Read(ctx, "tasks://board"); err != nil {
		return err
	}
	who := "local"
	if c.act.http {
		who = "alice"
	}
	return errors.Join(holds("the board", text, "Read the first lesson"), holds("the board", text, fmt.Sprintf(`"user":%q`, who)))
}

func (c *course) fillsPrompt(ctx context.Context) error {
	c.begins("Prompts: what a person may choose",
		"A prompt is a text with places to fill in, which the person picks from a menu. The\nserver fills it in, and the host puts the messages before the model.")
	names, err := c.session.Prompts(ctx)
	if err != nil {
		return c.withLog(err)
	}
	if !slices.Contains(names, "review-code") {
		return fmt.Errorf("the server offers the prompts %s only", plural(names))
	}
	text, err := c.session.Prompt(ctx, "review-code", map[string]string{"code": "x := 1 / 0", "language": "go"})
	if err != nil {
		return err
	}
	return errors.Join(holds("the prompt", text, "x := 1 / 0"), holds("the prompt", text, "go"))
}

func (c *course) completes(ctx context.Context) error {
	c.begins("Completions: help with filling in",
		"While the person types an argument, the host asks what may follow. The best comes first.")
	values, err := c.session.Complete(ctx, "review-code", "language", "py")
	if err != nil {
		return err
	}
	if len(values) == 0 || values[0] != "python" {
		return fmt.Errorf("py was completed to %q", values)
	}
	return nil
}

// progress reports whether a message is progress under this token.
func progress(token string) func(said) bool {
	return func(s said) bool { return !s.Sent && s.is("notifications/progress", fmt.Sprintf("%q", token)) }
}

func (c *course) followsProgress(ctx context.Context) error {
	c.begins("Progress: a long call tells how far it is",
		"A client that wants to hear puts a token into _meta. The server sends notices with the\nsame token while the call runs, and none after its reply.",
		only(c.act.http, "Over HTTP the notices and the reply are events of one stream, the answer to the POST."))
	const steps = 4
	answer, err := c.session.CallFollowed(ctx, "process_steps", json.RawMessage(fmt.Sprintf(`{"steps":%d,"delayMs":40}`, steps)), "walk")
	if err != nil {
		return c.withLog(err)
	}
	if e, err := readEnvelope("process_steps", answer); err != nil || !e.OK {
		return fmt.Errorf("process_steps failed: %s: %w", e.Error.Message, err)
	}
	notices := c.wire.all(progress("walk"))
	if len(notices) != steps {
		return fmt.Errorf("%d notices of progress came before the reply, not %d", len(notices), steps)
	}
	for i, n := range notices {
		var p struct{ Progress, Total float64 }
		if err := json.Unmarshal(n.Params, &p); err != nil || p.Progress != float64(i+1) || p.Total != steps {
			return fmt.Errorf("notice %d says %s", i+1, n.Params)
		}
	}
	return nil
}

func (c *course) givesUp(ctx context.Context) error {
	byStream := c.act.http && c.modern()
	c.begins("Cancellation: the caller gives up",
		"The call below would take ten seconds. The client gives up after two steps: it sends\nnotifications/cancelled with the id of the request, and gets no reply to that. The server\nstops the work; the record, shown when the act ends, tells.",
		only(byStream, "Over HTTP in this era, to close the stream is to cancel. This client also sends the\nnotice, which changes nothing."),
		only(c.act.http && !c.modern(), "Over HTTP in this era, the notice goes in a POST of its own: a stream that closes may only\nbe a broken connection."))
	calling, giveUp := context.WithCancel(ctx)
	defer giveUp()
	ended := make(chan error, 1)
	go func() {
		_, err := c.session.CallFollowed(calling, "process_steps", json.RawMessage(`{"steps":100,"delayMs":100}`), "run")
		ended <- err
	}()
	second := func(s said) bool { return progress("run")(s) && strings.Contains(string(s.Params), `"progress":2`) }
	if _, err := c.wire.await(ctx, "the second step", second); err != nil {
		return err
	}
	giveUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the call that was given up ended with %v", err)
	}
	cancel := func(s said) bool { return s.Sent && s.Method == cancelled }
	if byStream {
		cancel = func(s said) bool { return s.Sent && s.HTTP == mcpclient.Closing }
	}
	if _, err := c.wire.await(ctx, "the cancellation", cancel); err != nil {
		return err
	}
	c.givenUp++
	var heard struct{ Text string }
	return c.must(ctx, "echo", `{"text":"and the next call is answered"}`, &heard)
}

func (c *course) subscribes(ctx context.Context) error {
	c.begins("Subscriptions: the server says that something changed",
		"The client asks to be told of one resource. The notice has no content: whoever cares\nreads again.",
		only(c.modern(), "A request stays open for this (subscriptions/listen); what it is for is acknowledged."),
		only(!c.modern(), "resources/subscribe says which; notices come over the session."),
		only(!c.act.http, "The change below is made by another process, on the same database."))
	if err := c.session.Subscribe(ctx, "tasks://board"); err != nil {
		return c.withLog(err)
	}
	if c.modern() {
		if err := c.told(ctx, acknowledged, "tasks://board"); err != nil {
			return err
		}
	}
	const another = `{"title":"Do the exercises"}`
	if c.act.http {
		var made shownTask
		if err := c.must(ctx, "create_task", another, &made); err != nil {
			return err
		}
	} else if _, err := c.command(ctx, ExitOK, "call", "basic", "--db", c.db, "create_task", another); err != nil {
		return err
	}
	if err := c.told(ctx, updated, "tasks://board"); err != nil {
		return err
	}
	if err := c.told(ctx, listChanged, ""); err != nil {
		return err
	}
	if err := c.session.Unsubscribe(ctx, "tasks://board"); err != nil || !c.modern() {
		return err
	}
	_, err := c.wire.await(ctx, "the end of the subscription", func(s said) bool {
		if c.act.http {
			return s.HTTP == mcpclient.Closing
		}
		return s.Sent && s.Method == cancelled
	})
	return err
}

func (c *course) isAsked(ctx context.Context) error {
	c.begins("Confirmation: a person is asked first",
		"Deleting needs a person's yes.",
		only(c.modern(), "The call is answered with input_required: a question, and a sealed state. The client\nasks the person and sends the same call again, with the answer and the state. The server\nkept nothing: the seal says for whom, for which task and until when the answer counts."),
		only(!c.modern(), "In this era the server sends a request of its own, elicitation/create, and the call\nwaits for the client's answer."))
	question := ""
	c.say("   The person says no:\n")
	c.person = func(q mcpclient.Question) mcpclient.Reply {
		question = q.Text
		return mcpclient.Reply{Action: "decline"}
	}
	id := fmt.Sprintf(`{"id":%d}`, c.task)
	if err := c.mustNot(ctx, "delete_task", id, "declined"); err != nil {
		return err
	}
	if err := holds("the question", question, "Read the first lesson"); err != nil {
		return err
	}
	if err := c.roundTrip(); err != nil {
		return err
	}
	c.say("\n   The person says yes:\n")
	c.person = func(mcpclient.Question) mcpclient.Reply {
		return mcpclient.Reply{Action: "accept", Content: map[string]any{"confirm": true}}
	}
	var gone struct {
		ID      int64
		Deleted bool
	}
	if err := c.must(ctx, "delete_task", id, &gone); err != nil {
		return err
	}
	if gone.ID != c.task || !gone.Deleted {
		return fmt.Errorf("the answer does not say that task %d is deleted", c.task)
	}
	return nil
}

// roundTrip holds the messages of a question against what was told of them.
func (c *course) roundTrip() error {
	if !c.modern() {
		if len(c.wire.all(func(s said) bool { return !s.Sent && s.is("elicitation/create", "confirm") })) == 0 {
			return errors.New("the server did not send elicitation/create")
		}
		return nil
	}
	if len(c.wire.all(func(s said) bool {
		return strings.Contains(string(s.Result), `"input_required"`) && strings.Contains(string(s.Result), `"requestState"`)
	})) == 0 {
		return errors.New("no result asked for input with a sealed state")
	}
	return c.sent("the call with its answer", func(s said) bool {
		return s.is("tools/call", `"inputResponses"`) && s.is("tools/call", `"requestState"`)
	})
}

func (c *course) isSomebodyElse(ctx context.Context) error {
	c.begins("Identity: whose tasks",
		"", "The token says who calls. bob's list is empty: nothing of alice's can be seen or guessed.")
	alice := c.session
	defer func() { c.session = alice }()
	bob, err := mcpclient.Dial(ctx, c.server.URL, c.tokens["bob"], c.client())
	if err != nil {
		return c.withLog(err)
	}
	c.session = bob
	var page shownPage
	err = c.must(ctx, "list_tasks", `{}`, &page)
	if err == nil {
		err = page.is()
	}
	return errors.Join(err, bob.Close())
}

func (c *course) parts(ctx context.Context) error {
	last := !c.act.http || !c.modern() // whether the server ends with this act
	c.begins("The client leaves",
		"It closes the server's input; the server answers what it has begun, and ends. The call\nthat was given up is on the record as cancelled.",
		only(c.act.http && last, "The server is told to stop (SIGTERM). It lets running calls finish, ends the streams,\nand exits with status 0. Both calls that were given up are on its record."))
	if err := c.end(); err != nil || !last {
		return err
	}
	if err := c.stop(); err != nil {
		return c.withLog(err)
	}
	text, err := c.command(ctx, ExitOK, "audit", "list", "--db", c.db, "--tool", "process_steps")
	if err != nil {
		return err
	}
	if n := strings.Count(text, "error (cancelled)"); n != c.givenUp {
		return fmt.Errorf("the record has %d cancelled calls, not %d", n, c.givenUp)
	}
	return nil
}
