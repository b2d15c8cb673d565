package tasks

import (
	"context"

	"handrail/internal/task"
	"handrail/internal/tool"
)

type searchTasks struct {
	Query  string  `json:"query"`
	Limit  *int    `json:"limit,omitempty"`
	Cursor *string `json:"cursor,omitempty"`
}

func (t tasks) searchTasks() tool.Tool {
	return tool.New(tool.Spec{
		Name:  "search_tasks",
		Title: "Search tasks",
		Doc:   "List tasks whose title contains a text: ASCII letters match in either case, everything else exactly, % and _ too. nextCursor means there are more.",
		Args: tool.Args{
			"query":  {Doc: "The text to find.", MinLength: 1, MaxLength: task.MaxQuery},
			"limit":  limitRule,
			"cursor": cursorRule,
		},
	}, t.search)
}

func (t tasks) search(ctx context.Context, c *tool.Call, in searchTasks) (taskPage, error) {
	query, err := task.ParseQuery(in.Query)
	if err != nil {
		return taskPage{}, err
	}
	scope := []string{"search", query.String()}
	return cut(scope, in.Limit, in.Cursor, func(page task.Page) ([]task.Task, bool, error) {
		return t.book.For(c.Who).Search(ctx, query, page)
	})
}
