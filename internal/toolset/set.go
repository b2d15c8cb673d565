// Package toolset owns the notion of a set: tools, resources and prompts that
// belong together and are switched on together. Each folder below it is one
// set. It knows nothing of what a set is made from.
package toolset

import (
	"context"
	"fmt"

	"handrail/internal/actor"
	"handrail/internal/tool"
)

// Set is one toolset as a value.
type Set struct {
	// Name is what people select it by.
	Name string
	// Doc is one sentence about it.
	Doc string
	// Tools, Resources and Prompts are what it offers, in a stable order.
	Tools     []tool.Tool
	Resources []tool.Resource
	Prompts   []tool.Prompt
	// Instructions are for the model: how to use the set as a whole.
	Instructions string
	// Live are the tools that come and go, as they are now, beside Tools; nil where
	// none do. The generation changes when they do.
	Live func() (generation uint64, tools []tool.Tool)
	// Listed lists resources made from the user's data, after those above: a
	// page after cursor, and the next cursor or "". Nil for none.
	Listed func(ctx context.Context, who actor.Actor, cursor string) (page []tool.Listed, next string, err error)
	// ToolsChange and PromptsChange say that tools or prompts come and go while the
	// server runs, and ResourcesChange that resources do, or what they hold.
	ToolsChange, PromptsChange, ResourcesChange bool
	// Logs says that tools may send log lines to the client while they run.
	Logs bool
}

// Tools are the tools of all the sets, in order. It fails where two have one
// name, since a client could not tell which it calls.
func Tools(sets []Set) ([]tool.Tool, error) {
	var all []tool.Tool
	owner := map[string]string{}
	for _, s := range sets {
		for _, t := range s.Tools {
			if first, twice := owner[t.Spec.Name]; twice {
				return nil, fmt.Errorf("the toolsets %s and %s both have a tool %s", first, s.Name, t.Spec.Name)
			}
			owner[t.Spec.Name] = s.Name
			all = append(all, t)
		}
	}
	return all, nil
}
