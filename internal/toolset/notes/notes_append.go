package notes

import (
	"context"

	"handrail/internal/note"
	"handrail/internal/tool"
)

type appendNote struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (n notes) append() tool.Tool {
	return tool.New(tool.Spec{
		Name:    "notes_append",
		Title:   "Append to a note",
		Doc:     "Put text at the end of a note, on a line of its own; create the note if there is none.",
		Effect:  tool.Write,
		Outside: true,
		Args: tool.Args{
			"path":    pathRule,
			"content": {Doc: "The text to add."},
		},
	}, func(ctx context.Context, _ *tool.Call, in appendNote) (note.Written, error) {
		return n.vault.Append(ctx, in.Path, in.Content)
	})
}
