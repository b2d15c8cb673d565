// The bare baseline: the official Go SDK over stdio with one raw tool that
// answers a search at once with a fixed result of one task. It stores nothing
// and records nothing; what Handrail costs beyond it is what Handrail does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const answer = `{"ok":true,"data":{"tasks":[{"id":777,"title":"water the zygomorphic orchid","status":"open","tags":["home"],"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}]}}`

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "baseline-sdk", Version: "1.0.0"}, nil)
	tool := &mcp.Tool{
		Name:        "search_tasks",
		Description: "Search titles.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`),
	}
	server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: answer}},
			StructuredContent: json.RawMessage(answer),
		}, nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
