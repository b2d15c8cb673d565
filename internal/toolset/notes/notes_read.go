package notes

import (
	"context"

	"handrail/internal/note"
	"handrail/internal/tool"
)

type readNote struct {
	Path string `json:"path"`
}

func (n notes) read() tool.Tool {
	return tool.New(tool.Spec{
		Name:  "notes_read",
		Title: "Read a note",
		Doc:   "Return one note; a long one is cut and truncated says so. hidden lists characters that people cannot see." + data,
		Args:  tool.Args{"path": pathRule},
	}, func(ctx context.Context, _ *tool.Call, in readNote) (note.Content, error) {
		return n.vault.Read(ctx, in.Path)
	})
}
