package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"handrail/internal/actor"
	"handrail/internal/app"
	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/tool"
)

// newCall is `handrail call`: one call through the same door as any client's.
func newCall(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "call",
		Short: "Call one tool and print its result",
		Long: `Call one tool through the same door as any MCP client, and print the result
as JSON. The arguments are one JSON object; - reads them from standard input.
The call is checked, confirmed and recorded like every other.

` + exitHelp,
		Example: `  handrail call tasks add_task '{"title":"Water the plants","due":"2026-12-01"}'
  handrail call tasks list_tasks '{"filter":{"status":"open"}}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return exit{ExitUsage, fmt.Errorf("there is no preset %q; there are: %s", args[0], strings.Join(config.PresetNames(), ", "))}
		},
	}
	for _, p := range config.Presets {
		cmd.AddCommand(newCallPreset(env, p))
	}
	return cmd
}

func newCallPreset(env Env, p config.Preset) *cobra.Command {
	cmd := &cobra.Command{
		Use:   p.Name + " TOOL [JSON | -]",
		Short: "Call a tool of the preset " + p.Name,
		Args:  cobra.RangeArgs(1, 2),
	}
	addSettings(cmd, p)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := load(env, p, given(cmd.Flags(), p))
		if err != nil {
			return err
		}
		raw := "{}"
		if len(args) == 2 {
			raw = args[1]
		}
		if raw == "-" {
			b, err := io.ReadAll(io.LimitReader(env.In, maxArguments+1))
			if err != nil {
				return exit{ExitFailed, fmt.Errorf("reading the arguments: %w", err)}
			}
			if len(b) > maxArguments {
				return exit{ExitUsage, fmt.Errorf("the arguments are longer than %d bytes", maxArguments)}
			}
			raw = string(b)
		}
		return call(cmd, env, c, args[0], raw)
	}
	return cmd
}

// maxArguments bounds arguments from standard input, like a message's length
// over MCP.
const maxArguments = 4 << 20

func call(cmd *cobra.Command, env Env, c config.Config, name, raw string) error {
	ctx := cmd.Context()
	a, err := app.Open(ctx, c, app.World{Logger: newLogger(env, max(c.LogLevel, quietLevel)), Now: env.Now})
	if err != nil {
		return exit{ExitFailed, err}
	}
	t, err := a.Tool(name)
	if err != nil {
		return exit{ExitUsage, errors.Join(errors.New(fault.Of(err).Message), a.Close())}
	}
	o := a.Door.Call(ctx, tool.Call{Who: actor.LocalUser()}, t, []byte(raw))
	if err := a.Close(); err != nil {
		return exit{ExitFailed, err}
	}
	if _, err := fmt.Fprintf(env.Out, "%s\n", o.Envelope()); err != nil {
		return exit{ExitFailed, err}
	}
	if o.Fault != nil {
		return exit{status: statusOf(o.Fault.Code)}
	}
	return nil
}

// quietLevel is for commands that a person runs: information would be noise.
const quietLevel = 4 // slog.LevelWarn

// statusOf is the exit status of a call that failed.
func statusOf(code fault.Code) int {
	switch code {
	case fault.InvalidInput, fault.TooLarge, fault.Conflict:
		return ExitRejected
	case fault.NotFound:
		return ExitNotFound
	case fault.ConfirmationRequired, fault.Declined:
		return ExitDeclined
	}
	return ExitFailed
}
