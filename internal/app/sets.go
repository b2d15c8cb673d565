package app

import (
	"fmt"
	"slices"
	"time"

	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/note"
	"handrail/internal/task"
	"handrail/internal/taskfile"
	"handrail/internal/todo"
	"handrail/internal/tool"
	"handrail/internal/toolset"
	"handrail/internal/toolset/demo"
	"handrail/internal/toolset/notes"
	taskfileset "handrail/internal/toolset/taskfile"
	"handrail/internal/toolset/tasks"
	todoset "handrail/internal/toolset/todo"
)

// data is what toolsets are made over; nil where a set is only described.
type data struct {
	now   func() time.Time
	book  *task.Book
	vault *note.Vault
	list  *todo.List

	project *taskfile.Project
}

// sets are what these settings offer.
func sets(c config.Config, d data) ([]toolset.Set, error) {
	p, known := config.FindPreset(c.Preset)
	if !known {
		return nil, fault.New(fault.InvalidInput, "there is no preset %q", c.Preset)
	}
	var all []toolset.Set
	for _, name := range p.Toolsets {
		switch name {
		case "tasks":
			all = append(all, tasks.Set(d.book))
		case "board":
			all = append(all, tasks.Board(d.book))
		case "demo":
			all = append(all, demo.Set(d.now))
		case "notes":
			all = append(all, notes.Set(d.vault))
		case "todo":
			all = append(all, todoset.Set(d.list))
		case "taskfile":
			all = append(all, taskfileset.Set(d.project, !c.Taskfile.NoStaticTools))
		default:
			return nil, fmt.Errorf("preset %s names a toolset %s that is not built in", p.Name, name)
		}
	}
	for i := range all {
		all[i].Tools = slices.DeleteFunc(all[i].Tools, func(t tool.Tool) bool { return !enabled(p, c, t) })
		if c.ReadOnly {
			all[i].Live = nil // they all run something
		}
	}
	return all, nil
}

// enabled says whether a tool is offered. One that is not is not registered:
// a model neither sees nor calls it.
func enabled(p config.Preset, c config.Config, t tool.Tool) bool {
	switch {
	case t.Spec.Effect == tool.Read:
		return true
	case c.ReadOnly:
		return false
	case p.Writes == nil:
		return true
	}
	return slices.Contains(c.AllowWrite, t.Spec.Name)
}
