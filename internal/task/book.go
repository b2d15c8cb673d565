package task

import (
	"context"

	"handrail/internal/actor"
	"handrail/internal/fault"
)

// Store keeps tasks. Every method is bound to one user and sees nobody else's
// tasks; ids are counted for each user from 1 and never given out twice. A
// method that changes data commits the entry of the call that runs
// (audit.From) in the same transaction and then settles it. Faults: NotFound
// where this user has no such task, Unavailable where the store could not be
// had in time and nothing was changed.
type Store interface {
	AddTask(ctx context.Context, user string, d Draft) (Task, error)
	Task(ctx context.Context, user string, id int64) (Task, error)
	// Tasks lists at most page.Limit tasks by id; more says that there are
	// further ones.
	Tasks(ctx context.Context, user string, f Filter, page Page) (list []Task, more bool, err error)
	// SearchTasks lists tasks whose title contains the query: ASCII letters match
	// in either case, every other character exactly, wildcards have no meaning.
	SearchTasks(ctx context.Context, user string, q Query, page Page) (list []Task, more bool, err error)
	// CountTasks is how many tasks the user has, open and done.
	CountTasks(ctx context.Context, user string) (open, done int64, err error)
	// CompleteTask marks the task done; on a done task it changes nothing.
	CompleteTask(ctx context.Context, user string, id int64) (Task, error)
	// DeleteTask removes the task. With title set, only while the task is still
	// called that; Declined otherwise.
	DeleteTask(ctx context.Context, user string, id int64, title string) error
}

// Book gives each user the tasks that are theirs.
type Book struct{ store Store }

// NewBook makes the book of a store.
func NewBook(store Store) *Book { return &Book{store} }

// For is the part of the book that belongs to who. Nobody has no tasks: every
// method of their Own fails with Internal.
func (b *Book) For(who actor.Actor) Own { return Own{b.store, who} }

// Own is one user's tasks.
type Own struct {
	store Store
	who   actor.Actor
}

func (o Own) user() (string, error) {
	if !o.who.Known() {
		return "", fault.New(fault.Internal, "a call without a user reached the task list")
	}
	return o.who.User, nil
}

// Add adds a task and returns it as it is stored.
func (o Own) Add(ctx context.Context, d Draft) (Task, error) {
	user, err := o.user()
	if err != nil {
		return Task{}, err
	}
	return o.store.AddTask(ctx, user, d)
}

// Get is the task with this id, or NotFound.
func (o Own) Get(ctx context.Context, id int64) (Task, error) {
	user, err := o.user()
	if err != nil {
		return Task{}, err
	}
	return o.store.Task(ctx, user, id)
}

// List is a page of the tasks that the filter chooses, by id.
func (o Own) List(ctx context.Context, f Filter, page Page) ([]Task, bool, error) {
	user, err := o.user()
	if err != nil {
		return nil, false, err
	}
	return o.store.Tasks(ctx, user, f, page)
}

// Search is a page of the tasks whose title contains the query, by id.
func (o Own) Search(ctx context.Context, q Query, page Page) ([]Task, bool, error) {
	user, err := o.user()
	if err != nil {
		return nil, false, err
	}
	return o.store.SearchTasks(ctx, user, q, page)
}

// Count is how many tasks there are, open and done.
func (o Own) Count(ctx context.Context) (open, done int64, err error) {
	user, err := o.user()
	if err != nil {
		return 0, 0, err
	}
	return o.store.CountTasks(ctx, user)
}

// Complete marks the task done and returns it.
func (o Own) Complete(ctx context.Context, id int64) (Task, error) {
	user, err := o.user()
	if err != nil {
		return Task{}, err
	}
	return o.store.CompleteTask(ctx, user, id)
}

// Delete removes the task for good; with title set, only while it is still
// called that.
func (o Own) Delete(ctx context.Context, id int64, title string) error {
	user, err := o.user()
	if err != nil {
		return err
	}
	return o.store.DeleteTask(ctx, user, id, title)
}
