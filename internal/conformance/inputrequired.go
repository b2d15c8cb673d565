package conformance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// prefix begins the names of the tools that ask before they answer.
const prefix = "test_input_required_result_"

// addInputRequired registers the tools that answer with questions, as the era
// without a handshake does.
func addInputRequired(s *mcp.Server) {
	states := newStates()
	add := func(name, doc string, h func(*mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		addTool(s, prefix+name, doc, nil, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return h(req) })
	}
	add("elicitation", "Ask for a name.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if name, ok := filled(req.Params.InputResponses, "user_name", "name"); ok {
			return said("Hello, " + name + "!"), nil
		}
		return asks("", mcp.InputRequestMap{"user_name": form("What is your name?", "name")}), nil
	})
	add("sampling", "Ask the client's model.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if text, ok := sampled(req.Params.InputResponses, "capital_question"); ok {
			return said(text), nil
		}
		return asks("", mcp.InputRequestMap{"capital_question": sampling("What is the capital of France?", 100)}), nil
	})
	add("list_roots", "Ask for the client's roots.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if roots, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
			return said("roots: " + rootList(roots)), nil
		}
		return asks("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}), nil
	})
	add("request_state", "Ask, and know the question again.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return confirmed(states, "request_state", req)
	})
	add("tampered_state", "Ask, and refuse a state that was altered.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return confirmed(states, "tampered_state", req)
	})
	add("multiple_inputs", "Ask three things at once.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return threeThings(states, req)
	})
	add("multi_round", "Ask twice.", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return twice(states, req)
	})
	add("capabilities", "Ask only what the client can answer.", asksWhatIsDeclared)
}

// asks is a result that is questions.
func asks(state string, requests mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}
}

// form asks a person for one string.
func form(message, field string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, field, field)
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func sampling(text string, tokens int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		MaxTokens: tokens, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}
}

// filled is a field of a form that a person filled in.
func filled(answers mcp.InputResponseMap, key, field string) (string, bool) {
	answer, _ := answers[key].(*mcp.ElicitResult)
	if answer == nil || answer.Action != "accept" {
		return "", false
	}
	text, ok := answer.Content[field].(string)
	return text, ok
}

func sampled(answers mcp.InputResponseMap, key string) (string, bool) {
	answer, _ := answers[key].(*mcp.CreateMessageWithToolsResult)
	if answer == nil || len(answer.Content) == 0 {
		return "", false
	}
	text, ok := answer.Content[0].(*mcp.TextContent)
	if !ok {
		return "", false
	}
	return text.Text, true
}

func rootList(roots *mcp.ListRootsResult) string {
	var uris []string
	for _, root := range roots.Roots {
		uris = append(uris, root.URI)
	}
	return strings.Join(uris, ", ")
}

// confirmed asks once, and answers to the state that it gave out.
func confirmed(states states, tool string, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState == "" {
		ok := &mcp.ElicitParams{
			Mode: "form", Message: "Please confirm",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`),
		}
		return asks(states.make(tool), mcp.InputRequestMap{"confirm": ok}), nil
	}
	if err := states.check(tool, req.Params.RequestState); err != nil {
		return nil, err
	}
	answer, _ := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
	if answer == nil {
		return failedWith(errNoAnswer.Error()), nil
	}
	return said("state-ok, " + answer.Action), nil
}

func threeThings(states states, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answers := req.Params.InputResponses
	name, hasName := filled(answers, "user_name", "name")
	greeting, hasGreeting := sampled(answers, "greeting")
	roots, hasRoots := answers["client_roots"].(*mcp.ListRootsResult)
	if !hasName || !hasGreeting || !hasRoots {
		return asks(states.make("three"), mcp.InputRequestMap{
			"user_name": form("What is your name?", "name"), "greeting": sampling("Generate a greeting", 50), "client_roots": &mcp.ListRootsParams{},
		}), nil
	}
	if err := states.check("three", req.Params.RequestState); err != nil {
		return nil, err
	}
	return said(greeting + " " + name + ", of " + rootList(roots)), nil
}

// twice keeps the first answer in the state of the second question.
func twice(states states, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	state, answers := req.Params.RequestState, req.Params.InputResponses
	if state == "" {
		return asks(states.make("first"), mcp.InputRequestMap{"step1": form("Step 1: What is your name?", "name")}), nil
	}
	if states.check("first", state) == nil {
		name, ok := filled(answers, "step1", "name")
		if !ok {
			return failedWith(errNoAnswer.Error()), nil
		}
		return asks(states.make("second "+name), mcp.InputRequestMap{"step2": form("Step 2: What is your favorite color?", "color")}), nil
	}
	what, _, _ := strings.Cut(state, ".")
	name, second := strings.CutPrefix(what, "second ")
	if err := states.check(what, state); err != nil || !second {
		return nil, errState
	}
	color, ok := filled(answers, "step2", "color")
	if !ok {
		return failedWith(errNoAnswer.Error()), nil
	}
	return said(name + " likes " + color), nil
}

func asksWhatIsDeclared(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return said("the client answered"), nil
	}
	requests := mcp.InputRequestMap{}
	if caps := req.ClientCapabilities(); caps != nil {
		if caps.Elicitation != nil {
			requests["user_name"] = form("What is your name?", "name")
		}
		if caps.Sampling != nil {
			requests["greeting"] = sampling("Generate a greeting", 50)
		}
		if caps.RootsV2 != nil {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return failedWith("the client can answer nothing"), nil
	}
	return asks("", requests), nil
}

// states makes and knows the states of questions: a word and its authenticator.
// They protect nothing here; a real confirmation has mcpserver.Seal.
type states struct{ key []byte }

func newStates() states {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return states{key}
}

var errState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was altered, or is of another call"}

func (s states) make(what string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(what))
	return what + "." + hex.EncodeToString(mac.Sum(nil))
}

func (s states) check(what, state string) error {
	if !hmac.Equal([]byte(s.make(what)), []byte(state)) {
		return errState
	}
	return nil
}
