// Lesson 6: confirmation.
//
// Some calls cannot be undone. An argument "confirm": true proves little: the
// same model that made the mistake fills it in. A person has to say yes, and only
// the host can reach the person. So the server asks through the host: that is an
// elicitation, a question with a small form.
//
//   - In the newer era the server answers the call with "input_required": the
//     question, and a request state. The client asks, and makes the same call
//     again with the answer and the state. In between the server keeps nothing.
//   - In the older era the server sends a request of its own to the client, while
//     the call waits. The SDK does that for us when a handler returns a question,
//     and then runs the handler again, so that one handler serves both.
//
// The state goes through the client's hands. Whoever could write one could make
// the server believe that a person was asked, or asked about something else. So
// it is sealed, and bound to what was shown and to the time.
package main

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// form is what the person fills in: a flat object, no nesting.
var form = json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Delete it"}},"required":["confirm"]}`)

type notes struct {
	mu    sync.Mutex
	texts map[string]string // by name
	seal  cipher.AEAD
}

type deleteArgs struct {
	Name string `json:"name" jsonschema:"the name of the note"`
}

// pending is what the sealed state says. The person agreed to the loss of this
// very text: if the note has changed meanwhile, the yes is worth nothing. A
// server with several users would put the user in as well.
type pending struct {
	Name, Text string
	Expires    time.Time
}

func (n *notes) delete(_ context.Context, req *mcp.CallToolRequest, args deleteArgs) (*mcp.CallToolResult, any, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text, there := n.texts[args.Name]
	if !there {
		return nil, nil, fmt.Errorf("there is no note %q", args.Name)
	}
	// A question to a client that cannot ask would be an error of the protocol,
	// which no model learns from. Say instead what is missing.
	if can := req.ClientCapabilities(); can == nil || can.Elicitation == nil {
		return nil, nil, errors.New("a person must confirm this, and this client cannot ask one (it does not declare elicitation)")
	}
	if req.Params.RequestState == "" { // first round: ask, and change nothing
		state, err := n.close(pending{args.Name, text, time.Now().Add(5 * time.Minute)})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"confirm": &mcp.ElicitParams{
				Mode: "form", Message: fmt.Sprintf("Delete the note %q (%q) for good?", args.Name, text), RequestedSchema: form,
			}},
			RequestState: state,
		}, nil, nil
	}
	// Second round. Three things have to be right, and none may be assumed.
	asked, err := n.open(req.Params.RequestState)
	if err != nil || asked.Name != args.Name {
		return nil, nil, errors.New("this confirmation is not ours, or is for another call; nothing was deleted. Call again without it")
	}
	if asked.Text != text || time.Now().After(asked.Expires) {
		return nil, nil, errors.New("the note has changed since the question, or the answer took too long; nothing was deleted. Call again")
	}
	answer, _ := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
	if answer == nil || answer.Action != "accept" || answer.Content["confirm"] != true {
		return nil, nil, errors.New("the person did not agree; nothing was deleted")
	}
	delete(n.texts, args.Name)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "deleted " + args.Name}}}, nil, nil
}

// close seals a state: without the key it can be neither read nor made.
func (n *notes) close(p pending) (string, error) {
	b, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(n.seal.Seal(nil, nil, b, nil)), err
}

// open opens a state of ours; any other is an error.
func (n *notes) open(state string) (p pending, err error) {
	b, err := base64.RawURLEncoding.DecodeString(state)
	if err == nil {
		b, err = n.seal.Open(nil, nil, b, nil)
	}
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	return p, err
}

func newServer() (*mcp.Server, error) {
	// A key that lives as long as the process: after a restart, questions that are
	// still open have to be asked again. Several replicas would share one key.
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	data := &notes{seal: seal, texts: map[string]string{"diary": "Monday: rain", "recipe": "two eggs"}}
	server := mcp.NewServer(&mcp.Implementation{Name: "lesson06", Version: "1"}, nil)
	destroys := true
	mcp.AddTool(server, &mcp.Tool{
		Name: "delete_note", Description: "Delete a note for good. A person is asked first.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &destroys},
	}, data.delete)
	return server, nil
}

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server, err := newServer()
	switch {
	case err != nil:
	case *demoFlag:
		err = demo(ctx, server)
	default:
		err = server.Run(ctx, &mcp.StdioTransport{})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "lesson06:", err)
		os.Exit(1)
	}
}
