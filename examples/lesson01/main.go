// Lesson 1: one tool.
//
// An MCP server is a program that somebody else starts. The host (Claude Code,
// VS Code, the Inspector, …) runs it as a child process, writes requests to its
// standard input, one JSON object a line, and reads the answers from its
// standard output. That is the whole of the stdio transport.
//
// A tool is a function that a language model may call. The model never sees
// this code. It sees a name, a description and a JSON schema of the arguments,
// and decides by these alone: they are the interface, so write them for a
// reader who knows nothing else.
//
//	go run ./examples/lesson01 -demo         see it work
//	go run ./examples/lesson01 -demo -wire   see what is said
//	go run ./examples/lesson01               be a server, for a host to start
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addArgs are the arguments of the tool. The SDK makes the JSON schema from
// this struct: the json tags are the names, the jsonschema tags are what the
// model reads about them, and a field without omitempty is required.
type addArgs struct {
	A float64 `json:"a" jsonschema:"the first number"`
	B float64 `json:"b" jsonschema:"the second number"`
}

// add is the tool. By the time it runs, the SDK has checked the arguments
// against the schema, so A and B are there and are numbers.
//
// The three results are: what to answer; structured data (lesson 2 has some);
// and an error, which the model gets to read.
func add(_ context.Context, _ *mcp.CallToolRequest, args addArgs) (*mcp.CallToolResult, any, error) {
	sum := strconv.FormatFloat(args.A+args.B, 'g', -1, 64)
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: sum}},
	}, nil, nil
}

// newServer makes the server: who it is, and what it offers.
func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "lesson01", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "add",
		Description: "Add two numbers and return their sum.",
		// Hints help a host decide whether to ask its user before a call. They are
		// promises, not locks: nothing enforces them.
		Annotations: &mcp.ToolAnnotations{Title: "Add", ReadOnlyHint: true},
	}, add)
	return server
}

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *demoFlag {
		err = demo(ctx)
	} else {
		// Serve until the host closes our standard input. From here on standard
		// output belongs to the protocol: one stray Println and the host sees a
		// line that is not JSON. Whatever you have to say goes to standard error.
		err = newServer().Run(ctx, &mcp.StdioTransport{})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "lesson01:", err)
		os.Exit(1)
	}
}
