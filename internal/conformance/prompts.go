package conformance

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts registers the prompts that are more than text.
func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{
		Name: "test_prompt_with_embedded_resource", Description: "A prompt with a resource in it.",
		Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Description: "The URI of the resource.", Required: true}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing.",
			}},
			&mcp.TextContent{Text: "Please process the embedded resource above."},
		), nil
	})
	addTool(s, "test_trigger_prompt_change", "Announce that the prompts changed.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addPicturePrompt(s) // it is there already, and that announces it
		return said("the prompts changed"), nil
	})
	addPicturePrompt(s)
	s.AddPrompt(&mcp.Prompt{Name: prefix + "prompt", Description: "A prompt that asks first."},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if about, ok := filled(req.Params.InputResponses, "user_context", "context"); ok {
				return messages(&mcp.TextContent{Text: "Prompt with context: " + about}), nil
			}
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
				"user_context": form("What context should the prompt use?", "context"),
			}}, nil
		})
}

func addPicturePrompt(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "A prompt with a picture in it."},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return messages(
				&mcp.ImageContent{Data: redDot(), MIMEType: "image/png"},
				&mcp.TextContent{Text: "Please analyze the image above."},
			), nil
		})
}

// messages are a person's.
func messages(parts ...mcp.Content) *mcp.GetPromptResult {
	out := &mcp.GetPromptResult{}
	for _, part := range parts {
		out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: part})
	}
	return out
}
