// Package task owns the task list: what a task is, what a title, a tag and a
// date may be, and the Store that it needs. It knows no protocol and no
// database; data is reached only through the book of one user.
package task

import (
	"time"
)

// MaxID is the largest id a task can have: every JSON reader keeps integers
// below 2⁵³ exact.
const MaxID = 1<<53 - 1

// Status is whether a task is done.
type Status string

// The two states of a task.
const (
	Open Status = "open"
	Done Status = "done"
)

// Task is one task as callers see it.
type Task struct {
	// ID is unique for its user and never used again, 1 to MaxID.
	ID int64 `json:"id"`
	// Title is as it was sent: 1 to MaxTitle UTF-16 code units.
	Title string `json:"title"`
	// Status is open or done.
	Status Status `json:"status"`
	// Due is the zero Date where there is none.
	Due Date `json:"due,omitzero"`
	// Tags is never nil; at most MaxTags, in the order they were given.
	Tags []string `json:"tags"`
	// CreatedAt, UpdatedAt and CompletedAt are UTC, kept to the millisecond;
	// CompletedAt is zero while the task is open.
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	CompletedAt time.Time `json:"completedAt,omitzero"`
}

// Draft is a task to be added: every field has been parsed.
type Draft struct {
	Title Title
	Due   Date
	Tags  Tags
}

// Filter chooses tasks; zero fields choose everything. A task without a due
// date never matches a due bound.
type Filter struct {
	Status Status
	// Tag must be one of the task's tags, exactly.
	Tag string
	// DueAfter and DueBefore are inclusive.
	DueAfter, DueBefore Date
}

// Page is a part of a list that is ordered by id.
type Page struct {
	// After leaves out tasks up to and including this id.
	After int64
	// Limit is the largest number of tasks, 1 to MaxLimit.
	Limit int
}

// The bounds of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 200
)
