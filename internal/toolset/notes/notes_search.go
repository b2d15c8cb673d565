package notes

import (
	"context"

	"handrail/internal/note"
	"handrail/internal/tool"
)

type searchNotes struct {
	Query  string  `json:"query"`
	Folder *string `json:"folder,omitempty"`
	Limit  *int    `json:"limit,omitempty"`
}

func (n notes) search() tool.Tool {
	most := n.limits.MaxSearchResults
	return tool.New(tool.Spec{
		Name:  "notes_search",
		Title: "Search notes",
		Doc:   "Find the lines of notes that contain a text, in any case, with path and line number." + data,
		Args: tool.Args{
			"query":  {Doc: "The text to find, on one line.", MinLength: 1, MaxLength: note.MaxQueryUnits},
			"folder": folderRule,
			"limit":  {Doc: "Most lines in one answer.", Min: 1, HasMin: true, Max: int64(most), Default: most},
		},
	}, func(ctx context.Context, _ *tool.Call, in searchNotes) (note.Matches, error) {
		return n.vault.Search(ctx, note.SearchQuery{Query: in.Query, Folder: optional(in.Folder), Limit: optional(in.Limit)})
	})
}
