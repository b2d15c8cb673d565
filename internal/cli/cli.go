// Package cli is the command line: one file for each command. It turns words
// into settings and outcomes into exit statuses, and decides nothing else.
package cli

//go:generate go test -count=1 -run=TestGenerated . -update

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
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
	// Environ is the whole environment, NAME=value, for the commands that tasks run.
	Environ []string
	// Self is the path of this program, beside which its runner lies.
	Self string
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

// exit is an error with its exit status; without an error everything has been
// said already.
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
	out := &printed{to: env.Out}
	env.Out = out
	root := newRoot(env)
	root.SetArgs(args)
	err := checkWords(root, args, env)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if failed := out.failed(); failed != nil && (err == nil || errors.Is(err, failed)) {
		err = exit{ExitFailed, failed}
	}
	return report(env, err)
}

// printed remembers that something could not be printed: what nobody can have
// read was not done, whichever command forgot to look.
type printed struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err = cmp.Or(p.err, err)
	}
	return n, err
}

func (p *printed) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// report says what went wrong and returns the exit status.
func report(env Env, err error) int {
	var e exit
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e) && e.err == nil:
		return e.status
	case errors.Is(err, syscall.EPIPE):
		return ExitFailed // whoever read our output, such as head, has enough
	case errors.As(err, &e):
		err = e.err
	default:
		e.status = ExitUsage
	}
	fmt.Fprintf(env.Err, "handrail: %s\n", visibleLines(err.Error()))
	return e.status
}

// The groups of the help.
const (
	groupServe   = "serve"
	groupTry     = "try"
	groupInspect = "inspect"
)

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "handrail",
		Short: "Tasks, notes and a project's own commands for AI agents, over MCP",
		Long: `Handrail gives an AI agent a task list, a folder of Markdown notes, or the
commands of a project over the Model Context Protocol (MCP). It checks every
argument, deletes nothing without an explicit confirmation, and keeps every call
on a record that cannot be quietly rewritten.

Begin with: handrail demo`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noWords,
	}
	version := root.Flags().Bool("version", false, "Print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return printVersion(env)
		}
		return cmd.Help()
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(cmd, []error{err})
	})
	root.AddGroup(
		&cobra.Group{ID: groupServe, Title: "Serve an agent (an MCP host starts these):"},
		&cobra.Group{ID: groupTry, Title: "Try it yourself:"},
		&cobra.Group{ID: groupInspect, Title: "Look behind it:"},
	)
	for _, p := range config.Presets {
		addTo(root, groupServe, newPreset(env, p))
	}
	addTo(root, groupTry, newDemo(env), newCall(env), newTools(env))
	shapeHelpLater(root)
	addTo(root, groupInspect, newAudit(env), newVersion(env))
	root.SetHelpCommandGroupID(groupInspect)
	root.SetCompletionCommandGroupID(groupInspect)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	return root
}

func addTo(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
