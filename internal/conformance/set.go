package conformance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"handrail/internal/actor"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// set is the part of the fixtures that is a toolset like any other.
func (f *fixture) set() toolset.Set {
	return toolset.Set{
		Name: "conformance", Doc: "What the official conformance suite asks for.",
		Tools: []tool.Tool{
			shows("test_simple_text", tool.Block{Text: "This is a simple text response for testing."}),
			shows("test_image_content", picture()),
			shows("test_audio_content", tool.Block{Kind: tool.AudioBlock, Data: silence(), MIMEType: "audio/wav"}),
			shows("test_embedded_resource", tool.Block{
				Kind: tool.ResourceBlock, URI: "test://embedded-resource", MIMEType: "text/plain",
				Text: "This is an embedded resource content.",
			}),
			shows("test_multiple_content_types",
				tool.Block{Text: "Multiple content types test:"},
				picture(),
				tool.Block{
					Kind: tool.ResourceBlock, URI: "test://mixed-content-resource", MIMEType: "application/json",
					Text: `{"test":"data","value":123}`,
				}),
			fails(),
			progresses(),
			f.changes(),
		},
		Resources: []tool.Resource{
			fixed("test://static-text", "text/plain", tool.Content{Text: "This is the content of the static text resource."}),
			fixed("test://static-binary", "image/png", tool.Content{Blob: redDot()}),
			fixed("test://watched-resource", "text/plain", tool.Content{Text: "This resource can be subscribed to."}),
			template(),
		},
		Live:        f.changing,
		Prompts:     []tool.Prompt{simplePrompt(), promptWithArguments()},
		ToolsChange: true, PromptsChange: true, ResourcesChange: true, Logs: true,
	}
}

func picture() tool.Block {
	return tool.Block{Kind: tool.ImageBlock, Data: redDot(), MIMEType: "image/png"}
}

// shown is a result that is only its blocks.
type shown struct {
	Count  int `json:"count"`
	blocks []tool.Block
}

// Blocks implements tool.Rendered.
func (s shown) Blocks() []tool.Block { return s.blocks }

// shows is a tool that answers with fixed blocks.
func shows(name string, blocks ...tool.Block) tool.Tool {
	return tool.New(tool.Spec{Name: name, Title: name, Doc: "Answer with fixed content."},
		func(context.Context, *tool.Call, struct{}) (shown, error) { return shown{len(blocks), blocks}, nil })
}

func fails() tool.Tool {
	return tool.New(tool.Spec{Name: "test_error_handling", Title: "Fail", Doc: "Fail every time."},
		func(context.Context, *tool.Call, struct{}) (struct{}, error) {
			return struct{}{}, fault.New(fault.Conflict, "This tool intentionally returns an error for testing")
		})
}

// stepDelay is the pause between two notices, as the suite has it.
const stepDelay = 50 * time.Millisecond

func progresses() tool.Tool {
	return tool.New(tool.Spec{Name: "test_tool_with_progress", Title: "Progress", Doc: "Report progress three times.", Slow: true},
		func(ctx context.Context, c *tool.Call, _ struct{}) (struct{}, error) {
			for _, done := range []float64{0, 50, 100} {
				if done > 0 {
					time.Sleep(stepDelay)
				}
				if c.Progress != nil {
					c.Progress(ctx, done, 100, fmt.Sprintf("%v of 100", done))
				}
			}
			return struct{}{}, nil
		})
}

// changes is a tool that changes the list of tools.
func (f *fixture) changes() tool.Tool {
	return tool.New(tool.Spec{Name: "test_trigger_tool_change", Title: "Change a tool", Doc: "Change the description of another tool.", Effect: tool.Write},
		func(context.Context, *tool.Call, struct{}) (struct{}, error) {
			f.changed.Add(1)
			f.server.Announce(mcpserver.Notice{Kind: mcpserver.ToolsChanged})
			return struct{}{}, nil
		})
}

// changing is the tool that it changes.
func (f *fixture) changing() (generation uint64, tools []tool.Tool) {
	n := f.changed.Load()
	return n, []tool.Tool{tool.New(tool.Spec{Name: "test_changing_tool", Title: "Changing", Doc: fmt.Sprintf("Was changed %d times.", n)},
		func(context.Context, *tool.Call, struct{}) (struct{}, error) { return struct{}{}, nil })}
}

func fixed(uri, mimeType string, content tool.Content) tool.Resource {
	return tool.Resource{
		URI: uri, Name: strings.TrimPrefix(uri, "test://"), Description: "A fixed resource.", MIMEType: mimeType, TTL: time.Minute,
		Read: func(context.Context, actor.Actor, string) (tool.Content, error) { return content, nil },
	}
}

func template() tool.Resource {
	const before, after = "test://template/", "/data"
	return tool.Resource{
		URI: before + "{id}" + after, Template: true, Name: "template", Description: "Data for the id in the URI.", MIMEType: "application/json",
		Read: func(_ context.Context, _ actor.Actor, uri string) (tool.Content, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, before), after)
			return tool.Content{Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}, nil
		},
	}
}

func simplePrompt() tool.Prompt {
	return tool.Prompt{
		Name: "test_simple_prompt", Description: "A prompt without arguments.",
		Render: func(context.Context, actor.Actor, map[string]string) ([]tool.Message, error) {
			return []tool.Message{{Role: "user", Text: "This is a simple prompt for testing."}}, nil
		},
	}
}

func promptWithArguments() tool.Prompt {
	return tool.Prompt{
		Name: "test_prompt_with_arguments", Description: "A prompt with two arguments.",
		Args: []tool.PromptArg{
			{Name: "arg1", Description: "The first argument.", Required: true, Complete: places},
			{Name: "arg2", Description: "The second argument.", Required: true},
		},
		Render: func(_ context.Context, _ actor.Actor, args map[string]string) ([]tool.Message, error) {
			return []tool.Message{{Role: "user", Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}}, nil
		},
	}
}

// places proposes a few words.
func places(_ context.Context, _ actor.Actor, prefix string) ([]string, error) {
	var found []string
	for _, place := range []string{"paris", "park", "party"} {
		if strings.HasPrefix(place, prefix) {
			found = append(found, place)
		}
	}
	return found, nil
}
