package task

import "context"

// ChangeKind is what happened to a task.
type ChangeKind string

// The kinds.
const (
	Added     ChangeKind = "added"
	Completed ChangeKind = "completed"
	Deleted   ChangeKind = "deleted"
)

// Change is one change of a user's tasks. ID 0 says that changes were missed:
// anything may have changed.
type Change struct {
	ID   int64
	Kind ChangeKind
}

// Watcher tells of changes, also of those that another process makes to the
// same store, within a second.
type Watcher interface {
	// WatchTasks calls tell with the changes of the user's tasks, in order, from
	// the moment it returns until stop is called, which waits for the last call.
	// tell must not wait for anything.
	WatchTasks(ctx context.Context, user string, tell func([]Change)) (stop func(), err error)
}
