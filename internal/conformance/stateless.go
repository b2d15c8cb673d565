package conformance

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// manySchemas has the keywords of JSON Schema 2020-12 that the suite wants back
// unchanged.
const manySchemas = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// addSchemas registers the tools whose schemas are the point of them.
func addSchemas(s *mcp.Server) {
	addTool(s, "json_schema_2020_12_tool", "Has a schema with every keyword.", json.RawMessage(manySchemas), echoed)
	addTool(s, "test_x_mcp_header", "Has an argument that is also a header.",
		json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"],"additionalProperties":false}`), echoed)
}

func echoed(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return said(string(req.Params.Arguments)), nil
}

// addStateless registers the tools of the server-stateless scenario.
func addStateless(s *mcp.Server) {
	addTool(s, "test_missing_capability", "Needs a client that can sample.", nil, needsSampling)
	addTool(s, "test_streaming_elicitation", "Send progress and nothing else while it runs.", nil, streams)
	addTool(s, "test_logging_tool", "Log one line.", nil, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "one line"}); err != nil {
			return nil, err
		}
		return said("one line was logged, if the request asked for it"), nil
	})
}

func needsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
		return said("the client can sample"), nil
	}
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this tool needs a client that declares sampling", Data: data,
	}
}

func streams(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if token := req.Params.GetProgressToken(); token != nil {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 1}); err != nil {
			return nil, err
		}
	}
	return said("nothing was asked of the client"), nil
}
