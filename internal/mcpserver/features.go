package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/fault"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// addFeatures binds the resources, templates and prompts of the sets.
func (s *Server) addFeatures() {
	for _, set := range s.sets {
		for _, r := range set.Resources {
			if r.Template {
				s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
					URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
				}, s.read(r))
			} else {
				s.addResource(r)
			}
		}
		for _, p := range set.Prompts {
			s.sdk.AddPrompt(describePrompt(p), s.render(p))
		}
	}
	if s.listers() > 0 {
		s.sdk.AddReceivingMiddleware(s.listResources)
	}
}

func (s *Server) addResource(r tool.Resource) {
	s.sdk.AddResource(&mcp.Resource{
		URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
	}, s.read(r))
}

func (s *Server) read(r tool.Resource) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		content, err := r.Read(ctx, s.who, req.Params.URI)
		if err != nil {
			if fault.CodeOf(err) == fault.NotFound {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
			return nil, s.protocolError("resources/read", err)
		}
		out := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: or(content.MIMEType, r.MIMEType), Text: content.Text, Blob: content.Blob}
		return &mcp.ReadResourceResult{
			Contents:  []*mcp.ResourceContents{out},
			Cacheable: mcp.Cacheable{TTLMs: int(r.TTL.Milliseconds())},
		}, nil
	}
}

// protocolError is a failure outside of a tool call, which has no envelope.
func (s *Server) protocolError(method string, err error) error {
	f := fault.Of(err)
	code := int64(jsonrpc.CodeInvalidParams)
	switch f.Code {
	case fault.Internal:
		ref := rand.Text()
		s.logger.Error("request failed", "method", method, "ref", ref, "error", err)
		return internalError(ref)
	case fault.Unavailable, fault.Timeout, fault.Cancelled, fault.InvalidStore:
		s.logger.Warn("request failed", "method", method, "error", err)
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: f.Message}
}

func describePrompt(p tool.Prompt) *mcp.Prompt {
	out := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Args {
		out.Arguments = append(out.Arguments, &mcp.PromptArgument{
			Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
		})
	}
	return out
}

func (s *Server) render(p tool.Prompt) mcp.PromptHandler {
	return func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		for _, a := range p.Args {
			if a.Required && req.Params.Arguments[a.Name] == "" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt needs the argument " + a.Name}
			}
		}
		messages, err := p.Render(ctx, s.who, req.Params.Arguments)
		if err != nil {
			return nil, s.protocolError("prompts/get", err)
		}
		out := &mcp.GetPromptResult{Description: p.Description}
		for _, m := range messages {
			out.Messages = append(out.Messages, &mcp.PromptMessage{Role: mcp.Role(m.Role), Content: &mcp.TextContent{Text: m.Text}})
		}
		return out, nil
	}
}

// completes reports whether any argument of the sets can be completed.
func completes(sets []toolset.Set) bool {
	for _, set := range sets {
		for _, r := range set.Resources {
			if len(r.Complete) > 0 {
				return true
			}
		}
		for _, p := range set.Prompts {
			for _, a := range p.Args {
				if a.Complete != nil {
					return true
				}
			}
		}
	}
	return false
}

// complete proposes values for an argument. For what is not there it proposes
// none, without an error: the official suite asks any server with completions
// about a prompt of its own, and a person who types wants no error either.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	completer := s.completer(req.Params)
	if completer == nil {
		return out, nil
	}
	values, err := completer(ctx, s.who, req.Params.Argument.Value)
	if err != nil {
		return nil, s.protocolError("completion/complete", err)
	}
	out.Completion.Total = len(values)
	if len(values) > tool.MaxCompletions {
		values, out.Completion.HasMore = values[:tool.MaxCompletions], true
	}
	out.Completion.Values = append(out.Completion.Values, values...)
	return out, nil
}

// completer is who proposes values for an argument, nil where nobody does.
func (s *Server) completer(p *mcp.CompleteParams) tool.Completer {
	for _, set := range s.sets {
		for _, prompt := range set.Prompts {
			for _, a := range prompt.Args {
				if p.Ref.Type == "ref/prompt" && prompt.Name == p.Ref.Name && a.Name == p.Argument.Name {
					return a.Complete
				}
			}
		}
		for _, r := range set.Resources {
			if p.Ref.Type == "ref/resource" && r.URI == p.Ref.URI {
				return r.Complete[p.Argument.Name]
			}
		}
	}
	return nil
}

func (s *Server) listers() int {
	n := 0
	for _, set := range s.sets {
		if set.Listed != nil {
			n++
		}
	}
	return n
}

// listCursor says which set's list goes on where, behind the resources that
// the SDK holds.
type listCursor struct {
	set   int
	after string
}

const listedPrefix = "listed:"

func (c listCursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(listedPrefix + string(rune('a'+c.set)) + c.after))
}

func parseListCursor(text string, sets int) (listCursor, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) <= len(listedPrefix) || string(b[:len(listedPrefix)]) != listedPrefix {
		return listCursor{}, false
	}
	rest := b[len(listedPrefix):]
	c := listCursor{set: int(rest[0] - 'a'), after: string(rest[1:])}
	return c, c.set < sets
}

// listResources puts the resources that sets make from the user's data behind
// those that are always there, page by page.
func (s *Server) listResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != "resources/list" {
			return next(ctx, method, req)
		}
		params, _ := req.GetParams().(*mcp.ListResourcesParams)
		at, ours := listCursor{}, false
		if params != nil {
			at, ours = parseListCursor(params.Cursor, len(s.sets))
		}
		if !ours {
			res, err := next(ctx, method, req)
			list, ok := res.(*mcp.ListResourcesResult)
			if err != nil || !ok {
				return res, err
			}
			list.Resources = slices.DeleteFunc(list.Resources, func(r *mcp.Resource) bool { return r.URI == bellURI })
			if list.NextCursor != "" {
				return list, nil
			}
			return s.addFirstPage(ctx, list)
		}
		page, err := s.listedPage(ctx, at)
		if err != nil {
			return nil, err
		}
		return page, nil
	}
}

// addFirstPage puts what there is of the user's data into the page that ends the
// fixed resources: many hosts read no other.
func (s *Server) addFirstPage(ctx context.Context, list *mcp.ListResourcesResult) (mcp.Result, error) {
	first, more := s.nextLister(0)
	if !more {
		return list, nil
	}
	page, err := s.listedPage(ctx, listCursor{set: first})
	if err != nil {
		return nil, err
	}
	list.Resources = append(list.Resources, page.Resources...)
	list.NextCursor = page.NextCursor
	return list, nil
}

func (s *Server) nextLister(from int) (int, bool) {
	for i := from; i < len(s.sets); i++ {
		if s.sets[i].Listed != nil {
			return i, true
		}
	}
	return 0, false
}

func (s *Server) listedPage(ctx context.Context, at listCursor) (*mcp.ListResourcesResult, error) {
	if s.sets[at.set].Listed == nil {
		return nil, s.protocolError("resources/list", errors.New("a cursor of a set without a list"))
	}
	page, after, err := s.sets[at.set].Listed(ctx, s.who, at.after)
	if err != nil {
		return nil, s.protocolError("resources/list", err)
	}
	out := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: mcp.Cacheable{CacheScope: "private"}}
	for _, l := range page {
		out.Resources = append(out.Resources, &mcp.Resource{
			URI: l.URI, Name: l.Name, Title: l.Title, Description: l.Description, MIMEType: l.MIMEType,
		})
	}
	if after != "" {
		out.NextCursor = listCursor{set: at.set, after: after}.String()
	} else if following, more := s.nextLister(at.set + 1); more {
		out.NextCursor = listCursor{set: following}.String()
	}
	return out, nil
}
