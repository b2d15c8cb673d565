package runner

import (
	"context"

	"github.com/go-task/task/v3"

	domain "handrail/internal/taskfile"
)

// List is what a root has, found in this process.
func List(ctx context.Context, dir string, allowRemote ...string) *domain.Listing {
	return list(ctx, dir, allowRemote)
}

// Rehearse does all of a run but the running: it loads the root, checks the call,
// and returns the executor and the name that would be called.
func Rehearse(ctx context.Context, order domain.Order) (*task.Executor, string, error) {
	r, err := load(ctx, order.Dir, order.AllowRemote)
	if err != nil {
		return nil, "", err
	}
	e, err := setUp(r)
	if err != nil {
		return nil, "", err
	}
	name, err := prepare(e, order)
	return e, name, err
}
