package tasks

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	jsonx "github.com/go-json-experiment/json"

	"handrail/internal/actor"
	"handrail/internal/fault"
	"handrail/internal/task"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// The URIs of the resources.
const (
	BoardURI   = "tasks://board"
	itemPrefix = "tasks://items/"
)

// ItemURI is the resource of one task.
func ItemURI(id int64) string { return itemPrefix + strconv.FormatInt(id, 10) }

// boardData is the content of the board.
type boardData struct {
	User      string      `json:"user"`
	Open      int64       `json:"open"`
	Done      int64       `json:"done"`
	Tasks     []task.Task `json:"tasks"`
	Truncated bool        `json:"truncated"`
}

const jsonType = "application/json"

func (t tasks) board() tool.Resource {
	return tool.Resource{
		URI: BoardURI, Name: "board", Title: "Task board",
		Description: "All tasks of the user, and how many are open and done.", MIMEType: jsonType,
		Read: func(ctx context.Context, who actor.Actor, _ string) (tool.Content, error) {
			own := t.book.For(who)
			b := boardData{User: who.User}
			var err error
			if b.Open, b.Done, err = own.Count(ctx); err != nil {
				return tool.Content{}, err
			}
			list, more, err := own.List(ctx, task.Filter{}, task.Page{Limit: task.MaxLimit})
			if err != nil {
				return tool.Content{}, err
			}
			n, err := toolset.Fit(list)
			if err != nil {
				return tool.Content{}, err
			}
			b.Tasks, b.Truncated = append([]task.Task{}, list[:n]...), more || n < len(list)
			return asJSON(b)
		},
	}
}

func (t tasks) item() tool.Resource {
	return tool.Resource{
		URI: itemPrefix + "{id}", Template: true, Name: "task", Title: "A task",
		Description: "One task of the user, by its id.", MIMEType: jsonType,
		Read: func(ctx context.Context, who actor.Actor, uri string) (tool.Content, error) {
			text := strings.TrimPrefix(uri, itemPrefix)
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil || id < 1 || id > task.MaxID || strconv.FormatInt(id, 10) != text {
				return tool.Content{}, fault.New(fault.NotFound, "there is no such task")
			}
			found, err := t.book.For(who).Get(ctx, id)
			if err != nil {
				return tool.Content{}, err
			}
			return asJSON(found)
		},
		Complete: map[string]tool.Completer{"id": t.completeID},
	}
}

func asJSON(v any) (tool.Content, error) {
	b, err := jsonx.Marshal(v, jsonx.Deterministic(true))
	return tool.Content{MIMEType: jsonType, Text: string(b)}, err
}

// completeID proposes ids of open tasks that begin with the prefix.
func (t tasks) completeID(ctx context.Context, who actor.Actor, prefix string) ([]string, error) {
	list, _, err := t.book.For(who).List(ctx, task.Filter{Status: task.Open}, task.Page{Limit: task.MaxLimit})
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, found := range list {
		if id := strconv.FormatInt(found.ID, 10); strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// listed lists the user's tasks as resources, page by page.
func (t tasks) listed(ctx context.Context, who actor.Actor, cursor string) ([]tool.Listed, string, error) {
	page := task.Page{Limit: task.MaxLimit}
	if cursor != "" {
		after, err := strconv.ParseInt(cursor, 10, 64)
		if err != nil || after < 1 || after > task.MaxID {
			return nil, "", fault.New(fault.InvalidInput, "cursor: not one that this server gave out")
		}
		page.After = after
	}
	list, more, err := t.book.For(who).List(ctx, task.Filter{}, page)
	if err != nil {
		return nil, "", err
	}
	var out []tool.Listed
	for _, found := range list {
		out = append(out, tool.Listed{
			URI: ItemURI(found.ID), Name: fmt.Sprintf("task %d", found.ID), Title: found.Title,
			Description: "A task that is " + string(found.Status) + ".", MIMEType: jsonType,
		})
	}
	next := ""
	if more {
		next = strconv.FormatInt(list[len(list)-1].ID, 10)
	}
	return out, next, nil
}
