// Package conformance is the toolset that the official conformance suite of MCP
// asks of a server: tools, resources and prompts with names and answers that
// the suite fixes. What a toolset of ours can say is one (set.go); the rest is
// registered with the SDK itself. Only tests serve it, and they serve it through
// the whole of mcpserver's HTTP side, so that it is our stack that is measured.
package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// fixture is what one user's server offers to the suite.
type fixture struct {
	server  *mcpserver.Server
	changed atomic.Uint64 // how often the tools were
}

// NewServer makes the suite's server for one user.
func NewServer(who actor.Actor, logger *slog.Logger) (*mcpserver.Server, error) {
	f := &fixture{}
	server, err := mcpserver.New(who, mcpserver.Options{
		Name: "handrail-conformance", Title: "Handrail's conformance fixtures", Version: "1",
		Door: tool.NewDoor(tool.Options{Log: audit.Nowhere{}, Policy: tool.Ask, Logger: logger}),
		Sets: []toolset.Set{f.set()}, Extend: extend, Logger: logger,
	})
	f.server = server
	return server, err
}

// extend registers what toolsets of ours cannot say: schemas that no toolset of
// ours may have, requests to the client, protocol errors, and questions that are
// not confirmations.
func extend(s *mcp.Server) {
	addAsking(s)
	addSchemas(s)
	addStateless(s)
	addInputRequired(s)
	addPrompts(s)
}

// noArguments is the schema of a tool without arguments.
var noArguments = json.RawMessage(`{"type":"object","additionalProperties":false}`)

// addTool registers a tool; schema nil is one without arguments.
func addTool(s *mcp.Server, name, doc string, schema json.RawMessage, h mcp.ToolHandler) {
	if schema == nil {
		schema = noArguments
	}
	s.AddTool(&mcp.Tool{Name: name, Description: doc, InputSchema: schema}, h)
}

// said is a result of one text.
func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// failedWith is a result that says that a tool failed.
func failedWith(text string) *mcp.CallToolResult {
	r := said(text)
	r.IsError = true
	return r
}

// argument is a string argument of a call, "" where there is none.
func argument(req *mcp.CallToolRequest, name string) string {
	var args map[string]json.RawMessage
	var text string
	if json.Unmarshal(req.Params.Arguments, &args) != nil || json.Unmarshal(args[name], &text) != nil {
		return ""
	}
	return text
}

// redDot is a picture of one red pixel, PNG.
func redDot() []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 1, 1))
	picture.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil { // into memory
		panic(err)
	}
	return b.Bytes()
}

// silence is a tenth of a second of it, WAV: 8 kHz, 8 bits, one channel.
func silence() []byte {
	const rate, samples = 8000, 800
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+samples)...)
	b = append(b, "WAVEfmt "...)
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8)} {
		b, _ = binary.Append(b, binary.LittleEndian, v) // integers always fit
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, samples)
	return append(b, bytes.Repeat([]byte{0x80}, samples)...)
}
