package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/mcpserver"
	"handrail/internal/tool"
)

// openSeal makes the seal of confirmations, where any may be asked for.
func (a *App) openSeal(c config.Config) error {
	if tool.Policy(c.Confirm) == tool.Argument {
		return nil
	}
	var previous []string
	if c.PreviousSecret != "" {
		previous = append(previous, c.PreviousSecret)
	}
	a.random = c.StateSecret == ""
	seal, err := mcpserver.NewSeal(c.StateSecret, previous, a.world.Now)
	a.seal = seal
	return err
}

// warnOfSeal tells the operator, when we begin to serve, what a random key
// means.
func (a *App) warnOfSeal() {
	if a.random {
		a.world.Logger.Warn("REQUEST_STATE_SECRET is not set, so a random one is used: confirmations that are open when the server restarts must be asked for again, and several servers cannot share them")
	}
}

// makeFolder makes the folder of a database whose place was chosen for the
// person: the default of a preset. A folder that a person named must be there.
func makeFolder(c config.Config) error {
	p, known := config.FindPreset(c.Preset)
	if !known || !p.MakesFolders {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.DB), 0o700); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the folder of the database %q cannot be made: %v", c.DB, reason(err))
	}
	return nil
}

// HTTP makes the HTTP side. The error lists everything that makes these
// settings unsafe.
func (a *App) HTTP(c config.Config) (*mcpserver.HTTP, error) {
	tokens, err := mcpserver.NewTokens(c.Tokens)
	h, err2 := mcpserver.NewHTTP(mcpserver.HTTPOptions{
		Tokens: tokens, NewServer: a.server, Listen: c.Listen,
		Hosts: c.AllowedHosts, Origins: c.AllowedOrigins, Rate: c.Rate, Burst: 2 * c.Rate,
		Ready: a.ready, Now: a.world.Now, Logger: a.world.Logger,
	})
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return h, nil
}

// ServeHTTP serves every user over HTTP until ctx is done.
func (a *App) ServeHTTP(ctx context.Context, c config.Config) error {
	h, err := a.HTTP(c)
	if err != nil {
		return err
	}
	a.warnOfSeal()
	if a.project != nil {
		a.project.begin(ctx) // a client's own folders are on another machine
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Listen, errors.Unwrap(err))
	}
	if c.Root != "" || a.project != nil {
		a.world.Logger.Warn("everybody who has a token shares the same folders")
	}
	a.world.Logger.Info("listening", "url", "http://"+l.Addr().String()+"/mcp", "users", len(c.Tokens), "event", "http.listening")
	return h.Serve(ctx, l)
}
