package tasks

import (
	"context"

	"handrail/internal/task"
	"handrail/internal/tool"
)

type listTasks struct {
	Filter *listFilter `json:"filter,omitempty"`
	Limit  *int        `json:"limit,omitempty"`
	Cursor *string     `json:"cursor,omitempty"`
}

type listFilter struct {
	Status    *string `json:"status,omitempty"`
	Tag       *string `json:"tag,omitempty"`
	DueAfter  *string `json:"dueAfter,omitempty"`
	DueBefore *string `json:"dueBefore,omitempty"`
}

func (t tasks) listTasks() tool.Tool {
	return tool.New(tool.Spec{
		Name:  "list_tasks",
		Title: "List tasks",
		Doc:   "List tasks by id, optionally filtered. Due bounds are inclusive; tasks without a due date never match one. nextCursor means there are more.",
		Args: tool.Args{
			"filter":           {Doc: "Only tasks that match all of these."},
			"filter.status":    {Doc: "Open ones, or done ones.", Enum: []string{string(task.Open), string(task.Done)}},
			"filter.tag":       {Doc: "Has this tag, exactly.", MinLength: 1, MaxLength: task.MaxTag},
			"filter.dueAfter":  {Doc: "Due this day or later, YYYY-MM-DD.", Format: "date"},
			"filter.dueBefore": {Doc: "Due this day or earlier, YYYY-MM-DD.", Format: "date"},
			"limit":            limitRule,
			"cursor":           cursorRule,
		},
	}, t.list)
}

func (t tasks) list(ctx context.Context, c *tool.Call, in listTasks) (taskPage, error) {
	var filter task.Filter
	var err error
	if f := in.Filter; f != nil {
		if f.Status != nil {
			filter.Status = task.Status(*f.Status)
		}
		if f.Tag != nil {
			filter.Tag = *f.Tag
		}
		if filter.DueAfter, err = optionalDate("filter.dueAfter", f.DueAfter); err != nil {
			return taskPage{}, err
		}
		if filter.DueBefore, err = optionalDate("filter.dueBefore", f.DueBefore); err != nil {
			return taskPage{}, err
		}
	}
	scope := []string{"list", string(filter.Status), filter.Tag, filter.DueAfter.String(), filter.DueBefore.String()}
	return cut(scope, in.Limit, in.Cursor, func(page task.Page) ([]task.Task, bool, error) {
		return t.book.For(c.Who).List(ctx, filter, page)
	})
}
