package demo

import (
	"context"

	"handrail/internal/tool"
)

type text struct {
	Text string `json:"text"`
}

// maxText bounds what comes back, so that an answer stays within a context.
const maxText = 20_000

func echo() tool.Tool {
	return tool.New(tool.Spec{
		Name: "echo", Title: "Echo", Doc: "Return the text as it was sent.",
		Args: tool.Args{"text": {Doc: "What to return.", MaxLength: maxText}},
	}, func(_ context.Context, _ *tool.Call, in text) (text, error) { return in, nil })
}
