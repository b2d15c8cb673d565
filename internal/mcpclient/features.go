package mcpclient

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is a tool as the server offers it.
type Tool struct {
	Name, Title, Description string
	// ReadOnly and Destructive are the server's hints.
	ReadOnly, Destructive bool
}

// Tools are all tools that the server offers, in its order.
func (s *Session) Tools(ctx context.Context) ([]Tool, error) {
	var all []Tool
	for t, err := range s.sdk.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		tool := Tool{Name: t.Name, Title: t.Title, Description: t.Description}
		if a := t.Annotations; a != nil {
			tool.ReadOnly = a.ReadOnlyHint
			tool.Destructive = a.DestructiveHint != nil && *a.DestructiveHint
		}
		all = append(all, tool)
	}
	return all, nil
}

// Answer is what came of a call.
type Answer struct {
	// Failed is the protocol's isError.
	Failed bool
	// Content is the structured content, JSON.
	Content json.RawMessage
	// Text is the first text block, for clients that read only text.
	Text string
}

// Call calls a tool with these arguments, a JSON object. The error is one of
// the protocol; a refusal by the tool is an Answer.
func (s *Session) Call(ctx context.Context, tool string, args json.RawMessage) (Answer, error) {
	return s.call(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
}

// CallFollowed is Call with a token under which the server reports progress.
func (s *Session) CallFollowed(ctx context.Context, tool string, args json.RawMessage, token string) (Answer, error) {
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	p.SetProgressToken(token)
	return s.call(ctx, p)
}

func (s *Session) call(ctx context.Context, p *mcp.CallToolParams) (Answer, error) {
	res, err := s.sdk.CallTool(ctx, p)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Failed: res.IsError}
	if res.StructuredContent != nil {
		if a.Content, err = json.Marshal(res.StructuredContent); err != nil {
			return Answer{}, err
		}
	}
	for _, block := range res.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			a.Text = text.Text
			break
		}
	}
	return a, nil
}

// Resources are the URIs of all resources, and of all templates behind them.
func (s *Session) Resources(ctx context.Context) ([]string, error) {
	var all []string
	for r, err := range s.sdk.Resources(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, r.URI)
	}
	for t, err := range s.sdk.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, t.URITemplate)
	}
	return all, nil
}

// Read reads a resource that is text.
func (s *Session) Read(ctx context.Context, uri string) (string, error) {
	res, err := s.sdk.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	text := ""
	for _, c := range res.Contents {
		text += c.Text
	}
	return text, nil
}

// Prompts are the names of all prompts.
func (s *Session) Prompts(ctx context.Context) ([]string, error) {
	var all []string
	for p, err := range s.sdk.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, p.Name)
	}
	return all, nil
}

// Prompt fills a prompt in and returns the text of its messages.
func (s *Session) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	res, err := s.sdk.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	text := ""
	for _, m := range res.Messages {
		if block, ok := m.Content.(*mcp.TextContent); ok {
			text += block.Text
		}
	}
	return text, nil
}

// Complete are the values that the server proposes for an argument of a prompt
// that begins so.
func (s *Session) Complete(ctx context.Context, prompt, argument, begun string) ([]string, error) {
	res, err := s.sdk.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: prompt},
		Argument: mcp.CompleteParamsArgument{Name: argument, Value: begun},
	})
	if err != nil {
		return nil, err
	}
	return res.Completion.Values, nil
}

// Subscribe asks to be told when a resource changes; Tap sees the notices. In
// the modern era it returns before the server has acknowledged.
func (s *Session) Subscribe(ctx context.Context, uri string) error {
	return s.sdk.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
}

// Unsubscribe ends what Subscribe began.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	return s.sdk.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
}
