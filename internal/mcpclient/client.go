// Package mcpclient is the client side of the MCP SDK: it starts a server as a
// child process, speaks with it over its standard streams or over HTTP, and
// shows what was said, message by message. It knows no tool and judges no
// answer: whoever drives it does.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// Client is who connects, and what it can do.
type Client struct {
	// Name is what the server hears of it.
	Name string
	// Version is the protocol version that it asks for: Modern or Legacy.
	Version string
	// Tap, if set, is told of every message in the order in which it is sent or
	// arrives, before anybody acts on it. Several goroutines may call it at once.
	Tap func(Message)
	// Person, if set, answers the questions that the server has for a person; the
	// client then declares that it can ask one.
	Person func(Question) Reply
	// Announced asks for announcements of a changed list of resources.
	Announced bool
}

// Question is what a server wants to ask a person.
type Question struct {
	// Text is shown to the person; Form is the JSON schema of what to fill in.
	Text string
	Form json.RawMessage
}

// Reply is what a person did with a question.
type Reply struct {
	// Action is accept, decline or cancel.
	Action string
	// Content is what was filled in, with accept.
	Content map[string]any
}

// Session is a client that is connected to a server.
type Session struct {
	sdk *mcp.ClientSession
	// idle closes connections that nobody uses: a server that is to stop waits
	// five seconds for one that never sent a request.
	idle func()
}

// patience is how long a server may take to end once its input is closed.
const patience = 5 * time.Second

// Start starts the server and connects to it over its standard streams. The
// server ends when ctx does, or with Close.
func Start(ctx context.Context, s Server, c Client) (*Session, error) {
	cmd := s.command(ctx)
	cmd.Stderr = s.Stderr
	session, err := c.connect(ctx, tapped{&mcp.CommandTransport{Command: cmd, TerminateDuration: patience}, c.Tap})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", s.Path, err)
	}
	return session, nil
}

// Dial connects to a server that listens at this URL, with a bearer token.
func Dial(ctx context.Context, url, token string, c Client) (*Session, error) {
	pool := http.DefaultTransport.(*http.Transport).Clone()
	session, err := c.connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: &tripper{next: pool, token: token, tap: c.Tap}},
	})
	if err != nil {
		pool.CloseIdleConnections()
		return nil, fmt.Errorf("connecting to %s: %w", url, err)
	}
	session.idle = pool.CloseIdleConnections
	return session, nil
}

func (c Client) connect(ctx context.Context, t mcp.Transport) (*Session, error) {
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if c.Person != nil {
		o.ElicitationHandler = c.elicit
	}
	if c.Announced {
		o.ResourceListChangedHandler = func(context.Context, *mcp.ResourceListChangedRequest) {}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: c.Name, Version: "1"}, o)
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: c.Version})
	if err != nil {
		return nil, err
	}
	return &Session{sdk: session}, nil
}

func (c Client) elicit(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	form, err := json.Marshal(r.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	reply := c.Person(Question{Text: r.Params.Message, Form: form})
	return &mcp.ElicitResult{Action: reply.Action, Content: reply.Content}, nil
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

// Close ends the connection. A server that Start started ends too: its input is
// closed, and Close waits until it has ended.
func (s *Session) Close() error {
	if s.idle != nil {
		defer s.idle()
	}
	if err := s.sdk.Close(); err != nil && !errors.Is(err, mcp.ErrConnectionClosed) {
		return fmt.Errorf("ending the session: %w", err)
	}
	return nil
}
