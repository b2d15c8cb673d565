// The bare baseline: the official Go SDK with raw tools, of which one answers a
// search at once with a fixed result of one task. It stores nothing and records
// nothing; what Handrail costs beyond it is what Handrail does. Over stdio, and
// with -http over HTTP: requests of the era without handshake under /modern,
// sessions under /legacy.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	answer = `{"ok":true,"data":{"tasks":[{"id":777,"title":"water the zygomorphic orchid","status":"open","tags":["home"],"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}]}}`
	schema = `{"type":"object","properties":{"query":{"type":"string"}},"additionalProperties":false}`
	board  = "tasks://board"
)

func main() {
	addr := flag.String("http", "", "serve HTTP on this address and print the one that was taken")
	flag.Parse()
	if err := run(*addr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addr string) error {
	if addr == "" {
		server := mcp.NewServer(implementation, nil)
		add(server, "search_tasks", func() error { return nil })
		return server.Run(context.Background(), &mcp.StdioTransport{})
	}
	server := newServer()
	get := func(*http.Request) *mcp.Server { return server }
	http.Handle("/modern", mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	http.Handle("/legacy", mcp.NewStreamableHTTPHandler(get, nil))
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, nil)
}

var implementation = &mcp.Implementation{Name: "baseline-sdk", Version: "1.0.0"}

// newServer has as many tools as Handrail with everything on, and a resource
// that changes when create_task is called.
func newServer() *mcp.Server {
	nothing := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	server := mcp.NewServer(implementation, &mcp.ServerOptions{
		SubscribeHandler:   nothing,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	for i := range 18 {
		add(server, fmt.Sprintf("other_%d", i), func() error { return nil })
	}
	add(server, "search_tasks", func() error { return nil })
	add(server, "create_task", func() error {
		return server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: board})
	})
	server.AddResource(&mcp.Resource{URI: board, Name: "board"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: board, Text: "{}"}}}, nil
	})
	return server
}

func add(server *mcp.Server, name string, do func() error) {
	tool := &mcp.Tool{Name: name, Description: "Search titles.", InputSchema: json.RawMessage(schema)}
	server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: answer}},
			StructuredContent: json.RawMessage(answer),
		}, do()
	})
}
