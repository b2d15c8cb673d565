package tasks

import (
	"context"

	"handrail/internal/task"
	"handrail/internal/tool"
)

type taskID struct {
	ID int64 `json:"id"`
}

var idRule = tool.Rule{Doc: "The task's id.", Min: 1, HasMin: true, Max: task.MaxID}

func (t tasks) completeTask() tool.Tool {
	return tool.New(tool.Spec{
		Name:       "complete_task",
		Title:      "Complete a task",
		Doc:        "Mark a task as done. Doing it twice is fine and changes nothing.",
		Effect:     tool.Write,
		Idempotent: true,
		Args:       tool.Args{"id": idRule},
	}, t.complete)
}

func (t tasks) complete(ctx context.Context, c *tool.Call, in taskID) (task.Task, error) {
	return t.book.For(c.Who).Complete(ctx, in.ID)
}
