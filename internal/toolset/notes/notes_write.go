package notes

import (
	"context"

	"handrail/internal/note"
	"handrail/internal/tool"
)

type writeNote struct {
	Path      string  `json:"path"`
	Content   string  `json:"content"`
	Overwrite *bool   `json:"overwrite,omitempty"`
	IfSHA256  *string `json:"ifSha256,omitempty"`
}

func (n notes) write() tool.Tool {
	return tool.New(tool.Spec{
		Name:    "notes_write",
		Title:   "Write a note",
		Doc:     "Create a note, or replace one with overwrite: true. Pass the sha256 that notes_read gave as ifSha256, so that nobody's change is lost.",
		Effect:  tool.Replace,
		Outside: true,
		Args: tool.Args{
			"path":      pathRule,
			"content":   {Doc: "The whole text of the note."},
			"overwrite": {Doc: "Replace the note if it exists."},
			"ifSha256":  {Doc: "Only if the note still has this hash.", MinLength: 64, MaxLength: 64},
		},
	}, func(ctx context.Context, _ *tool.Call, in writeNote) (note.Written, error) {
		return n.vault.Write(ctx, note.Draft{
			Path: in.Path, Content: in.Content, Overwrite: optional(in.Overwrite), IfSHA256: optional(in.IfSHA256),
		})
	})
}
