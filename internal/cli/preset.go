package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"handrail/internal/app"
	"handrail/internal/config"
)

// newPreset is the command that serves one preset.
func newPreset(env Env, p config.Preset) *cobra.Command {
	cmd := &cobra.Command{
		Use:   p.Name,
		Short: p.Doc,
		Long: fmt.Sprintf(`%s

An MCP host starts this command and speaks the protocol with it over its
standard input and output; logs go to standard error. It can stand in for
%s. With --http it listens instead, for several users.`, strings.Join(wrap(p.Doc, helpWidth), "\n"), p.Replaces),
		Args:        noWords,
		Annotations: map[string]string{presetNote: p.Name},
	}
	addSettings(cmd, p)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return serve(cmd.Context(), env, p, given(cmd.Flags(), p))
	}
	return cmd
}

// addSettings makes the flags of a preset from the table of options.
func addSettings(cmd *cobra.Command, p config.Preset) {
	for _, s := range p.Settings {
		o := s.About()
		if o.Secret {
			continue // never on a command line, where every other process can read it
		}
		f := &textFlag{value: s.Default, kind: o.Value, join: s.Join}
		flag := cmd.Flags().VarPF(f, o.Name, "", o.Doc)
		switch o.Kind {
		case config.Bool:
			f.kind, flag.NoOptDefVal = "bool", "true"
		case config.Choice:
			must(cmd.RegisterFlagCompletionFunc(o.Name, completeOneOf(o.Choices)))
		case config.Tools:
			must(cmd.RegisterFlagCompletionFunc(o.Name, completeOneOf(p.Writes)))
		case config.Text, config.Number, config.Names:
			must(cmd.RegisterFlagCompletionFunc(o.Name, cobra.NoFileCompletions))
		}
	}
}

// textFlag is a flag whose value the table of options judges, together with
// all others.
type textFlag struct {
	value, kind string
	join        string // ends each of several values; empty where the last one counts
	set         bool
}

func (f *textFlag) String() string { return f.value }
func (f *textFlag) Type() string   { return f.kind }

func (f *textFlag) Set(v string) error {
	if f.join == "" {
		f.value = v
		return nil
	}
	if !f.set {
		f.value, f.set = "", true
	}
	f.value += v + f.join
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// given are the settings that stand on the command line.
func given(flags *pflag.FlagSet, p config.Preset) map[string]string {
	values := map[string]string{}
	for _, s := range p.Settings {
		if f := flags.Lookup(s.Option); f != nil && f.Changed {
			values[s.Option] = f.Value.String()
		}
	}
	return values
}

// load makes the settings, or a usage error with every problem.
func load(cmd *cobra.Command, env Env, p config.Preset) (config.Config, error) {
	c, err := config.Load(p, given(cmd.Flags(), p), env.Getenv)
	return c, usage(cmd, split(err))
}

// serve runs a preset over stdio until its client is done.
func serve(ctx context.Context, env Env, p config.Preset, flags map[string]string) error {
	c, err := config.Load(p, flags, env.Getenv)
	if err != nil {
		return exit{ExitUsage, err}
	}
	tuneMemory(env.Getenv)
	logger := newLogger(env, c.LogLevel)
	logger.LogAttrs(ctx, slog.LevelInfo, "settings", append([]slog.Attr{
		slog.String("preset", p.Name), slog.String(eventKey, "server.settings"),
	}, config.Effective(p, c)...)...)
	a, err := app.Open(ctx, c, app.World{Logger: logger, Now: env.Now, Environ: env.Environ, Self: env.Self})
	if err != nil {
		return exit{ExitFailed, failure(err)}
	}
	if c.HTTP {
		err = a.ServeHTTP(ctx, c)
	} else {
		in := &heard{from: env.In}
		err = a.ServeStdio(ctx, in, env.Out)
		if broken := in.failed(); err == nil && broken != nil && ctx.Err() == nil {
			err = fmt.Errorf("the input broke off: %w", broken)
		}
	}
	if err := errors.Join(err, a.Close()); err != nil {
		return exit{ExitFailed, err}
	}
	return nil
}

// heard remembers that reading failed: a client that is done closes its end, and
// anything else is no way to end.
type heard struct {
	from io.Reader
	mu   sync.Mutex
	err  error
}

// Read implements io.Reader.
func (h *heard) Read(b []byte) (int, error) {
	n, err := h.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.err = err
	}
	return n, err
}

func (h *heard) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}
