package tasks

import (
	"context"

	"handrail/internal/task"
	"handrail/internal/tool"
)

type addTask struct {
	Title string   `json:"title"`
	Due   *string  `json:"due,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

func (t tasks) addTask(name string) tool.Tool {
	return tool.New(tool.Spec{
		Name:   name,
		Title:  "Add a task",
		Doc:    "Create a task and return it with its id.",
		Effect: tool.Write,
		Args: tool.Args{
			"title":  {Doc: "What is to be done; not only white space.", MinLength: 1, MaxLength: task.MaxTitle},
			"due":    {Doc: "The day it is due, YYYY-MM-DD.", Format: "date"},
			"tags":   {Doc: "Labels, to filter by.", MaxItems: task.MaxTags},
			"tags[]": {MinLength: 1, MaxLength: task.MaxTag},
		},
	}, t.add)
}

func (t tasks) add(ctx context.Context, c *tool.Call, in addTask) (task.Task, error) {
	var draft task.Draft
	var err error
	if draft.Title, err = task.ParseTitle(in.Title); err != nil {
		return task.Task{}, err
	}
	if draft.Due, err = optionalDate("due", in.Due); err != nil {
		return task.Task{}, err
	}
	if draft.Tags, err = task.ParseTags(in.Tags); err != nil {
		return task.Task{}, err
	}
	return t.book.For(c.Who).Add(ctx, draft)
}

func optionalDate(name string, s *string) (task.Date, error) {
	if s == nil {
		return task.Date{}, nil
	}
	return task.ParseDate(name, *s)
}
