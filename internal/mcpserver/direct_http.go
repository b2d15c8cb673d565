package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
)

// plainRequest is a request over HTTP whose call may go directly; key has what
// the SDK would judge it by.
type plainRequest struct {
	frame *frame
	key   []byte
}

// eventStream are the headers of a reply, as the SDK and stream set them.
var eventStream = map[string]string{
	"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "Connection": "keep-alive", "X-Accel-Buffering": "no",
}

// plainOf is nil for a request that is the SDK's. Headers that speak of a
// session, of a stream or of single arguments are, and so is a name or a method
// that the body does not have.
func plainOf(r *http.Request, frames []frame, batch bool) *plainRequest {
	if batch || len(frames) != 1 || !frames[0].modern() || !frames[0].isCall() {
		return nil
	}
	f := &frames[0]
	for name, values := range r.Header {
		switch {
		case name == methodHeader:
			if len(values) != 1 || values[0] != f.method {
				return nil
			}
		case name == nameHeader:
			if len(values) != 1 || values[0] != f.tool {
				return nil
			}
		case name == "Last-Event-Id", strings.HasPrefix(name, "Mcp-") && name != versionHeader:
			return nil
		}
	}
	if r.Header.Get(methodHeader) == "" || r.Header.Get(nameHeader) == "" {
		return nil
	}
	var key []byte
	for _, name := range []string{"Accept", "Content-Type", versionHeader} {
		key = append(append(key, strings.Join(r.Header[name], "\n")...), 0)
	}
	return &plainRequest{frame: f, key: append(key, f.meta...)}
}

// vouchers are the kinds of requests of a user that go directly.
type vouchers struct {
	mu   sync.Mutex
	keys metas
}

func (v *vouchers) has(key []byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.keys.has(key)
}

func (v *vouchers) add(key []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keys.add(key)
}

// serveModern takes a request of the era without handshake to the door, where
// one like it is vouched for, and else to the SDK.
func (h *HTTP) serveModern(e *user, out *stream, r *http.Request, plain *plainRequest) {
	if plain == nil {
		e.modern.ServeHTTP(out, r)
		return
	}
	t, ok := e.server.direct(plain.frame)
	if !ok {
		e.modern.ServeHTTP(out, r)
		return
	}
	if !e.vouched.has(plain.key) {
		heard := &hearing{stream: out}
		e.modern.ServeHTTP(heard, r)
		if heard.vouches(e.server, plain.frame.id) {
			e.vouched.add(plain.key)
		}
		return
	}
	// A call that takes long becomes a stream that says that it is still there.
	begun := make(chan struct{})
	late := time.AfterFunc(keepAlive, func() {
		defer close(begun)
		out.Header().Set("Content-Type", eventStream["Content-Type"])
		out.Header().Set("Connection", eventStream["Connection"])
		out.WriteHeader(http.StatusOK)
	})
	var reply []byte
	result, err := e.server.callDirect(r.Context(), t, plain.frame.args, true)
	if err != nil {
		reply = errorReply(plain.frame.id, asWireError(err))
	} else {
		reply = resultReply(plain.frame.id, result)
	}
	event := make([]byte, 0, len(reply)+len(eventOpen)+2)
	event = append(append(append(event, eventOpen...), reply...), "\n\n"...)
	if !late.Stop() {
		<-begun
		// A client that is gone hears nothing, and needs to hear nothing.
		_, _ = out.Write(event)
		return
	}
	for name, value := range eventStream {
		out.Header().Set(name, value)
	}
	if out.deadline() == nil {
		_, _ = out.ResponseWriter.Write(event)
	}
}

const eventOpen = "event: message\ndata: "

// hearing keeps what the SDK answers, up to a bound.
type hearing struct {
	*stream
	text   []byte
	status int
}

func (h *hearing) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
	h.stream.WriteHeader(status)
}

// mostHeard is the longest answer that is kept, in bytes.
const mostHeard = 64 << 10

func (h *hearing) Write(b []byte) (int, error) {
	if len(h.text) <= mostHeard {
		h.text = append(h.text, b[:min(len(b), mostHeard+1-len(h.text))]...)
	}
	return h.stream.Write(b)
}

// vouches reports whether the answer was one event with a result that we would
// have written in the same way.
func (h *hearing) vouches(s *Server, id []byte) bool {
	if h.status != 0 && h.status != http.StatusOK {
		return false
	}
	reply, ok := bytes.CutPrefix(h.text, []byte(eventOpen))
	reply, whole := bytes.CutSuffix(reply, []byte("\n\n"))
	if !ok || !whole {
		return false
	}
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	return json.Unmarshal(reply, &m) == nil && sameJSON(reply, resultReply(id, m.Result)) && s.vouched(m.Result, true)
}
