package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	eventHeader   = "Last-Event-ID"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// serveMCP takes a request of a known user to the handler of its era.
func (h *HTTP) serveMCP(w http.ResponseWriter, r *http.Request) {
	e, err := h.users.acquire(whoIs(r))
	if err != nil {
		h.logger.Error("no server for a user", "error", err)
		h.refuse(w, http.StatusInternalServerError, "something went wrong inside the server")
		return
	}
	defer h.users.release(e)

	in, ok := h.inspect(w, r)
	if !ok {
		return
	}
	if !h.users.begin(e, in.stream) {
		w.Header().Set("Retry-After", "1")
		h.refuse(w, http.StatusTooManyRequests, "too many requests of yours are running; wait for some to end")
		return
	}
	defer h.users.end(e, in.stream)

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if in.stream && !in.modern {
		// A stream of the handshake era has no last word: it just ends.
		defer context.AfterFunc(h.stopping, cancel)()
	}
	out := newStream(w, cancel)
	switch {
	case in.stream:
		out.slow = slowEnds
	case in.modern:
		out.slow = slowWaits
	default:
		out.slow = slowSkips
	}
	defer out.finish()
	r = r.WithContext(ctx)
	if in.modern {
		h.serveModern(e, out, r, in.plain)
		return
	}
	h.serveLegacy(e, out, r, in)
}

func (h *HTTP) serveLegacy(e *user, w http.ResponseWriter, r *http.Request, in inspected) {
	session := r.Header.Get(sessionHeader)
	if session == "" {
		if in.initializes && !h.users.mayOpen(e) {
			h.refuse(w, http.StatusTooManyRequests, "too many sessions; end some, or wait for idle ones to be ended")
			return
		}
		e.legacy.ServeHTTP(w, r)
		if id := w.Header().Get(sessionHeader); in.initializes && id != "" {
			h.users.opened(e, id)
		}
		return
	}
	if event := r.Header.Get(eventHeader); event != "" && r.Method == http.MethodGet && e.replay.nothingLeft(session, event) {
		// The TypeScript client, version 1, takes an error for no reply: it would come
		// back every second for as long as it is let.
		h.refuse(w, http.StatusMethodNotAllowed, "the call is over, and everything it said was sent")
		return
	}
	done := h.users.touch(e, session)
	e.legacy.ServeHTTP(w, r)
	done()
	if r.Method == http.MethodDelete {
		h.users.closed(e, session)
	}
}

// inspected is what must be known of a request before the SDK sees it.
type inspected struct {
	modern      bool // without a handshake
	stream      bool // stays open until somebody ends it
	initializes bool
	plain       *plainRequest // nil where it is the SDK's
}

// inspect reads a request's body, refuses what the SDK would take for
// something else, and finds the era. It has answered where ok is false.
func (h *HTTP) inspect(w http.ResponseWriter, r *http.Request) (in inspected, ok bool) {
	in.modern = r.Header.Get(versionHeader) >= modernEra
	if r.Method != http.MethodPost {
		in.stream = r.Method == http.MethodGet && !in.modern
		if r.ContentLength == 0 {
			mayWait(w)
		}
		return in, true
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		h.refuse(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return in, false
	}
	body, err := readBody(w, r)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		h.refuse(w, http.StatusRequestEntityTooLarge, "the body is longer than "+strconv.Itoa(maxBody)+" bytes")
		return in, false
	case err != nil:
		h.refuse(w, http.StatusBadRequest, "the body could not be read")
		return in, false
	}
	frames, batch := parseLine(bytes.TrimSpace(body))
	for i := range frames {
		f := &frames[i]
		if f.malformed == nil && f.id != nil && f.key[0] == 'n' && !exactID(f.id) {
			f.malformed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "over HTTP an id must be a string or a whole number below 2^53"}
		}
		if f.malformed != nil {
			refuseMessage(w, f)
			return in, false
		}
		in.modern = in.modern || f.modern()
		in.stream = in.stream || f.method == methodListen
		in.initializes = in.initializes || f.method == methodInitialize
	}
	if len(frames) == 1 && in.modern && frames[0].id == nil && frames[0].method != "" && r.Header.Get(methodHeader) == "" {
		// The TypeScript client sends no header with a notification, which has no
		// answer to put the refusal in.
		r.Header.Set(methodHeader, frames[0].method)
	}
	decodeName(r.Header)
	in.plain = plainOf(r, frames, batch)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return in, true
}

// readBody reads a whole body within the bounds of size and time. Where it
// fails the deadline stays, since the server reads on before it answers.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		mayWait(w)
	}
	return body, err
}

// mayWait lifts the deadline for reading from a request that has been read: from
// here on the connection tells only whether the client is still there, and a call
// or a stream may last.
func mayWait(w http.ResponseWriter) {
	// A writer that knows no deadlines, as in tests, goes without.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// exactID reports whether the SDK, which reads numbers as floating point,
// gives this id back as it came.
func exactID(id []byte) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n > -1<<53 && n < 1<<53 && string(id) != "-0"
}

func refuseMessage(w http.ResponseWriter, f *frame) {
	id := f.id
	if id == nil {
		id = []byte("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	// A client that is gone hears nothing, and needs to hear nothing.
	_, _ = w.Write(errorReply(id, f.malformed))
}

// decodeName undoes the encoding that clients use for a name that is not plain
// ASCII; the SDK compares it undecoded.
func decodeName(h http.Header) {
	encoded, found := strings.CutPrefix(h.Get(nameHeader), "=?base64?")
	encoded, whole := strings.CutSuffix(encoded, "?=")
	if !found || !whole {
		return
	}
	if name, err := base64.StdEncoding.DecodeString(encoded); err == nil {
		h.Set(nameHeader, string(name))
	}
}
