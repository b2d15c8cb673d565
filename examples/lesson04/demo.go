package main

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// demo plays a host whose user picks a prompt and fills in its form.
func demo(ctx context.Context) error {
	session, err := connect(ctx, newServer(), nil)
	if err != nil {
		return err
	}
	defer session.Close()

	step("1. What prompts are there?")
	prompts, err := session.ListPrompts(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range prompts.Prompts {
		var names []string
		for _, a := range p.Arguments {
			names = append(names, a.Name)
		}
		say("/%s (%s): %s", p.Name, strings.Join(names, ", "), p.Description)
	}

	step("2. The user types into the field country")
	if err := propose(ctx, session, "country", "ch", nil); err != nil {
		return err
	}
	step("3. The user types into the field city: the country is known by now")
	if err := propose(ctx, session, "city", "n", map[string]string{"country": "China"}); err != nil {
		return err
	}
	step("4. A client that does not say what is filled in already gets proposals that fit less well")
	if err := propose(ctx, session, "city", "n", nil); err != nil {
		return err
	}

	step("5. The form is sent: messages for the conversation come back")
	result, err := session.GetPrompt(ctx, &mcp.GetPromptParams{
		Name: "plan-day", Arguments: map[string]string{"country": "China", "city": "Nanjing"},
	})
	if err != nil {
		return err
	}
	for _, m := range result.Messages {
		if text, ok := m.Content.(*mcp.TextContent); ok {
			say("%s: %s", m.Role, text.Text)
		}
	}

	step("6. A form with a field left empty is refused")
	_, err = session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "plan-day", Arguments: map[string]string{"country": "China"}})
	if err == nil {
		return fail("a prompt was made without its city")
	}
	say("%v", err)
	return nil
}

// propose asks for completions of what was typed, and shows them.
func propose(ctx context.Context, session *mcp.ClientSession, field, typed string, filled map[string]string) error {
	params := &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "plan-day"},
		Argument: mcp.CompleteParamsArgument{Name: field, Value: typed},
	}
	if filled != nil {
		params.Context = &mcp.CompleteContext{Arguments: filled}
	}
	result, err := session.Complete(ctx, params)
	if err != nil {
		return err
	}
	say("%s: %q → %s", field, typed, strings.Join(result.Completion.Values, ", "))
	return nil
}
