package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addAsking registers the tools that send the client something while they run,
// in the way of the handshake era.
func addAsking(s *mcp.Server) {
	addTool(s, "test_tool_with_logging", "Log three lines.", nil, logs)
	addTool(s, "test_sampling", "Have the client's model answer.", oneString("prompt"), samples)
	addTool(s, "test_elicitation", "Ask the person for a name and an address.", oneString("message"), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit(ctx, req, argument(req, "message"), `{"type":"object","properties":{
			"username":{"type":"string","description":"User's response"},
			"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`)
	})
	addTool(s, "test_elicitation_sep1034_defaults", "Ask with a default for every kind of value.", nil, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit(ctx, req, "Please look the defaults over", `{"type":"object","properties":{
			"name":{"type":"string","default":"John Doe"},
			"age":{"type":"integer","default":30},
			"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
			"verified":{"type":"boolean","default":true}}}`)
	})
	addTool(s, "test_elicitation_sep1330_enums", "Ask with every form of a choice.", nil, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit(ctx, req, "Please choose", `{"type":"object","properties":{
			"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`)
	})
	addTool(s, "test_reconnection", "Close the stream before the answer.", nil, reconnects)
}

// oneString is the schema of a tool with one string argument.
func oneString(name string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q],"additionalProperties":false}`, name, name))
}

func logs(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			time.Sleep(stepDelay)
		}
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, err
		}
	}
	return said("three lines were logged"), nil
}

func samples(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps == nil || caps.Sampling == nil {
		return failedWith("the client has no model to ask"), nil
	}
	answer, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 100,
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: argument(req, "prompt")}}},
	})
	if err != nil {
		return failedWith("sampling failed: " + err.Error()), nil
	}
	text, ok := answer.Content.(*mcp.TextContent)
	if !ok {
		return failedWith(errNoAnswer.Error()), nil
	}
	return said("LLM response: " + text.Text), nil
}

// elicit asks the person and says what they answered.
func elicit(ctx context.Context, req *mcp.CallToolRequest, message, schema string) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps == nil || caps.Elicitation == nil {
		return failedWith("the client cannot ask a person"), nil
	}
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
	if err != nil {
		return failedWith("elicitation failed: " + err.Error()), nil
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, err
	}
	return said(fmt.Sprintf("Elicitation completed: action=%s, content=%s", answer.Action, content)), nil
}

// reconnects answers after it has closed the stream, where the server keeps
// events for a client that comes back; where it keeps none, it just answers.
func reconnects(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: stepDelay})
		time.Sleep(2 * stepDelay)
	}
	return said("the stream was closed and taken up again"), nil
}

// errNoAnswer is for a question that came back unanswered.
var errNoAnswer = errors.New("the client gave no answer")
