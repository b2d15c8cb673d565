package tasks

import (
	"context"
	"fmt"

	"handrail/internal/tool"
)

type deletedTask struct {
	ID      int64 `json:"id"`
	Deleted bool  `json:"deleted"`
}

func (t tasks) deleteTask() tool.Tool {
	return tool.Confirmed(tool.Spec{
		Name:       "delete_task",
		Title:      "Delete a task",
		Doc:        "Delete a task for good.",
		Idempotent: true,
		Args:       tool.Args{"id": idRule},
	}, t.askDelete, t.delete)
}

func (t tasks) askDelete(ctx context.Context, c *tool.Call, in taskID) (tool.Question, error) {
	found, err := t.book.For(c.Who).Get(ctx, in.ID)
	if err != nil {
		return tool.Question{}, err
	}
	return tool.Question{
		Message: fmt.Sprintf("Delete task %d, %q, for good?", found.ID, found.Title),
		Target:  found.Title,
	}, nil
}

// delete removes the task; where a person was shown its title, only while it
// still has it.
func (t tasks) delete(ctx context.Context, c *tool.Call, in taskID) (deletedTask, error) {
	title := ""
	if c.Confirmed != nil {
		title = c.Confirmed.Target
	}
	if err := t.book.For(c.Who).Delete(ctx, in.ID, title); err != nil {
		return deletedTask{}, err
	}
	return deletedTask{ID: in.ID, Deleted: true}, nil
}
