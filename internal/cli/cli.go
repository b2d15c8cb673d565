// Package cli is the command line: one file for each command. It turns words
// into settings and outcomes into exit statuses, and decides nothing else.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"handrail/internal/config"
)

// Env is the world of one run.
type Env struct {
	// In and Out belong to the protocol while a server runs; Err is for people.
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
}

// The exit statuses.
const (
	ExitOK       = 0 // done
	ExitFailed   = 1 // something went wrong
	ExitUsage    = 2 // wrong words or settings; nothing was begun
	ExitRejected = 3 // the call was refused: bad arguments, a conflict, a size
	ExitNotFound = 4 // what the call named is not there
	ExitDeclined = 5 // a confirmation is missing or was refused
	ExitBroken   = 6 // the record does not verify
)

const exitHelp = `Exit status: 0 done, 1 failed, 2 wrong usage or settings, 3 call refused,
4 not found, 5 not confirmed, 6 the record does not verify.`

// exit is an error with its exit status; its message has been printed where
// silent is set.
type exit struct {
	status int
	err    error
}

func (e exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// Main runs the program and returns its exit status.
func Main(ctx context.Context, args []string, env Env) int {
	root := newRoot(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var e exit
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e) && e.err == nil:
		return e.status
	case errors.As(err, &e):
		printError(env, e.err)
		return e.status
	}
	printError(env, err)
	return ExitUsage
}

func printError(env Env, err error) {
	fmt.Fprintf(env.Err, "handrail: %v\n", err)
}

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "handrail",
		Short: "A task list, notes and a project's own commands for AI agents, over MCP",
		Long: `Handrail gives an AI agent a task list over the Model Context Protocol.
It asks before it deletes, and keeps every call on a record that cannot be
quietly rewritten.

` + exitHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit{ExitUsage, fmt.Errorf("%w\nSee `%s --help`", err, cmd.CommandPath())}
	})
	for _, p := range config.Presets {
		root.AddCommand(newPreset(env, p))
	}
	root.AddCommand(newCall(env), newVersion(env))
	return root
}

// newLogger writes JSON lines to stderr.
func newLogger(env Env, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(env.Err, &slog.HandlerOptions{Level: level}))
}
