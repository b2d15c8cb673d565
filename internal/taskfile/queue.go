package taskfile

import (
	"context"
	"sync"

	"handrail/internal/fault"
)

// queue bounds how many runs there are at once: of one task of one root, and in
// all. Who comes later waits; who would have to wait behind too many is refused.
type queue struct {
	each    int           // runs of one task at once
	waiting int           // callers that may wait for one task
	all     chan struct{} // a token for each run

	mu    sync.Mutex
	tasks map[string]*turn
}

// turn is the state of one task. It is forgotten when nobody needs it.
type turn struct {
	slots chan struct{}
	users int // running and waiting
}

func newQueue(each, waiting, all int) *queue {
	return &queue{each: each, waiting: waiting, all: make(chan struct{}, all), tasks: map[string]*turn{}}
}

// enter waits for a turn of the task and returns what ends it. It faults with
// Unavailable where too many wait already, and with the context's error.
func (q *queue) enter(ctx context.Context, key, name string) (leave func(), err error) {
	q.mu.Lock()
	t := q.tasks[key]
	if t == nil {
		t = &turn{slots: make(chan struct{}, q.each)}
		q.tasks[key] = t
	}
	if t.users >= q.each+q.waiting {
		q.mu.Unlock()
		return nil, fault.New(fault.Unavailable, "task %q is running, and %d calls wait for it already; try again later", name, q.waiting)
	}
	t.users++
	q.mu.Unlock()
	forget := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(q.tasks, key)
		}
	}
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
	select {
	case q.all <- struct{}{}:
	case <-ctx.Done():
		<-t.slots
		forget()
		return nil, ctx.Err()
	}
	return func() {
		<-q.all
		<-t.slots
		forget()
	}, nil
}
