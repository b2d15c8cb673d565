package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// demo plays the host: it connects, looks at what there is, and calls it.
func demo(ctx context.Context) error {
	step("1. Connect: the client asks who is there")
	session, err := connect(ctx, newServer(), nil)
	if err != nil {
		return err
	}
	defer session.Close()
	who := session.InitializeResult()
	say("%s speaks protocol %s", who.ServerInfo.Name, who.ProtocolVersion)

	step("2. List the tools: this is all that a model will know")
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range tools.Tools {
		say("%s: %s", t.Name, t.Description)
	}

	step("3. Call one")
	result, err := session.CallTool(ctx, &mcp.CallToolParams{
		Name:      "add",
		Arguments: map[string]any{"a": 2, "b": 0.5},
	})
	if err != nil {
		return err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok || text.Text != "2.5" {
		return fail("2 + 0.5 came back as %v", result.Content)
	}
	say("2 + 0.5 = %s", text.Text)

	step("4. Call one that is not there: that is an error of the protocol, not of a tool")
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "subtract"})
	if err == nil {
		return fail("a tool that does not exist was called")
	}
	say("%v", err)
	return nil
}
