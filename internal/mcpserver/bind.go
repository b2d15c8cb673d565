package mcpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/fault"
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
		call := tool.Call{Who: s.who, Progress: progress(req), Log: s.asked.lineLog(req)}
		ask := s.asker(req)
		if ask != nil {
			call.Asker = ask
		}
		o := s.door.Call(ctx, call, t, req.Params.Arguments)
		if o.Question != nil && ask != nil {
			return ask.question(*o.Question), nil
		}
		return s.result(o), nil
	}
}

// result is an outcome on the wire: the envelope as structured content, and
// the same JSON as text for clients that read only text.
func (s *Server) result(o tool.Outcome) *mcp.CallToolResult {
	envelope := o.Envelope()
	out := &mcp.CallToolResult{StructuredContent: envelope, IsError: !o.OK()}
	for _, b := range o.Blocks {
		out.Content = append(out.Content, content(b))
	}
	if o.Blocks == nil {
		out.Content = []mcp.Content{&mcp.TextContent{Text: string(envelope)}}
	}
	return out
}

// content is a block on the wire.
func content(b tool.Block) mcp.Content {
	switch b.Kind {
	case tool.ImageBlock:
		return &mcp.ImageContent{Data: b.Data, MIMEType: b.MIMEType, Meta: b.Meta}
	case tool.AudioBlock:
		return &mcp.AudioContent{Data: b.Data, MIMEType: b.MIMEType, Meta: b.Meta}
	case tool.ResourceBlock:
		return &mcp.EmbeddedResource{
			Resource: &mcp.ResourceContents{URI: b.URI, MIMEType: b.MIMEType, Text: b.Text, Blob: b.Data}, Meta: b.Meta,
		}
	}
	return &mcp.TextContent{Text: b.Text, Meta: b.Meta}
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

// survive makes a URI canonical before anything looks it up, and turns a panic below it into an error with a reference: a request must
// never end the process.
func (s *Server) survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && p != nil {
			p.URI = canonicalURI(p.URI)
		}
		defer func() {
			if p := recover(); p != nil {
				ref := rand.Text()
				s.logger.Error("request failed", "method", method, "ref", ref, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
				res, err = nil, internalError(ref)
			}
		}()
		res, err = next(ctx, method, req)
		if method == methodSetLevel && err == nil {
			s.asked.note(req)
		}
		if method == methodCallTool && askFailed(err) {
			s.logger.Info("a question could not be put to the person", "error", err)
			f := fault.New(fault.Declined, "the question could not be put to the person, or got no answer; nothing was changed")
			return s.result(tool.Outcome{Fault: f}), nil
		}
		return res, err
	}
}

func internalError(ref string) error {
	return &jsonrpc.Error{
		Code:    jsonrpc.CodeInternalError,
		Message: "something went wrong inside the server; the operator's log has the cause under reference " + ref,
	}
}

// endListens ends subscriptions over HTTP in order when stopping is done: their
// streams get a last word, and the requests that are running go on.
func (s *Server) endListens(stopping context.Context) {
	s.sdk.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == methodSubscribe {
				s.watchNow()
			}
			if method == methodListen {
				s.watchNow()
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
				defer context.AfterFunc(stopping, cancel)()
			}
			return next(ctx, method, req)
		}
	})
}

// forwardToSDK passes notices on to the SDK's own subscriptions, which are those
// over HTTP, until the function that it returns is called.
func (s *Server) forwardToSDK() (leave func()) {
	box, stop := s.feed.listen(func(Notice) bool { return true })
	stopWatch := s.startWatch()
	end := make(chan struct{})
	go func() {
		for {
			select {
			case <-box.ready:
				for _, n := range box.take() {
					s.notifySDK(n)
				}
			case <-end:
				return
			}
		}
	}()
	return func() { stopWatch(); stop(); close(end) }
}

// bellURI names the resource that is added and taken away again to have the SDK
// announce that the list of resources changed.
const bellURI = "handrail://bell"

// notifySDK has the SDK announce a change. It announces the change of a list
// only when something is added to it or taken away: for tools, refresh does.
func (s *Server) notifySDK(n Notice) {
	switch n.Kind {
	case ResourceUpdated:
		for _, uri := range s.watch.written(n.URI) {
			if err := s.sdk.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				s.logger.Debug("announcing a resource", "error", err)
			}
		}
	case ResourcesChanged:
		s.sdk.AddResource(&mcp.Resource{URI: bellURI, Name: "bell"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return nil, mcp.ResourceNotFoundError(bellURI)
		})
		s.sdk.RemoveResources(bellURI)
	}
}

// askFailed reports whether an error of the SDK says that a client of the
// handshake era could not be asked, or did not answer.
func askFailed(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "multi-round-trip:")
}
