package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/internal/actor"
	"handrail/internal/app"
	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/tool"
)

// defaultPreset is what a command means that names none.
const defaultPreset = "tasks"

// newCall is `handrail call`: one call through the same door as any client's.
func newCall(env Env) *cobra.Command {
	p, _ := config.FindPreset(defaultPreset)
	cmd := newCallPreset(env, p)
	cmd.Use = "call [PRESET] TOOL [JSON | -]"
	cmd.Short = "Call one tool and print its result"
	cmd.Long = `Call one tool through the same door as any MCP client, and print the result
as JSON. The arguments are one JSON object; - reads them from standard input.
The call is checked, confirmed and recorded like every other; where a person
must be asked, you are, at a terminal. What a task of a Taskfile prints goes to
standard error.

The preset is ` + defaultPreset + ` where none is named. See the tools: handrail tools`
	cmd.Example = `  handrail call add_task '{"title":"Water the plants","due":"2027-03-01"}'
  handrail call list_tasks '{"filter":{"status":"open"}}'
  echo '{"query":"plants"}' | handrail call tasks search_tasks -`
	for _, p := range config.Presets {
		cmd.AddCommand(newCallPreset(env, p))
	}
	return cmd
}

func newCallPreset(env Env, p config.Preset) *cobra.Command {
	p = withoutHTTP(p)
	cmd := &cobra.Command{
		Use:               p.Name + " TOOL [JSON | -]",
		Short:             "Call a tool of the preset " + p.Name,
		Annotations:       map[string]string{presetNote: p.Name, localNote: "yes"},
		ValidArgsFunction: completeTool(p),
		Args: func(cmd *cobra.Command, words []string) error {
			return checkCall(cmd, p, words)
		},
	}
	addSettings(cmd, p)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		c, err := load(cmd, env, p)
		if err != nil {
			return err
		}
		raw := "{}"
		if len(words) == 2 {
			raw = words[1]
		}
		if raw == "-" {
			if raw, err = readArguments(env.In); err != nil {
				return err
			}
		}
		return call(cmd, env, c, words[0], raw)
	}
	return cmd
}

// withoutHTTP is a preset without the settings that only a server has: a call
// from the command line opens no port and hands out no sealed state.
func withoutHTTP(p config.Preset) config.Preset {
	p.Settings = slices.DeleteFunc(slices.Clone(p.Settings), func(s config.Setting) bool {
		o, _ := config.Find(s.Option)
		return o.OnlyHTTP || o.Secret || s.Option == "http"
	})
	return p
}

// checkCall refuses what cannot be a call before any file is touched.
func checkCall(cmd *cobra.Command, p config.Preset, words []string) error {
	offer, err := everything(p)
	if err != nil {
		return err
	}
	names := toolNames(offer)
	switch {
	case len(words) == 0:
		return fmt.Errorf("which tool? There are %s", plural(names))
	case !contains(names, words[0]) && cmd.HasSubCommands():
		return fmt.Errorf("%q is no preset and no tool%s; the presets are %s; the tools of %s are %s", words[0],
			meant(words[0], append(config.PresetNames(), names...), ""), plural(config.PresetNames()), p.Name, plural(names))
	case !contains(names, words[0]) && !offer.Live():
		return fmt.Errorf("%s has no tool %q%s; there are %s", p.Name, words[0], meant(words[0], names, ""), plural(names))
	case len(words) > 2:
		return fmt.Errorf("the arguments are one JSON object, and there is one word more: %q; put quotes around the object", words[2])
	}
	return nil
}

func toolNames(o app.Offer) []string {
	var names []string
	for _, t := range o.Tools() {
		names = append(names, t.Spec.Name)
	}
	return names
}

// maxArguments bounds arguments from standard input, in bytes, like a message's
// length over MCP.
const maxArguments = 4 << 20

func readArguments(in io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxArguments+1))
	switch {
	case err != nil:
		return "", exit{ExitFailed, fmt.Errorf("reading the arguments: %w", err)}
	case len(b) > maxArguments:
		return "", exit{ExitUsage, fmt.Errorf("the arguments are longer than %d bytes", maxArguments)}
	}
	return string(b), nil
}

func call(cmd *cobra.Command, env Env, c config.Config, name, raw string) error {
	ctx := cmd.Context()
	offer, err := app.Describe(c)
	if err != nil {
		return exit{ExitFailed, err}
	}
	if !contains(toolNames(offer), name) && (c.ReadOnly || !offer.Live()) {
		if c.ReadOnly {
			return exit{ExitUsage, fmt.Errorf("read-only leaves out %s", name)}
		}
		return exit{ExitUsage, fmt.Errorf("%s is off; switch it on with --allow-write %s", name, name)}
	}
	a, err := app.Open(ctx, c, app.World{Logger: newLogger(env, max(c.LogLevel, slog.LevelWarn)), Now: env.Now, Environ: env.Environ, Self: env.Self})
	if err != nil {
		return exit{ExitFailed, failure(err)}
	}
	t, err := a.Tool(name)
	if err != nil {
		status := ExitUsage
		if fault.CodeOf(err) == fault.Unavailable {
			status = ExitFailed
		}
		return exit{status, errors.Join(failure(err), a.Close())}
	}
	person := newTerminal(env)
	o := callDoor(ctx, a.Door, t, raw, person)
	if err := a.Close(); err != nil {
		return exit{ExitFailed, err}
	}
	// What a run printed is not in the envelope, and its logs end with this
	// process. stdout stays one JSON object.
	for _, b := range o.Blocks {
		if b.Meta["stream"] != nil {
			fmt.Fprintln(env.Err, strings.TrimSuffix(visibleOutput(b.Text), "\n"))
		}
	}
	if _, err := fmt.Fprintf(env.Out, "%s\n", visibleJSON(o.Envelope())); err != nil {
		return exit{ExitFailed, err}
	}
	if o.Fault == nil {
		return nil
	}
	e := exit{status: statusOf(o.Fault.Code)}
	if !json.Valid([]byte(raw)) {
		e.err = errors.New(`the arguments are one JSON object, in quotes for the shell: '{"name":"value"}'`)
	}
	if o.Fault.Code == fault.ConfirmationRequired && person == nil {
		switch tool.Policy(c.Confirm) {
		case tool.Ask:
			e.err = errors.New("nobody can be asked here: run this at a terminal, or put --confirm argument before the tool and \"confirm\":true into the object")
		case tool.Auto:
			if t.Spec.Effect == tool.Run {
				e.err = errors.New("nobody can be asked here: run this at a terminal")
			}
		}
	}
	return e
}

// callDoor calls a tool as the local user. Where a person must be asked, and
// there is one, it asks and calls again with the answer.
func callDoor(ctx context.Context, door *tool.Door, t tool.Tool, raw string, person *terminal) tool.Outcome {
	c := tool.Call{Who: actor.LocalUser()}
	if person != nil {
		c.Asker = person
	}
	o := door.Call(ctx, c, t, []byte(raw))
	if o.Question == nil {
		return o
	}
	person.put(ctx, o.Question)
	return door.Call(ctx, c, t, []byte(raw))
}

// failure is what a person is told of an error: a fault's sentence without its
// code and cause.
func failure(err error) error {
	if f := fault.Of(err); f != nil && f.Message != "" {
		return errors.New(f.Message)
	}
	return err
}

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
