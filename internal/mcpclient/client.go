// Package mcpclient is the client side of the MCP SDK: it starts a server as a
// child process, speaks with it over its standard streams, and shows what was
// said. It knows no tool and judges no answer: whoever drives it does.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The protocol versions to ask for: one of each era.
const (
	// Modern has no handshake: every request stands alone.
	Modern = "2026-07-28"
	// Legacy begins with initialize.
	Legacy = "2025-11-25"
)

// Server is a program to start.
type Server struct {
	// Path and Args are the program and its arguments, without its name.
	Path string
	Args []string
	// Dir is its working directory; empty means ours.
	Dir string
	// Without names environment variables that it does not inherit from us.
	Without []string
	// Stderr takes its log; nil drops it.
	Stderr io.Writer
}

// Session is one server that runs, and what it and its client say.
type Session struct {
	sdk *mcp.ClientSession
}

// patience is how long a server may take to end once its input is closed.
const patience = 5 * time.Second

// Start starts the server and connects to it, asking for this protocol version
// (Modern or Legacy). The name is what the server hears of its client. The
// server ends when ctx does, or with Close.
func Start(ctx context.Context, s Server, name, version string) (*Session, error) {
	cmd := exec.CommandContext(ctx, s.Path, s.Args...)
	cmd.Dir, cmd.Stderr = s.Dir, s.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(s.Without, name)
	})
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: patience},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", s.Path, err)
	}
	return &Session{session}, nil
}

// Protocol is the protocol version that both sides agreed on.
func (s *Session) Protocol() string { return s.sdk.InitializeResult().ProtocolVersion }

// Name is what the server calls itself.
func (s *Session) Name() string {
	if info := s.sdk.InitializeResult().ServerInfo; info != nil {
		return info.Name
	}
	return ""
}

// Tool is a tool as the server offers it.
type Tool struct {
	Name, Title, Description string
	// ReadOnly and Destructive are the server's hints.
	ReadOnly, Destructive bool
}

// Tools are all tools that the server offers, in its order.
func (s *Session) Tools(ctx context.Context) ([]Tool, error) {
	var all []Tool
	for t, err := range s.sdk.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		tool := Tool{Name: t.Name, Title: t.Title, Description: t.Description}
		if a := t.Annotations; a != nil {
			tool.ReadOnly = a.ReadOnlyHint
			tool.Destructive = a.DestructiveHint != nil && *a.DestructiveHint
		}
		all = append(all, tool)
	}
	return all, nil
}

// Answer is what came of a call.
type Answer struct {
	// Failed is the protocol's isError.
	Failed bool
	// Content is the structured content, JSON.
	Content json.RawMessage
	// Text is the first text block, for clients that read only text.
	Text string
}

// Call calls a tool with these arguments, a JSON object. The error is one of
// the protocol; a refusal by the tool is an Answer.
func (s *Session) Call(ctx context.Context, tool string, args json.RawMessage) (Answer, error) {
	res, err := s.sdk.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Failed: res.IsError}
	if res.StructuredContent != nil {
		if a.Content, err = json.Marshal(res.StructuredContent); err != nil {
			return Answer{}, err
		}
	}
	for _, block := range res.Content {
		if text, ok := block.(*mcp.TextContent); ok {
			a.Text = text.Text
			break
		}
	}
	return a, nil
}

// Close closes the server's input and waits until it has ended.
func (s *Session) Close() error {
	if err := s.sdk.Close(); err != nil && !errors.Is(err, mcp.ErrConnectionClosed) {
		return fmt.Errorf("ending the server: %w", err)
	}
	return nil
}
