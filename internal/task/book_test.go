package task_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"handrail/internal/actor"
	"handrail/internal/fault"
	"handrail/internal/task"
)

// spy notes what the book asks of the store.
type spy struct{ calls []string }

func (s *spy) note(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *spy) AddTask(_ context.Context, user string, d task.Draft) (task.Task, error) {
	s.note("add %s %s", user, d.Title)
	return task.Task{ID: 7}, nil
}

func (s *spy) Task(_ context.Context, user string, id int64) (task.Task, error) {
	s.note("get %s %d", user, id)
	return task.Task{ID: id}, nil
}

func (s *spy) Tasks(_ context.Context, user string, f task.Filter, p task.Page) ([]task.Task, bool, error) {
	s.note("list %s %s %d", user, f.Tag, p.Limit)
	return nil, true, nil
}

func (s *spy) SearchTasks(_ context.Context, user string, q task.Query, p task.Page) ([]task.Task, bool, error) {
	s.note("search %s %s %d", user, q, p.After)
	return nil, true, nil
}

func (s *spy) CountTasks(_ context.Context, user string) (open, done int64, err error) {
	s.note("count %s", user)
	return 1, 2, nil
}

func (s *spy) CompleteTask(_ context.Context, user string, id int64) (task.Task, error) {
	s.note("complete %s %d", user, id)
	return task.Task{ID: id}, nil
}

func (s *spy) DeleteTask(_ context.Context, user string, id int64, title string) error {
	s.note("delete %s %d %s", user, id, title)
	return nil
}

// everything calls each method of a user's tasks and returns the errors.
func everything(own task.Own) []error {
	ctx := context.Background()
	title, _ := task.ParseTitle("t")
	query, _ := task.ParseQuery("q")
	_, add := own.Add(ctx, task.Draft{Title: title})
	_, get := own.Get(ctx, 1)
	_, _, list := own.List(ctx, task.Filter{Tag: "x"}, task.Page{Limit: 5})
	_, _, search := own.Search(ctx, query, task.Page{After: 6})
	_, complete := own.Complete(ctx, 2)
	_, _, count := own.Count(ctx)
	return []error{add, get, list, search, complete, own.Delete(ctx, 3, "title"), count}
}

func TestTheBookAsksForItsOwnersTasksOnly(t *testing.T) {
	s := &spy{}
	for _, err := range everything(task.NewBook(s).For(actor.Actor{User: "ann"})) {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"add ann t", "get ann 1", "list ann x 5", "search ann q 6", "complete ann 2", "count ann", "delete ann 3 title"}
	if !slices.Equal(s.calls, want) {
		t.Errorf("asked %q, want %q", s.calls, want)
	}
}

func TestNobodyHasNoTasksAndReachesNoStore(t *testing.T) {
	s := &spy{}
	for i, err := range everything(task.NewBook(s).For(actor.Actor{})) {
		if fault.CodeOf(err) != fault.Internal {
			t.Errorf("method %d: %v", i, err)
		}
	}
	if len(s.calls) != 0 {
		t.Errorf("the store was asked %q", s.calls)
	}
}
