// Package app wires the program: from settings to stores, domains, toolsets and
// a server. Every transport and the end-to-end tests run on what it makes.
package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
	"handrail/internal/tool"
	"handrail/internal/toolset"
	"handrail/internal/toolset/tasks"
)

// World is what the program takes from outside.
type World struct {
	// Logger is for the operator.
	Logger *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// App is the program, wired and open.
type App struct {
	// Door is the way in to every tool.
	Door *tool.Door
	// Sets are what is served.
	Sets []toolset.Set

	log    audit.Log
	logger *slog.Logger
	close  []func() error
}

// Open opens what the settings ask for. The error is one sentence for the
// person who started the program.
func Open(ctx context.Context, c config.Config, w World) (*App, error) {
	p, known := config.FindPreset(c.Preset)
	if !known {
		return nil, fault.New(fault.InvalidInput, "there is no preset %q", c.Preset)
	}
	a := &App{logger: w.Logger}
	db, err := sqlite.Open(ctx, c.DB, sqlite.Options{
		Now:    w.Now,
		Report: func(err error) { w.Logger.Error("the record", "error", err) },
	})
	if err != nil {
		return nil, err
	}
	a.close = append(a.close, db.Close)
	a.log = db
	book := task.NewBook(db)
	for _, name := range p.Toolsets {
		switch name {
		case "tasks":
			a.Sets = append(a.Sets, tasks.Set(book))
		default:
			return nil, fmt.Errorf("preset %s names a toolset %s that is not built in", p.Name, name)
		}
	}
	if c.ReadOnly {
		readOnly(a.Sets)
	}
	a.Door = tool.NewDoor(tool.Options{Log: a.log, Policy: tool.Argument, Now: w.Now, Logger: w.Logger})
	return a, nil
}

// readOnly takes every tool away that changes anything.
func readOnly(sets []toolset.Set) {
	for i := range sets {
		sets[i].Tools = slices.DeleteFunc(slices.Clone(sets[i].Tools), func(t tool.Tool) bool { return t.Spec.Effect != tool.Read })
	}
}

// Tool is the tool of this name, or NotFound with the names there are.
func (a *App) Tool(name string) (tool.Tool, error) {
	var names []string
	for _, set := range a.Sets {
		for _, t := range set.Tools {
			if t.Spec.Name == name {
				return t, nil
			}
			names = append(names, t.Spec.Name)
		}
	}
	return tool.Tool{}, fault.New(fault.NotFound, "there is no tool %q; there are: %s", name, strings.Join(names, ", "))
}

// ServeStdio serves one client over a pair of streams, as the local user, and
// commits what is queued for the record before it returns.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	s, err := mcpserver.New(actor.LocalUser(), mcpserver.Options{
		Name: "handrail", Title: "Handrail", Version: Version,
		Door: a.Door, Sets: a.Sets, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	return s.RunStdio(ctx, in, out)
}

// Close commits what is queued and lets go of every file. Call it once.
func (a *App) Close() error {
	var first error
	for _, f := range slices.Backward(a.close) {
		if err := f(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
