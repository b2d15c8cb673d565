package mcpserver

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askedLogs knows the sessions that asked for a log. A line that nobody asked
// for is not even made: a task may print a million of them.
type askedLogs struct {
	sessions sync.Map // of weak pointers; a session that is gone is forgotten
}

// note notes that the session of a request asked.
func (a *askedLogs) note(req mcp.Request) {
	s, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return
	}
	w := weak.Make(s)
	if _, known := a.sessions.LoadOrStore(w, true); !known {
		runtime.AddCleanup(s, func(w weak.Pointer[mcp.ServerSession]) { a.sessions.Delete(w) }, w)
	}
}

// lineLog sends lines of a log to the client of one call; nil where it asked for
// none when the call began.
func (a *askedLogs) lineLog(req *mcp.CallToolRequest) func(context.Context, string, any) {
	_, byRequest := req.Params.Meta[mcp.MetaKeyLogLevel]
	_, bySession := a.sessions.Load(weak.Make(req.Session))
	if !byRequest && !bySession {
		return nil
	}
	return func(ctx context.Context, logger string, data any) {
		_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: logger, Data: data})
	}
}
