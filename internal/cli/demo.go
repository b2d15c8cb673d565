package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// newDemo is `handrail demo`.
func newDemo(env Env) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A guided run of the real server, in a temporary folder",
		Long: `Start the real server as a child process on a database in a temporary folder,
drive it as an MCP host would, and show what happens step by step: the tools, a
refused call, a confirmed delete, the record, a forgery that is found. It needs
no network, touches nothing of yours, and fails if any step does not do what it
says.`,
		Args: noWords,
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "Leave the folder, to look at it afterwards")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		self, err := os.Executable()
		if err != nil {
			return exit{ExitFailed, fmt.Errorf("the demo starts this program again, and cannot find it: %w", err)}
		}
		return runDemo(cmd.Context(), env, self, keep)
	}
	return cmd
}

// runDemo plays the demo with the program self as the server.
func runDemo(ctx context.Context, env Env, self string, keep bool) error {
	dir, err := os.MkdirTemp("", "handrail-demo-")
	if err != nil {
		return exit{ExitFailed, err}
	}
	d := newStage(env, self, dir)
	err = d.play(ctx)
	if !keep {
		if removing := os.RemoveAll(dir); removing != nil && err == nil {
			err = removing
		}
	}
	if err != nil {
		return exit{ExitFailed, fmt.Errorf("the demo stopped at step %d: %w", d.step, err)}
	}
	d.farewell(keep)
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
