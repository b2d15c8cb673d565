package main

// This file is the same in every lesson, so that each folder stands alone. It
// has nothing to teach about servers: it joins a client to the lesson's server
// inside this process, so that -demo needs no other program.

import (
	"context"
	"flag"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	demoFlag   = flag.Bool("demo", false, "drive the server with a client of its own, and say what happens")
	wireFlag   = flag.Bool("wire", false, "with -demo: show every message as the client sends (→) and receives (←) it")
	legacyFlag = flag.Bool("legacy", false, "with -demo: speak the older era of the protocol, which begins with a handshake")
	zhFlag     = flag.Bool("zh", false, "with -demo: say what happens in Chinese, 用中文说明")
)

// connect runs the server in this process and returns a client's session with
// it. The pair of transports stands for the two pipes of a real host. The
// middleware sees what the client receives.
func connect(ctx context.Context, server *mcp.Server, options *mcp.ClientOptions, middleware ...mcp.Middleware) (*mcp.ClientSession, error) {
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, theirs, nil); err != nil {
		return nil, err
	}
	var transport mcp.Transport = ours
	if *wireFlag {
		transport = tap{ours}
	}
	version := "2026-07-28" // no handshake: every request says what it needs to
	if *legacyFlag {
		version = "2025-11-25" // the last version that begins with initialize
	}
	if options == nil {
		options = &mcp.ClientOptions{}
	}
	// Left nil, the SDK would promise "roots" for us, for historical reasons.
	options.Capabilities = &mcp.ClientCapabilities{}
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, options)
	client.AddReceivingMiddleware(middleware...)
	return client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
}

// tap shows what passes through a transport.
type tap struct{ mcp.Transport }

func (t tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return tapped{c}, err
}

type tapped struct{ mcp.Connection }

func (t tapped) Write(ctx context.Context, m jsonrpc.Message) error {
	show("→", m)
	return t.Connection.Write(ctx, m)
}

func (t tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := t.Connection.Read(ctx)
	if err == nil {
		show("←", m)
	}
	return m, err
}

func show(arrow string, m jsonrpc.Message) {
	if b, err := jsonrpc.EncodeMessage(m); err == nil {
		fmt.Printf("      %s %s\n", arrow, b)
	}
}

// words are what a demo says, in the language that was asked for: chinese.go has
// the other one. What the server answers is not translated.
func words(english string) string {
	if c, ok := chinese[english]; ok && *zhFlag {
		return c
	}
	return english
}

// step prints the heading of a step; say prints what came of it; fail is what
// went wrong.
func step(format string) { fmt.Printf("\n%s\n", words(format)) }

func say(format string, args ...any) { fmt.Printf("   "+words(format)+"\n", args...) }

func fail(format string, args ...any) error { return fmt.Errorf(words(format), args...) }
