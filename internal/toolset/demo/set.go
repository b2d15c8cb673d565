// Package demo is the toolset of a teaching server: small tools, resources and
// prompts that show every part of the protocol once. It keeps nothing.
package demo

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"handrail/internal/actor"
	"handrail/internal/fault"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// Set is the toolset; now is the clock of current-time.
func Set(now func() time.Time) toolset.Set {
	return toolset.Set{
		Name:      "demo",
		Doc:       "Small tools, resources and prompts that show the protocol.",
		Tools:     []tool.Tool{add(), multiply(), echo(), currentTime(now), processSteps()},
		Resources: []tool.Resource{about(), greeting()},
		Prompts:   []tool.Prompt{summarizeText(), reviewCode()},
	}
}

const aboutText = `Handrail's demo toolset shows what an MCP server can offer:

- tools: add, multiply, echo, current-time, and process_steps, which reports its progress and can be cancelled
- resources: this one, and demo://greeting/{name}, a template
- prompts: summarize-text and review-code, whose argument "language" can be completed
`

func about() tool.Resource {
	return tool.Resource{
		URI: "demo://about", Name: "about", Title: "About this demo",
		Description: "What the demo toolset shows.", MIMEType: "text/plain", TTL: time.Hour,
		Read: func(context.Context, actor.Actor, string) (tool.Content, error) {
			return tool.Content{Text: aboutText}, nil
		},
	}
}

const (
	greetingPrefix = "demo://greeting/"
	maxName        = 200
)

func greeting() tool.Resource {
	return tool.Resource{
		URI: greetingPrefix + "{name}", Template: true, Name: "greeting", Title: "A greeting",
		Description: "A greeting for the name in the URI.", MIMEType: "text/plain", TTL: time.Hour,
		Read: func(_ context.Context, _ actor.Actor, uri string) (tool.Content, error) {
			name, err := url.PathUnescape(strings.TrimPrefix(uri, greetingPrefix))
			if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
				return tool.Content{}, fault.New(fault.NotFound, "there is no greeting without a name")
			}
			if len(name) > maxName {
				return tool.Content{}, fault.New(fault.InvalidInput, "name: at most %d bytes", maxName)
			}
			return tool.Content{Text: fmt.Sprintf("Hello, %s!", name)}, nil
		},
	}
}
