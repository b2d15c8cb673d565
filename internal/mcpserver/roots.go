package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootsPatience is how long a client may take to list its roots.
const rootsPatience = 30 * time.Second

// clientRoots has whoever needs them told the folders that the client works in:
// before its first list or call of tools, and when they change. Only a client of
// the handshake era can be asked; for others there are none to tell.
type clientRoots struct {
	// tell gets the file URIs; given is false where the client has none to tell.
	tell func(ctx context.Context, uris []string, given bool)
	may  bool // clients may be asked

	begin   sync.Once
	settled chan struct{} // closed once told
	asking  sync.Mutex    // one question after the other, so that the last answer stays
}

// settleRoots makes sure that the roots are told before a method that depends on
// them.
func (s *Server) settleRoots(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "tools/list" || method == methodCallTool {
			if session, ok := req.GetSession().(*mcp.ServerSession); ok && s.roots != nil {
				s.roots.once(session, s.logger)
				select {
				case <-s.roots.settled:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			s.refresh()
		}
		return next(ctx, method, req)
	}
}

// once asks the client for its roots unless that has begun.
func (r *clientRoots) once(session *mcp.ServerSession, log *slog.Logger) {
	r.begin.Do(func() {
		go func() {
			defer close(r.settled)
			r.ask(session, log)
		}()
	})
}

// ask tells the roots of a client.
func (r *clientRoots) ask(session *mcp.ServerSession, log *slog.Logger) {
	r.asking.Lock()
	defer r.asking.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), rootsPatience)
	defer cancel()
	p := session.InitializeParams()
	if !r.may || p == nil || p.ProtocolVersion >= modernEra || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		r.tell(ctx, nil, false)
		return
	}
	list, err := session.ListRoots(ctx, nil)
	if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) && wire.Code == jsonrpc.CodeMethodNotFound {
		r.tell(ctx, nil, false)
		return
	}
	if err != nil {
		log.Warn("the client's roots could not be listed", "event", "roots.list_failed", "error", err.Error())
		return
	}
	var uris []string
	for _, root := range list.Roots {
		uris = append(uris, root.URI)
	}
	r.tell(ctx, uris, true)
}

// Mirror sends a record of the operator's log to every client that asked for a
// log of at least that level.
func (s *Server) Mirror(ctx context.Context, level slog.Level, data any) {
	for session := range s.sdk.Sessions() {
		_ = session.Log(ctx, &mcp.LoggingMessageParams{Level: logLevel(level), Logger: "handrail", Data: data})
	}
}

func logLevel(l slog.Level) mcp.LoggingLevel {
	switch {
	case l >= slog.LevelError:
		return "error"
	case l >= slog.LevelWarn:
		return "warning"
	case l >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}
