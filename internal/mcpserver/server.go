// Package mcpserver is the server side of the MCP SDK: it binds toolsets to
// the protocol, in both of its eras, and owns what stands between a stream and
// a tool. It decides nothing about tools: every call goes through tool.Door.
package mcpserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/actor"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// Options make a Server. Door and Sets are required.
type Options struct {
	// Name, Title and Version are what clients see.
	Name, Title, Version string
	// Door is the way in for every call.
	Door *tool.Door
	// Sets are what is served, in order.
	Sets []toolset.Set
	// Seal makes the request states of questions; without one no client is asked.
	Seal *Seal
	// Watch announces changes from the moment it returns until stop is called; nil
	// where nothing changes by itself. With WatchOnDemand it is called when a
	// client first subscribes to resources, because watching costs something.
	Watch         func(announce func(Notice)) (stop func(), err error)
	WatchOnDemand bool
	// Roots is told the folders that the client works in, as file URIs, before its
	// first list or call of tools and when they change; given is false where the
	// client has none to tell. For stdio only; nil where nobody needs them.
	Roots func(ctx context.Context, uris []string, given bool)
	// AskRoots has a client that can be asked tell its roots; without it there are
	// none to tell.
	AskRoots bool
	// Extend registers with the SDK what toolsets cannot say; only the fixtures of
	// the conformance suite need it.
	Extend func(*mcp.Server)
	// Drain bounds how long calls may still run once input has ended;
	// DrainTimeout by default.
	Drain time.Duration
	// Logger is for the operator; nothing is logged by default.
	Logger *slog.Logger
}

// Server serves toolsets to the clients of one user.
type Server struct {
	who      actor.Actor
	door     *tool.Door
	sets     []toolset.Set
	tools    map[string]tool.Tool
	sdk      *mcp.Server
	announce subscribable
	infoJSON []byte
	// plainCalls says that plain calls go past the SDK: see direct.
	plainCalls bool
	wentDirect atomic.Int64
	asked      askedLogs
	feed       Feed
	seal       *Seal
	watch      watching
	living     living
	roots      *clientRoots // nil where nobody needs them
	drain      time.Duration
	logger     *slog.Logger
}

// New makes the server of one user. It fails where two sets have a tool of the
// same name.
func New(who actor.Actor, o Options) (*Server, error) {
	all, err := toolset.Tools(o.Sets)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Drain == 0 {
		o.Drain = DrainTimeout
	}
	s := &Server{who: who, door: o.Door, sets: o.Sets, tools: map[string]tool.Tool{}, seal: o.Seal, drain: o.Drain, logger: o.Logger}
	s.watch = watching{begin: o.Watch, late: o.WatchOnDemand}
	info := &mcp.Implementation{Name: o.Name, Title: o.Title, Version: o.Version}
	caps := s.capabilities()
	s.announce = subscribable{
		tools:     caps.Tools.ListChanged,
		prompts:   caps.Prompts.ListChanged,
		resources: caps.Resources != nil && caps.Resources.ListChanged,
		updates:   caps.Resources != nil && caps.Resources.Subscribe,
		info:      info,
	}
	for _, v := range mcp.SupportedProtocolVersions() {
		if v >= modernEra {
			s.announce.versions = append(s.announce.versions, v)
		}
	}
	options := &mcp.ServerOptions{
		Instructions: s.instructions(),
		Logger:       slog.New(quiet{o.Logger.Handler()}),
		Capabilities: caps,
		SetCacheable: s.cacheable,
	}
	if completes(o.Sets) {
		options.CompletionHandler = s.complete
	}
	if s.announce.updates {
		options.SubscribeHandler = func(_ context.Context, req *mcp.SubscribeRequest) error {
			s.watch.subscribed(req.Params.URI, 1)
			return nil
		}
		options.UnsubscribeHandler = func(_ context.Context, req *mcp.UnsubscribeRequest) error {
			s.watch.subscribed(req.Params.URI, -1)
			return nil
		}
	}
	if o.Roots != nil {
		s.roots = &clientRoots{tell: o.Roots, may: o.AskRoots, settled: make(chan struct{})}
		options.InitializedHandler = func(_ context.Context, req *mcp.InitializedRequest) {
			s.roots.once(req.Session, o.Logger)
		}
		options.RootsListChangedHandler = func(_ context.Context, req *mcp.RootsListChangedRequest) {
			if o.AskRoots {
				go s.roots.ask(req.Session, o.Logger)
			}
		}
	}
	s.sdk = mcp.NewServer(info, options)
	// What is added here for tools/call does not see a direct call: see direct.
	s.sdk.AddReceivingMiddleware(s.survive)
	for _, t := range all {
		s.tools[t.Spec.Name] = t
		s.sdk.AddTool(s.describe(t), s.handle(t))
	}
	s.addFeatures()
	if slices.ContainsFunc(o.Sets, func(set toolset.Set) bool { return set.Live != nil }) {
		s.living.any = true
		s.sdk.AddReceivingMiddleware(s.settleRoots)
		s.refresh()
	}
	if o.Extend != nil {
		o.Extend(s.sdk)
	}
	s.infoJSON, s.plainCalls = infoJSON(info), s.takesPlainCalls(o)
	return s, nil
}

// Announce tells every client of this user that something changed.
func (s *Server) Announce(n Notice) {
	if n.Kind == ToolsChanged && s.living.any {
		s.refresh() // which announces what it changes
		return
	}
	s.feed.Announce(n)
}

// RunStdio serves one client over a pair of streams until input ends and every
// request has its reply, or the other side stops reading. When ctx is done it
// reads no more, lets what runs finish within StopTimeout, and returns nil too.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	transport := &stdio{
		in: in, out: out, kind: s.kind, feed: &s.feed, subscribe: s.announce, demand: s.watchNow,
		drain: s.drain, logger: s.logger, stop: ctx.Done(), server: s,
	}
	defer transport.directs.Wait()
	defer s.startWatch()()
	// The session outlives ctx, which would cut replies off that are on their way.
	session, err := s.sdk.Connect(context.WithoutCancel(ctx), transport, nil)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	return session.Wait()
}

// kind says how calls of a tool stand to those before and after them.
func (s *Server) kind(name string) callKind {
	t, known := s.tools[name]
	switch {
	case !known && s.living.any:
		return long // a tool that comes and goes, and runs a program
	case known && !t.Quick(), known && t.Spec.Effect == tool.Destroy && s.door.Policy() != tool.Argument:
		return long // a person may take minutes to answer
	case known && t.Spec.Effect != tool.Read:
		return change
	}
	return short
}

// capabilities are declared in full: what the SDK infers is missing where a
// list is empty at first, and a client then never asks again. Prompts are
// declared also where there are none: the SDK answers their methods all the
// same, and what is answered must be declared.
func (s *Server) capabilities() *mcp.ServerCapabilities {
	caps := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}}
	for _, set := range s.sets {
		caps.Tools.ListChanged = caps.Tools.ListChanged || set.ToolsChange
		if set.Logs {
			caps.Logging = &mcp.LoggingCapabilities{}
		}
		caps.Prompts.ListChanged = caps.Prompts.ListChanged || set.PromptsChange
		if len(set.Resources) > 0 || set.Listed != nil {
			if caps.Resources == nil {
				caps.Resources = &mcp.ResourceCapabilities{}
			}
			caps.Resources.ListChanged = caps.Resources.ListChanged || set.ResourcesChange
			caps.Resources.Subscribe = caps.Resources.Subscribe || set.ResourcesChange
		}
	}
	if completes(s.sets) {
		caps.Completions = &mcp.CompletionCapabilities{}
	}
	return caps
}

func (s *Server) instructions() string {
	var parts []string
	for _, set := range s.sets {
		if set.Instructions != "" {
			parts = append(parts, set.Instructions)
		}
	}
	return strings.Join(parts, "\n\n")
}

// listTTL is how long a client may keep a list that cannot change while the
// server runs.
const listTTL = 5 * time.Minute

// cacheable says honestly how long what we send stays true and for whom.
func (s *Server) cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	c.CacheScope = "private"
	switch req.GetParams().(type) {
	case *mcp.ListToolsParams:
		if !s.announce.tools {
			c.TTLMs = int(listTTL.Milliseconds())
		}
	case *mcp.ListPromptsParams, *mcp.ListResourceTemplatesParams, *mcp.DiscoverParams:
		c.TTLMs = int(listTTL.Milliseconds())
	}
}

// quiet passes the SDK's log on one level lower: what it calls information is
// of interest only to somebody who debugs.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool { return q.Handler.Enabled(ctx, l-4) }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level -= 4
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }
func (q quiet) WithGroup(name string) slog.Handler   { return quiet{q.Handler.WithGroup(name)} }
