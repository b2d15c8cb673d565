package app

import (
	"context"
	"errors"
	"slices"

	"handrail/internal/actor"
	"handrail/internal/mcpserver"
	"handrail/internal/note"
	"handrail/internal/task"
	"handrail/internal/toolset"
	"handrail/internal/toolset/notes"
	"handrail/internal/toolset/tasks"
)

// watch announces the changes of what a user can subscribe to.
func (a *App) watch(who actor.Actor) func(func(mcpserver.Notice)) (func(), error) {
	var sources []func(func(mcpserver.Notice)) (func(), error)
	if a.watcher != nil && a.serves("board") {
		sources = append(sources, func(announce func(mcpserver.Notice)) (func(), error) {
			return a.watcher.WatchTasks(context.Background(), who.User, func(changes []task.Change) { tellTasks(changes, announce) })
		})
	}
	if a.vault != nil && a.serves("notes") {
		sources = append(sources, a.watchNotes)
	}
	if a.project != nil {
		sources = append(sources, a.project.watch)
	}
	if len(sources) == 0 {
		return nil
	}
	return func(announce func(mcpserver.Notice)) (func(), error) {
		var stops []func()
		var problems []error
		for _, begin := range sources {
			stop, err := begin(announce)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			stops = append(stops, stop)
		}
		return func() {
			for _, stop := range stops {
				stop()
			}
		}, errors.Join(problems...)
	}
}

func (a *App) serves(set string) bool {
	return slices.ContainsFunc(a.Sets, func(s toolset.Set) bool { return s.Name == set })
}

// tellTasks announces changes of tasks: the item, the board, and the list where
// a task came or went.
func tellTasks(changes []task.Change, announce func(mcpserver.Notice)) {
	for _, c := range changes {
		if c.ID != 0 {
			announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: tasks.ItemURI(c.ID)})
		} else {
			announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated}) // any may have changed
		}
		if c.Kind != task.Completed {
			announce(mcpserver.Notice{Kind: mcpserver.ResourcesChanged})
		}
	}
	announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: tasks.BoardURI})
}

// watchNotes announces the changes of notes on disk, by whomever.
func (a *App) watchNotes(announce func(mcpserver.Notice)) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	changes, err := a.vault.Watch(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for c := range changes {
			tellNote(c, announce)
		}
	}()
	return func() { cancel(); <-over }, nil
}

func tellNote(c note.Change, announce func(mcpserver.Notice)) {
	uri := "" // any may have changed
	if c.Path != "" {
		uri = notes.URI(c.Path)
	}
	announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: uri})
	if c.Listed || c.Path == "" {
		announce(mcpserver.Notice{Kind: mcpserver.ResourcesChanged})
	}
}
