package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// newDemo is `handrail demo`.
func newDemo(env Env) *cobra.Command {
	var keep, all bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A guided run of the real server, in a temporary folder",
		Long: `Start the real server as a child process on a database in a temporary folder,
drive it as an MCP host would, and show what happens step by step: the tools, a
refused call, a confirmed delete, the record, a forgery that is found. It needs
no network, touches nothing of yours, and fails if any step does not do what it
says.

With --all it teaches the protocol instead: every kind of message (tools,
resources, prompts, completions, progress, cancellation, subscriptions, a
question to the person), over standard streams and over HTTP on this machine, in
both eras of the protocol, each with what goes over the wire and why.`,
		Args: noWords,
	}
	cmd.Flags().BoolVar(&all, "all", false, "Show the whole protocol, message by message")
	cmd.Flags().BoolVar(&keep, "keep", false, "Leave the folder, to look at it afterwards")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return exit{ExitFailed, fmt.Errorf("the demo starts this program again, and cannot find it: %w", err)}
		}
		play := (*stage).play
		if all {
			play = (*stage).playCourse
		}
		if err := runDemo(cmd.Context(), env, self, play, keep); err != nil {
			return err
		}
		next := nextTasks
		if all {
			next = nextCourse
		}
		_, err = fmt.Fprint(env.Out, next)
		return err
	}
	return cmd
}

// runDemo plays a demo with the program self as the server.
func runDemo(ctx context.Context, env Env, self string, play func(*stage, context.Context) error, keep bool) error {
	dir, err := os.MkdirTemp("", "handrail-demo-")
	if err != nil {
		return exit{ExitFailed, err}
	}
	d := newStage(env, self, dir)
	err = play(d, ctx)
	if !keep {
		if removing := os.RemoveAll(dir); removing != nil && err == nil {
			err = removing
		}
	}
	if err != nil {
		return exit{ExitFailed, fmt.Errorf("the demo stopped at step %d: %w", d.step, err)}
	}
	d.say("\n%s", d.paint.good(fmt.Sprintf("All %d steps did what they say.", d.step)))
	if keep {
		d.say("The folder is %s: look at it with handrail audit list --db %s", d.dir, d.db)
	}
	return nil
}

// play runs every step, in order, until one fails.
func (d *stage) play(ctx context.Context) error {
	defer d.end()
	d.greet()
	for _, step := range []func(context.Context) error{
		d.offers, d.adds, d.finds, d.refusesTypo, d.refusesDelete, d.deletes, d.speaksLegacy,
		d.records, d.verifies, d.findsForgery, d.findsCut,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
