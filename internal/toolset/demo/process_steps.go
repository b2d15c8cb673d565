package demo

import (
	"context"
	"fmt"
	"time"

	"handrail/internal/tool"
)

type steps struct {
	Steps   int  `json:"steps"`
	DelayMs *int `json:"delayMs,omitempty"`
}

type completed struct {
	Completed int `json:"completed"`
}

// The bounds of process_steps.
const (
	maxSteps   = 100
	maxDelayMs = 10_000
)

func processSteps() tool.Tool {
	return tool.New(tool.Spec{
		Name: "process_steps", Title: "Process steps", Doc: "Go through steps, report progress after each, and stop at once when cancelled.",
		Slow:    true,
		Timeout: (maxSteps*maxDelayMs + 60_000) * time.Millisecond,
		Args: tool.Args{
			"steps":   {Doc: "How many steps.", Min: 1, HasMin: true, Max: maxSteps},
			"delayMs": {Doc: "How long each takes, in milliseconds.", Min: 0, HasMin: true, Max: maxDelayMs, Default: 0},
		},
	}, runSteps)
}

func runSteps(ctx context.Context, c *tool.Call, in steps) (completed, error) {
	var delay time.Duration
	if in.DelayMs != nil {
		delay = time.Duration(*in.DelayMs) * time.Millisecond
	}
	for i := range in.Steps {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return completed{}, ctx.Err()
		}
		if err := ctx.Err(); err != nil {
			return completed{}, err
		}
		if c.Progress != nil {
			c.Progress(ctx, float64(i+1), float64(in.Steps), fmt.Sprintf("step %d of %d", i+1, in.Steps))
		}
	}
	return completed{in.Steps}, nil
}
