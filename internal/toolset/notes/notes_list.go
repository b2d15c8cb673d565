package notes

import (
	"context"

	"handrail/internal/note"
	"handrail/internal/tool"
)

type listNotes struct {
	Folder *string `json:"folder,omitempty"`
	Limit  *int    `json:"limit,omitempty"`
	Cursor *string `json:"cursor,omitempty"`
}

func (n notes) list() tool.Tool {
	return tool.New(tool.Spec{
		Name:  "notes_list",
		Title: "List notes",
		Doc:   "List the Markdown notes beneath a folder by path, with title, size and time of change. truncated and nextCursor mean there are more.",
		Args: tool.Args{
			"folder": folderRule,
			"limit":  {Doc: "Most notes in one answer.", Min: 1, HasMin: true, Max: note.MaxListed, Default: note.MaxListed},
			"cursor": {Doc: "nextCursor of the answer before.", MinLength: 1, MaxLength: 4000},
		},
	}, func(ctx context.Context, _ *tool.Call, in listNotes) (note.Listing, error) {
		return n.vault.List(ctx, note.ListQuery{Folder: optional(in.Folder), Limit: optional(in.Limit), Cursor: optional(in.Cursor)})
	})
}
