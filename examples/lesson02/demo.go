package main

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// demo plays a model that gets it wrong, reads why, and gets it right.
func demo(ctx context.Context) error {
	session, err := connect(ctx, newServer(), nil)
	if err != nil {
		return err
	}
	defer session.Close()

	step("1. A call that fits: structured content comes back")
	if err := try(ctx, session, `{"date":"2027-06-05","guests":4,"area":"terrace"}`, false); err != nil {
		return err
	}
	step("2. An argument left out: the schema's default is used")
	if err := try(ctx, session, `{"date":"2027-01-09","guests":2}`, false); err != nil {
		return err
	}
	step("3. Too many guests: the schema refuses, the tool never runs")
	if err := try(ctx, session, `{"date":"2027-06-05","guests":13}`, true); err != nil {
		return err
	}
	step("4. A misspelt name: refused, and not dropped in silence")
	if err := try(ctx, session, `{"date":"2027-06-05","guests":4,"aera":"terrace"}`, true); err != nil {
		return err
	}
	step("5. A day that does not exist: the tool says what to do")
	if err := try(ctx, session, `{"date":"2027-02-30","guests":4}`, true); err != nil {
		return err
	}
	step("6. A rule that no schema can say: the tool names two ways out")
	return try(ctx, session, `{"date":"2027-01-09","guests":4,"area":"terrace"}`, true)
}

// try makes one call and shows both sides. It fails where the server accepts
// what it should refuse, or the other way round.
func try(ctx context.Context, session *mcp.ClientSession, args string, refused bool) error {
	say("book_table %s", args)
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "book_table", Arguments: json.RawMessage(args)})
	if err != nil {
		return err
	}
	if result.IsError != refused {
		return fail("isError is %v for %s", result.IsError, args)
	}
	if refused {
		for _, block := range result.Content {
			if text, ok := block.(*mcp.TextContent); ok {
				say("isError: %s", text.Text)
			}
		}
		return nil
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return err
	}
	say("structuredContent: %s", structured)
	return nil
}
