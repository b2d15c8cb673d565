package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/taskfile"
	taskfileset "handrail/internal/toolset/taskfile"
)

// commands are a project's own commands, and who is told when they change.
type commands struct {
	project *taskfile.Project
	log     *slog.Logger
	clients *audience                   // of the log
	settle  func(context.Context) error // loads the roots that are not a client's
	asks    bool                        // a client's roots stand before those
	once    sync.Once

	mu        sync.Mutex
	listeners map[int]func()
	next      int
}

// openCommands opens the project without any root: settle or a client says which
// there are.
func (a *App) openCommands(ctx context.Context, c config.Config) (*commands, error) {
	t := c.Taskfile
	roots := make([]string, len(t.Roots))
	for i, dir := range t.Roots {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "the working directory cannot be told, so the root %q cannot be found", dir)
		}
		roots[i] = abs
	}
	clients := &audience{}
	log := slog.New(mirror{Handler: a.world.Logger.Handler(), to: clients})
	project, err := taskfile.OpenRoots(ctx, nil, taskfile.Options{
		Self: a.world.Self, Env: taskfile.Environment(a.world.Environ, t.RunEnv, config.Own()),
		AllowRemote: t.AllowRemote, RawVars: t.RawVars, Timeout: t.RunTimeout, OutputBytes: t.OutputBytes, PerTask: t.RunsPerTask,
		Plan: taskfile.PlanOptions{
			Taken: taken(c), Allow: t.AllowRun,
			OnCollision: func(name string, tasks []string) {
				log.Warn("tasks whose tools would have had one name got names of their own", "event", "tools.collision", "tool_name", name, "tasks", tasks)
			},
		},
		Now: a.world.Now, Log: log,
	})
	if err != nil {
		return nil, err
	}
	k := &commands{project: project, log: log, clients: clients, asks: len(roots) == 0, listeners: map[int]func(){}}
	k.settle = func(ctx context.Context) error {
		if len(roots) > 0 {
			return project.SetRoots(ctx, roots)
		}
		dir, err := os.Getwd()
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, "the working directory cannot be told")
		}
		return project.SetRoots(ctx, []string{dir})
	}
	over := make(chan struct{})
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(over)
		k.tell(watching)
	}()
	a.close = append(a.close, func() error {
		stop()
		<-over
		project.Close()
		return nil
	})
	return k, nil
}

// taken are the names that no task's tool may have.
func taken(c config.Config) []string {
	if c.Taskfile.NoStaticTools {
		return nil
	}
	return []string{taskfileset.ListName, taskfileset.RunName}
}

// tell passes the project's changes on.
func (k *commands) tell(ctx context.Context) {
	for {
		select {
		case <-k.project.Changes():
			k.mu.Lock()
			for _, changed := range k.listeners {
				changed()
			}
			k.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// watch announces that tools came or went.
func (k *commands) watch(announce func(mcpserver.Notice)) (stop func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := k.next
	k.next++
	k.listeners[id] = func() { announce(mcpserver.Notice{Kind: mcpserver.ToolsChanged}) }
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.listeners, id)
	}, nil
}

// begin loads the roots that are not a client's, once.
func (k *commands) begin(ctx context.Context) {
	k.once.Do(func() {
		if err := k.settle(ctx); err != nil {
			k.warn(err)
		}
	})
}

// problems are the reasons why roots could not be loaded, each once; empty where
// all are well.
func (k *commands) problems() string {
	var all []string
	for _, r := range k.project.Plan().Roots {
		if r.Error != "" && !slices.Contains(all, r.Error) {
			all = append(all, r.Error)
		}
	}
	return strings.Join(all, "; ")
}

func (k *commands) warn(err error) {
	k.log.Error("the roots cannot be used", "event", "roots.failed", "error", err.Error())
}

// roots takes what a client says of its roots.
func (k *commands) roots(ctx context.Context, uris []string, given bool) {
	if !given {
		k.begin(ctx)
		return
	}
	dirs := []string{}
	for _, uri := range uris {
		dir, err := taskfile.RootDir(uri)
		if err != nil {
			k.log.Warn("a root is left out", "event", "root.refused", "root_uri", uri, "error", fault.Of(err).Message)
			continue
		}
		dirs = append(dirs, dir)
	}
	if err := k.project.SetRoots(ctx, dirs); err != nil {
		k.warn(err)
	}
}
