// Package app wires the program: from settings to stores, domains, toolsets and
// a server. Every transport and the end-to-end tests run on what it makes.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/note"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
	"handrail/internal/todo"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// World is what the program takes from outside.
type World struct {
	// Logger is for the operator.
	Logger *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Environ is the environment, NAME=value, that commands are run in, and Self the
	// path of this program, beside which its runner lies.
	Environ []string
	Self    string
}

// App is the program, wired and open.
type App struct {
	// Door is the way in to every tool.
	Door *tool.Door
	// Sets are what is served.
	Sets []toolset.Set

	log    audit.Log
	seal   *mcpserver.Seal
	random bool // the seal's key is
	ready  func(context.Context) error

	watcher task.Watcher
	vault   *note.Vault
	project *commands // nil where no Taskfiles are served
	world   World
	close   []func() error
}

// Open opens what the settings ask for. The error is one sentence for the
// person who started the program.
func Open(ctx context.Context, c config.Config, w World) (*App, error) {
	a := &App{world: w}
	if err := a.open(ctx, c); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.Door = tool.NewDoor(tool.Options{Log: a.log, Policy: tool.Policy(c.Confirm), Now: w.Now, Logger: w.Logger})
	return a, nil
}

func (a *App) open(ctx context.Context, c config.Config) error {
	if err := a.openSeal(c); err != nil {
		return err
	}
	d := data{now: a.world.Now}
	if c.DB != "" {
		if err := makeFolder(c); err != nil {
			return err
		}
		db, err := a.openDB(ctx, c.DB)
		if err != nil {
			return err
		}
		a.log, d.book = db, task.NewBook(db)
		a.ready, a.watcher = db.Ready, db
	} else if err := a.openRecord(ctx, c.AuditDB); err != nil {
		return err
	}
	if store, ok := a.log.(mcpserver.Spender); ok && a.seal != nil {
		a.seal.SpendIn(store)
	}
	if c.Root != "" {
		vault, err := note.Open(c.Root, note.Limits{
			MaxNoteBytes: c.MaxNoteBytes, MaxReadBytes: c.MaxReadBytes, MaxSearchResults: c.MaxSearchResults,
		})
		if err != nil {
			return err
		}
		a.close = append(a.close, vault.Close)
		a.vault = vault
		d.vault, d.list = vault, todo.New(vault.SideFile("tasks.json"), a.world.Now)
		a.sweep(ctx, c, vault)
	}
	if p, known := config.FindPreset(c.Preset); known && slices.Contains(p.Toolsets, "taskfile") {
		commands, err := a.openCommands(ctx, c)
		if err != nil {
			return err
		}
		a.project, d.project = commands, commands.project
	}
	var err error
	a.Sets, err = sets(c, d)
	return err
}

// sweep removes, in the background, what a crashed writer may have left.
func (a *App) sweep(ctx context.Context, c config.Config, vault *note.Vault) {
	if len(c.AllowWrite) == 0 || c.ReadOnly {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if n, err := vault.Sweep(ctx); err != nil && ctx.Err() == nil {
			a.world.Logger.Warn("temporary files could not be looked for", "error", err)
		} else if n > 0 {
			a.world.Logger.Info("temporary files of an earlier run removed", "files", n)
		}
	}()
	a.close = append(a.close, func() error { cancel(); <-over; return nil })
}

func (a *App) openDB(ctx context.Context, path string) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Now: a.world.Now, Report: a.report})
	if err != nil {
		return nil, err
	}
	a.close = append(a.close, db.Close)
	return db, nil
}

func (a *App) report(err error) { a.world.Logger.Error("the record", "error", err) }

// openRecord opens a database that keeps only the record. Where it cannot be
// had at all, reads are still served; a file that is something else stops the
// start.
func (a *App) openRecord(ctx context.Context, path string) error {
	if path == config.AuditOff {
		a.world.Logger.Warn("calls are not recorded: audit-db is off")
		a.log = audit.Nowhere{}
		return nil
	}
	err := errors.New("there is no folder for it: set --audit-db, or HOME")
	if path != "" {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			var db *sqlite.DB
			if db, err = a.openDB(ctx, path); err == nil {
				a.log = db
				return nil
			}
		}
	}
	if fault.CodeOf(err) == fault.InvalidStore {
		return err
	}
	a.world.Logger.Error("the record cannot be opened: changes are refused", "error", err)
	a.log = audit.Broken{Err: err, Report: a.report}
	return nil
}

// Tool is the tool of this name, or NotFound with the names there are. Where it
// may be missing only because a root could not be loaded, it is Unavailable with
// the reason.
func (a *App) Tool(name string) (tool.Tool, error) {
	var names []string
	if a.project != nil {
		a.project.begin(context.Background())
	}
	for _, set := range a.Sets {
		tools := set.Tools
		if set.Live != nil {
			_, live := set.Live()
			tools = append(slices.Clone(tools), live...)
		}
		for _, t := range tools {
			if t.Spec.Name == name {
				return t, nil
			}
			names = append(names, t.Spec.Name)
		}
	}
	if a.project != nil {
		if why := a.project.problems(); why != "" {
			return tool.Tool{}, fault.New(fault.Unavailable, "there is no tool %q: %s", name, why)
		}
	}
	return tool.Tool{}, fault.New(fault.NotFound, "there is no tool %q; there are: %s", name, strings.Join(names, ", "))
}

// ServeStdio serves one client over a pair of streams, as the local user.
func (a *App) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	who := actor.LocalUser()
	o := a.options(who)
	if p := a.project; p != nil {
		o.Roots, o.AskRoots = p.roots, p.asks
		if !p.asks {
			go p.begin(ctx) // so that the first list need not wait so long
		}
	}
	s, err := mcpserver.New(who, o)
	if err != nil {
		return err
	}
	if a.project != nil {
		a.project.clients.is(s.Mirror)
		defer a.project.clients.is(nil)
	}
	a.warnOfSeal()
	return s.RunStdio(ctx, in, out)
}

func (a *App) server(who actor.Actor) (*mcpserver.Server, error) {
	return mcpserver.New(who, a.options(who))
}

func (a *App) options(who actor.Actor) mcpserver.Options {
	return mcpserver.Options{
		Name: "handrail", Title: "Handrail", Version: Version,
		Door: a.Door, Sets: a.Sets, Seal: a.seal, Logger: a.world.Logger,
		Watch: a.watch(who), WatchOnDemand: a.vault != nil,
	}
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
