// Package todo owns the task list that lies as tasks.json beside the notes: how
// the file is understood, and how one task is added or completed without
// changing anything else in it, not even its formatting.
//
// The package refuses to know where the file lies and how it is locked and
// written: it owns the interface [File] for that, which a note vault's data file
// satisfies. It knows nothing of the task database either. Errors are faults
// (handrail/internal/fault).
package todo

import (
	"cmp"
	"context"
	"slices"
	"time"

	"handrail/internal/fault"
)

// File is the one data file of a list.
type File interface {
	// Load returns the file's bytes; ok is false where there is no file.
	Load(ctx context.Context) (data []byte, ok bool, err error)
	// Update replaces the bytes by what edit makes of them, atomically and alone
	// among all writers, of other processes too. edit may be called more than
	// once; a nil result without an error changes nothing.
	Update(ctx context.Context, edit func(old []byte, exists bool) ([]byte, error)) error
}

// The two states of a task, and the third word of the status filter.
const (
	Open = "open"
	Done = "done"
	All  = "all"
)

// Task is one task as callers see it. Due is YYYY-MM-DD; the times are RFC 3339
// where Handrail wrote them and whatever the file says otherwise.
type Task struct {
	ID          int64    `json:"id"`
	Title       string   `json:"title"`
	Status      string   `json:"status"`
	Due         string   `json:"due,omitempty"`
	Tags        []string `json:"tags"`
	CreatedAt   string   `json:"createdAt,omitempty"`
	CompletedAt string   `json:"completedAt,omitempty"`
}

// Query asks for one page of tasks.
type Query struct {
	// Status is "open" (also when empty), "done" or "all".
	Status string
	// Tag, where not "", is one that a task must have, exactly.
	Tag string
	// Limit is 1 to 200; 0 means 100.
	Limit int
	// Cursor is the NextCursor of the page before, or "".
	Cursor string
}

// Page is one page of tasks, ordered by id.
type Page struct {
	Tasks      []Task `json:"tasks"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// The bounds of a page: tasks, and bytes of JSON.
const (
	MaxListed     = 200
	DefaultListed = 100
	pageBytes     = 80_000
)

// List is the task list of one file. It keeps nothing between calls, so that it
// always tells what the file says now.
type List struct {
	file File
	now  func() time.Time
}

// New returns the list in file; now gives the time of additions and completions.
func New(file File, now func() time.Time) *List { return &List{file: file, now: now} }

// List returns one page of tasks. A page ends after Limit tasks or 80,000 bytes.
// Faults: invalid_input (status, tag, limit, cursor), invalid_store (the file
// cannot be understood), and those of the file.
func (l *List) List(ctx context.Context, q Query) (Page, error) {
	after, err := q.check()
	if err != nil {
		return Page{}, err
	}
	data, exists, err := l.file.Load(ctx)
	if err != nil {
		return Page{}, err
	}
	doc, err := parse(data, exists)
	if err != nil {
		return Page{}, err
	}
	slices.SortFunc(doc.tasks, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	page := Page{Tasks: []Task{}}
	size := 0
	for _, e := range doc.tasks {
		if e.ID <= after || !q.matches(e.Task) {
			continue
		}
		size += e.size()
		if n := len(page.Tasks); n == q.Limit || n > 0 && size > pageBytes {
			page.NextCursor = q.seal(page.Tasks[n-1].ID)
			break
		}
		page.Tasks = append(page.Tasks, e.Task)
	}
	return page, nil
}

func (q Query) matches(t Task) bool {
	return (q.Status == All || q.Status == t.Status) && (q.Tag == "" || slices.Contains(t.Tags, q.Tag))
}

// size is about how many bytes the task takes in JSON.
func (t Task) size() int {
	n := 120 + len(quote(t.Title)) + len(quote(t.CreatedAt)) + len(quote(t.CompletedAt))
	for _, tag := range t.Tags {
		n += len(quote(tag)) + 1
	}
	return n
}

// Add puts an open task at the end of the list, under the highest id there is
// plus one, and returns it. Faults: invalid_input (title, due, tags),
// invalid_store, and those of the file.
func (l *List) Add(ctx context.Context, d Draft) (Task, error) {
	tags, err := d.check()
	if err != nil {
		return Task{}, err
	}
	added := Task{Title: d.Title, Status: Open, Due: d.Due, Tags: tags}
	err = l.file.Update(ctx, func(old []byte, exists bool) ([]byte, error) {
		doc, err := parse(old, exists)
		if err != nil {
			return nil, err
		}
		if added.ID, err = doc.nextID(); err != nil {
			return nil, err
		}
		added.CreatedAt = l.stamp()
		return doc.add(added), nil
	})
	if err != nil {
		return Task{}, err
	}
	return added, nil
}

// Complete marks the task id as done and returns it. A task that is done stays
// as it is and nothing is written. Faults: invalid_input (id), not_found,
// invalid_store, and those of the file.
func (l *List) Complete(ctx context.Context, id int64) (Task, error) {
	if id < 1 || id > maxID {
		return Task{}, fault.New(fault.InvalidInput, "id: must be a positive integer below 2^53")
	}
	var done Task
	err := l.file.Update(ctx, func(old []byte, exists bool) ([]byte, error) {
		doc, err := parse(old, exists)
		if err != nil {
			return nil, err
		}
		for _, e := range doc.tasks {
			if e.ID != id {
				continue
			}
			if done = e.Task; done.Status == Done {
				return nil, nil
			}
			done.Status, done.CompletedAt = Done, l.stamp()
			return doc.complete(e, done.CompletedAt), nil
		}
		return nil, fault.New(fault.NotFound, "no task %d", id)
	})
	if err != nil {
		return Task{}, err
	}
	return done, nil
}

func (l *List) stamp() string { return l.now().UTC().Format("2006-01-02T15:04:05.000Z") }
