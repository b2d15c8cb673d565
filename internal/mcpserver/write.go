package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeRejected is what the SDK takes as "this message was not sent, the
// connection is well".
const codeRejected = -32005

// Write implements mcp.Connection: replies get their client's id back.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch m := msg.(type) {
	case *jsonrpc.Response:
		return c.writeResponse(m)
	case *jsonrpc.Request:
		return c.writeRequest(m)
	}
	return errors.New("neither a request nor a response")
}

func (c *conn) writeResponse(m *jsonrpc.Response) error {
	number, ok := m.ID.Raw().(int64)
	if !ok {
		return nil // an error of the SDK about a message without an id
	}
	c.mu.Lock()
	k := c.calls[number]
	c.mu.Unlock()
	if k == nil {
		return nil
	}
	if m.Error != nil {
		c.finish(k, errorReply(k.id, asWireError(m.Error)))
		return c.state()
	}
	if k.init {
		c.noteVersion(m.Result)
	}
	c.vouch(k, m.Result)
	c.finish(k, resultReply(k.id, m.Result))
	return c.state()
}

// writeRequest sends a request or a notice of the server. What the SDK says of
// changes is dropped: this session hears of them through the feed.
func (c *conn) writeRequest(m *jsonrpc.Request) error {
	if slices.Contains(noticeMethods[:], m.Method) {
		return nil
	}
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if number, ok := m.ID.Raw().(int64); ok {
		c.mu.Lock()
		ended := c.ended
		if !ended {
			c.asked[number] = true
		}
		c.mu.Unlock()
		if ended {
			return &jsonrpc.Error{Code: codeRejected, Message: "the client closed its side and can answer nothing"}
		}
	}
	c.writeLine(line)
	return c.state()
}

// writeLine writes one message. A failure marks the session as broken: nobody
// reads any more.
func (c *conn) writeLine(b []byte) {
	c.outMu.Lock()
	_, err := c.out.Write(append(b, '\n'))
	c.outMu.Unlock()
	if err == nil {
		return
	}
	c.mu.Lock()
	first := !c.broken
	c.broken = true
	c.mu.Unlock()
	if first {
		c.logger.Info("output closed", "error", err)
	}
	c.poke()
}

func (c *conn) state() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return errors.New("nobody reads the output")
	}
	return nil
}

func resultReply(id, result []byte) []byte {
	b := make([]byte, 0, len(id)+len(result)+48)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	b = append(append(b, `,"result":`...), result...)
	return append(b, '}')
}

func errorReply(id []byte, e *jsonrpc.Error) []byte {
	body, err := json.Marshal(e)
	if err != nil { // a number, a string and JSON that parsed
		body = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	b := make([]byte, 0, len(id)+len(body)+48)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	b = append(append(b, `,"error":`...), body...)
	return append(b, '}')
}

func joinBatch(replies [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(replies, []byte{','})...), ']')
}

// asWireError gives every error of the SDK a code: some leave with 0, which
// JSON-RPC does not know.
func asWireError(err error) *jsonrpc.Error {
	out := &jsonrpc.Error{Message: err.Error()}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		out.Code, out.Data = wire.Code, wire.Data
	}
	if out.Code == 0 {
		out.Code = jsonrpc.CodeInvalidRequest
	}
	return out
}

func wireError(raw []byte) *jsonrpc.Error {
	var e jsonrpc.Error
	if err := json.Unmarshal(raw, &e); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client answered with an error that is none"}
	}
	return &e
}
