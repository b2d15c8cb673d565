package main

import (
	"bufio"
	"context"
	"flag"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var askFlag = flag.Bool("ask", false, "with -demo: ask you, on this terminal")

// An asker is the client's half of an elicitation: it puts the question to its
// person and returns what became of it. The three actions are not the same:
// "accept" comes with the filled-in form, "decline" is a no, "cancel" is a closed
// window. A client must show who asks and what for, and must never answer for
// its person.
type asker func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)

// always stands in for a person who always says the same.
func always(action string, content map[string]any) asker {
	return func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		say("the server asks: %s", req.Params.Message)
		say("the person's answer: %s %v", action, content)
		return &mcp.ElicitResult{Action: action, Content: content}, nil
	}
}

// terminal asks whoever sits in front of it.
func terminal(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	say("the server asks: %s [y/n]", req.Params.Message)
	// Where nothing can be read the line is empty: nobody has answered.
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
	case "n", "no":
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// demo plays four clients in turn.
func demo(ctx context.Context, server *mcp.Server) error {
	if *askFlag {
		step("Your turn")
		return call(ctx, server, terminal, "diary", "")
	}
	step("1. A client that cannot ask anybody")
	if err := call(ctx, server, nil, "diary", "cannot ask"); err != nil {
		return err
	}
	step("2. A person who says no")
	if err := call(ctx, server, always("decline", nil), "diary", "did not agree"); err != nil {
		return err
	}
	step("3. A person who says yes")
	if err := call(ctx, server, always("accept", map[string]any{"confirm": true}), "diary", "deleted diary"); err != nil {
		return err
	}
	step("4. The two rounds by hand, and a client that cheats")
	if *legacyFlag {
		say("the older era has no request state that a client could change")
		return nil
	}
	return cheat(ctx, server)
}

// call lets a client with this asker delete a note; want is in the answer.
func call(ctx context.Context, server *mcp.Server, ask asker, note, want string) error {
	session, err := connect(ctx, server, &mcp.ClientOptions{ElicitationHandler: ask})
	if err != nil {
		return err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, deleteNote(note))
	if err != nil {
		return err
	}
	return tell(result, want)
}

// cheat makes both rounds itself, where the SDK's client would do it unseen, and
// brings a yes with a state that the server did not make.
func cheat(ctx context.Context, server *mcp.Server) error {
	session, err := connect(ctx, server, &mcp.ClientOptions{
		ElicitationHandler: always("accept", nil), // declares that we can ask; not used
		MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: true},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	first, err := session.CallTool(ctx, deleteNote("recipe"))
	if err != nil {
		return err
	}
	if !first.NeedsInput() {
		return fail("nobody was asked")
	}
	say("round 1: input_required; the state has %d characters, all of them opaque", len(first.RequestState))

	// One character of the state is changed: as good as any other forgery.
	again := deleteNote("recipe")
	again.InputResponses = mcp.InputResponseMap{
		"confirm": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}},
	}
	again.RequestState = "A" + first.RequestState[1:]
	if again.RequestState == first.RequestState {
		again.RequestState = "B" + first.RequestState[1:]
	}
	second, err := session.CallTool(ctx, again)
	if err != nil {
		return err
	}
	return tell(second, "not ours")
}

func deleteNote(name string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "delete_note", Arguments: map[string]any{"name": name}}
}

// tell shows what the tool answered, which must contain want.
func tell(result *mcp.CallToolResult, want string) error {
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return fail("the answer is no text")
	}
	say("the tool says: %s", text.Text)
	if !strings.Contains(text.Text, want) {
		return fail("that does not say %q", want)
	}
	return nil
}
