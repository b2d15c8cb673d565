package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/tool"
)

// A plain call goes to the door directly, which takes a third of the time that
// it takes through the SDK. Nothing is decided here that the SDK decides: a call
// goes directly only after a call like it went through the SDK, with the very
// same metadata, and got a result that means what ours would (see vouched). Every
// other call goes through the SDK: the first of a session or a kind of client,
// one with a progress token or any other field, and one of a tool that asks,
// forwards a log, or comes and goes.

// direct reports whether a call of this frame may go directly, and to which tool.
func (s *Server) direct(f *frame) (tool.Tool, bool) {
	if !s.plainCalls || f.method != methodCallTool || !f.plain || opens(f.args) > maxOpens {
		return tool.Tool{}, false
	}
	t, ok := s.tools[f.tool]
	asks := t.Spec.Effect == tool.Destroy && s.door.Policy() != tool.Argument
	return t, ok && t.Plain() && !asks
}

// maxOpens keeps arguments that are nested deeper than the SDK takes to the SDK.
const maxOpens = 500

func opens(args []byte) int { return bytes.Count(args, []byte("{")) + bytes.Count(args, []byte("[")) }

// takesPlainCalls reports whether calls may go past the SDK at all: nothing that
// was registered with it takes part in them.
func (s *Server) takesPlainCalls(o Options) bool {
	if o.Extend != nil || o.Roots != nil || s.living.any {
		return false
	}
	for _, set := range s.sets {
		if set.Logs {
			return false
		}
	}
	return true
}

// callDirect runs a call and returns its result as the SDK would write it.
func (s *Server) callDirect(ctx context.Context, t tool.Tool, args []byte, modern bool) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			ref := rand.Text()
			s.logger.Error("request failed", "method", methodCallTool, "ref", ref, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, internalError(ref)
		}
	}()
	s.wentDirect.Add(1)
	o := s.door.Call(ctx, tool.Call{Who: s.who}, t, args)
	if o.Blocks != nil || o.Question != nil {
		panic("a tool that is called directly has its own content, or a question")
	}
	return s.writeResult(o.Envelope(), !o.OK(), modern)
}

// writeResult writes the result of a call as the SDK does: the envelope as
// structured content, and the same JSON as text.
func (s *Server) writeResult(envelope []byte, failed, modern bool) ([]byte, error) {
	b := make([]byte, 0, 2*len(envelope)+len(envelope)/4+len(s.infoJSON)+160)
	b = append(b, '{')
	if modern {
		b = append(append(append(b, `"_meta":{"`+mcp.MetaKeyServerInfo+`":`...), s.infoJSON...), "},"...)
	}
	b = append(b, `"content":[{"type":"text","text":`...)
	b, err := jsontext.AppendQuote(b, envelope)
	if err != nil {
		return nil, fmt.Errorf("an envelope that is no text: %w", err)
	}
	b = append(append(b, `}],"structuredContent":`...), envelope...)
	if failed {
		b = append(b, `,"isError":true`...)
	}
	if modern {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}'), nil
}

// infoJSON is the server as results name it.
func infoJSON(info *mcp.Implementation) []byte {
	b, err := json.Marshal(info)
	if err != nil { // strings
		panic(err)
	}
	return b
}

// vouched reports whether a result that the SDK wrote is what we would have
// written.
func (s *Server) vouched(result []byte, modern bool) bool {
	var r struct {
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if json.Unmarshal(result, &r) != nil || r.Structured == nil {
		return false
	}
	ours, err := s.writeResult(r.Structured, r.IsError, modern)
	return err == nil && sameJSON(ours, result)
}

// sameJSON compares what two texts say: the SDK writes "<" as an escape, we do not.
func sameJSON(a, b []byte) bool {
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && reflect.DeepEqual(one, other)
}

// metas are the metadata of clients whose calls go directly; absent metadata is
// the empty text. Only the newest few are kept.
type metas [][]byte

const (
	maxMetas   = 16
	longestRaw = 4 << 10 // bytes of metadata
)

func (m metas) has(meta []byte) bool {
	for _, known := range m {
		if bytes.Equal(known, meta) {
			return true
		}
	}
	return false
}

func (m *metas) add(meta []byte) {
	if len(meta) > longestRaw || m.has(meta) {
		return
	}
	*m = append(*m, bytes.Clone(meta))
	if len(*m) > maxMetas {
		*m = (*m)[1:]
	}
}

// shortcut is a call that may go directly.
type shortcut struct {
	tool   tool.Tool
	args   []byte
	meta   []byte
	modern bool
	stop   context.CancelFunc // set while it runs directly
}

// shortcutOf is nil for a call that is the SDK's.
func (c *conn) shortcutOf(f *frame) *shortcut {
	if c.server == nil {
		return nil
	}
	t, ok := c.server.direct(f)
	if !ok {
		return nil
	}
	return &shortcut{tool: t, args: f.args, meta: f.meta, modern: f.modern()}
}

// beginDirect runs the call without the SDK where that is vouched for. It is
// called with the session's lock held.
func (c *conn) beginDirect(k *call) bool {
	d := k.direct
	if d == nil || !c.vouched.has(d.meta) {
		return false
	}
	ctx, stop := context.WithCancel(c.base)
	d.stop = stop
	c.directs.Add(1)
	go func() {
		defer c.directs.Done()
		defer stop()
		result, err := c.server.callDirect(ctx, d.tool, d.args, d.modern)
		if err != nil {
			c.finish(k, errorReply(k.id, asWireError(err)))
			return
		}
		c.finish(k, resultReply(k.id, result))
	}()
	return true
}

// vouch notes that calls like k may go directly, if the SDK's result says so.
func (c *conn) vouch(k *call, result []byte) {
	d := k.direct
	if d == nil || !c.server.vouched(result, d.modern) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vouched.add(d.meta)
}
