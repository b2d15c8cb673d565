package mcpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/tool"
)

// describe is a tool as clients see it.
func (s *Server) describe(t tool.Tool) *mcp.Tool {
	a := t.Annotations()
	return &mcp.Tool{
		Name:         t.Spec.Name,
		Title:        t.Spec.Title,
		Description:  t.Doc(s.door.Policy()),
		InputSchema:  t.InputSchema(s.door.Policy()),
		OutputSchema: t.OutputSchema(),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.Spec.Title,
			ReadOnlyHint:    a.ReadOnly,
			DestructiveHint: &a.Destructive,
			IdempotentHint:  a.Idempotent,
			OpenWorldHint:   &a.OpenWorld,
		},
	}
}

// handle takes a call to the door and its outcome back.
func (s *Server) handle(t tool.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call := tool.Call{Who: s.who, Progress: progress(req)}
		return s.result(s.door.Call(ctx, call, t, req.Params.Arguments)), nil
	}
}

// result is an outcome on the wire: the envelope as structured content, and
// the same JSON as text for clients that read only text.
func (s *Server) result(o tool.Outcome) *mcp.CallToolResult {
	envelope := o.Envelope()
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(envelope)}},
		StructuredContent: envelope,
		IsError:           !o.OK(),
	}
}

// progress sends progress to a client that asked for it.
func progress(req *mcp.CallToolRequest) func(context.Context, float64, float64, string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(ctx context.Context, done, total float64, message string) {
		// A notice that cannot be sent is no reason to stop the work: the reply
		// that follows meets the same stream.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: done, Total: total, Message: message,
		})
	}
}

// survive turns a panic below it into an error with a reference: a request must
// never end the process.
func (s *Server) survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				ref := rand.Text()
				s.logger.Error("request failed", "method", method, "ref", ref, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
				res, err = nil, internalError(ref)
			}
		}()
		return next(ctx, method, req)
	}
}

func internalError(ref string) error {
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInternalError,
		Message: "something went wrong inside the server; the operator's log has the cause under reference " + ref,
	}
}
