package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// frame is one JSON-RPC message as it came in, taken apart no further than
// its transport needs. Raw parts are the client's own bytes.
type frame struct {
	id     []byte // raw; nil for a notification
	key    string // id in a form that compares
	method string // empty for a response
	params []byte
	result []byte
	errobj []byte

	tool      string // params.name of tools/call
	args      []byte // params.arguments of tools/call, raw
	meta      []byte // params._meta, raw
	plain     bool   // params hold nothing but name, arguments and the usual _meta
	cancels   string // key of params.requestId
	version   string // _meta protocol version; empty in the legacy era
	hasCaps   bool   // _meta has the client's capabilities as an object
	malformed *jsonrpc.Error
}

func (f *frame) isResponse() bool { return f.malformed == nil && f.method == "" }
func (f *frame) isCall() bool     { return f.method != "" && f.id != nil }
func (f *frame) modern() bool     { return f.version >= modernEra }

// modernEra is the first protocol version without a handshake.
const modernEra = "2026-07-28"

// lenient decoding finds the parts; strictness about them is ours. The decoder
// reads b where it lies, so that the parts are parts of it.
func lenient(b []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// parseLine takes a line apart into its messages. batch says that they came as
// an array. A message that is wrong has malformed set; the others stand.
func parseLine(line []byte) (frames []frame, batch bool) {
	if len(line) == 0 || line[0] != '[' {
		return []frame{parseMessage(line)}, false
	}
	dec := lenient(line)
	bad := func(code int64, why string) ([]frame, bool) {
		return []frame{{malformed: &jsonrpc.Error{Code: code, Message: why}}}, false
	}
	if _, err := dec.ReadToken(); err != nil {
		return bad(jsonrpc.CodeParseError, "not valid JSON")
	}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return bad(jsonrpc.CodeParseError, "not valid JSON")
		}
		frames = append(frames, parseMessage(v))
	}
	if _, err := dec.ReadToken(); err != nil {
		return bad(jsonrpc.CodeParseError, "not valid JSON")
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return bad(jsonrpc.CodeParseError, "text after the end of the batch")
	}
	if len(frames) == 0 {
		return bad(jsonrpc.CodeInvalidRequest, "an empty batch")
	}
	return frames, true
}

// parseMessage takes one message apart. Where it is wrong, malformed says why,
// and the id stands if it was seen before the fault.
func parseMessage(b []byte) frame {
	var f frame
	fail := func(code int64, why string) {
		if f.malformed == nil {
			f.malformed = &jsonrpc.Error{Code: code, Message: why}
		}
	}
	dec := lenient(b)
	if dec.PeekKind() != '{' {
		if v, err := dec.ReadValue(); err != nil || len(v) == 0 {
			fail(jsonrpc.CodeParseError, "not valid JSON")
		} else {
			fail(jsonrpc.CodeInvalidRequest, "a message must be a JSON object")
		}
		return f
	}
	seen := map[string]bool{}
	var version, id, method []byte
	err := members(dec, func(name string, v []byte) {
		if seen[name] {
			fail(jsonrpc.CodeInvalidRequest, strconv.Quote(clip(name))+" is given twice")
			return
		}
		seen[name] = true
		switch name {
		case "jsonrpc":
			version = v
		case "id":
			id = v
			f.setID(v)
		case "method":
			method = v
		case "params":
			f.params = v
		case "result":
			f.result = v
		case "error":
			f.errobj = v
		}
	})
	switch {
	case err != nil:
		fail(jsonrpc.CodeParseError, "not valid JSON")
	case string(version) != `"2.0"`:
		fail(jsonrpc.CodeInvalidRequest, `"jsonrpc" must be "2.0"`)
	case id != nil && f.id == nil:
		fail(jsonrpc.CodeInvalidRequest, "an id must be a string or a number")
	case method != nil && method[0] != '"':
		fail(jsonrpc.CodeInvalidRequest, "a method must be a string")
	case method == nil && (f.id == nil || f.result == nil && f.errobj == nil):
		fail(jsonrpc.CodeInvalidRequest, "neither a request nor a response")
	}
	if f.malformed == nil && method != nil {
		if f.method = text(method); f.method == "" {
			fail(jsonrpc.CodeMethodNotFound, "a method without a name")
		}
		if why := f.scanParams(); why != "" {
			fail(jsonrpc.CodeInvalidParams, why)
		}
	}
	return f
}

func (f *frame) setID(v []byte) {
	switch v[0] {
	case '"':
		f.id, f.key = v, "s"+text(v)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		f.id, f.key = v, "n"+string(v)
	}
}

// scanParams finds what the transport needs in params and says what is wrong
// with them, if anything.
func (f *frame) scanParams() (why string) {
	if f.params == nil {
		return ""
	}
	if f.params[0] != '{' {
		if f.params[0] == '[' || f.params[0] == 'n' {
			return "" // the SDK says what this method wants
		}
		return "params must be an object"
	}
	seen := map[string]bool{}
	f.plain = true
	err := members(lenient(f.params), func(name string, v []byte) {
		switch {
		case seen[name]:
			why = strconv.Quote(clip(name)) + " is given twice in params"
			return
		case name == "name" && f.method == methodCallTool:
			if v[0] != '"' {
				why = "the name of a tool must be a string"
			}
			f.tool = text(v)
		case name == "arguments" && f.method == methodCallTool:
			f.args = v
		case name == "requestId" && f.method == notificationCancelled:
			other := frame{}
			other.setID(v)
			f.cancels = other.key
		case name == "_meta":
			f.meta = v
			why = or(why, f.scanMeta(v))
		default:
			f.plain = false
		}
		seen[name] = true
	})
	if err != nil && why == "" {
		why = "params are not valid JSON"
	}
	return why
}

func (f *frame) scanMeta(v []byte) (why string) {
	if v[0] != '{' {
		f.plain = false
		return ""
	}
	_ = members(lenient(v), func(name string, v []byte) { // v is one whole value: it parses
		switch name {
		case mcp.MetaKeyProtocolVersion:
			f.version = text(v)
		case mcp.MetaKeyClientCapabilities:
			f.hasCaps = v[0] == '{'
		case mcp.MetaKeyClientInfo:
		default:
			f.plain = false
		}
	})
	return ""
}

// members calls f for each member of the object that dec, which is lenient,
// stands before. raw is a part of what dec reads.
func members(dec *jsontext.Decoder, f func(name string, raw []byte)) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f(name, v)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if dec.StackDepth() == 0 {
		if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
			return errors.New("text after the end of the message")
		}
	}
	return nil
}

// text is the string in a raw JSON string, and "" for anything else.
func text(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && !errors.Is(err, io.EOF) && b == nil {
		return ""
	}
	return string(b)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// clip keeps a client's own text short in a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// The methods that the stdio connection must know by name.
const (
	methodInitialize      = "initialize"
	methodCallTool        = "tools/call"
	methodSetLevel        = "logging/setLevel"
	methodListen          = "subscriptions/listen"
	methodSubscribe       = "resources/subscribe"
	methodUnsubscribe     = "resources/unsubscribe"
	notificationCancelled = "notifications/cancelled"
	notificationReady     = "notifications/initialized"
	notificationAck       = "notifications/subscriptions/acknowledged"
)
