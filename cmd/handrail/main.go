// Command handrail gives an AI agent tasks, notes and a project's own commands
// over the Model Context Protocol. See `handrail --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"handrail/internal/cli"
)

func main() {
	// stdout belongs to the protocol: whoever prints by mistake prints to stderr.
	out := os.Stdout
	os.Stdout = os.Stderr
	// A client that is gone must not kill us before the record is committed.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	self, _ := os.Executable()   // without it, the runner is looked for on PATH
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Env{
		In: os.Stdin, Out: out, Err: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Self: self, Now: time.Now,
	}))
}
