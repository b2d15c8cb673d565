package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// HTTP is one connection to a server over Streamable HTTP, kept open. It is for
// one goroutine.
type HTTP struct {
	addr, path, token string
	era               Era
	conn              net.Conn
	in                *bufio.Reader
	session           string
	next              int64
	head, body        []byte
}

// Dial connects to a server, and does the handshake where the era has one. A
// call that takes more than a minute fails.
func Dial(addr, path, token string, era Era) (*HTTP, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	h := &HTTP{addr: addr, path: path, token: token, era: era, conn: conn, in: bufio.NewReaderSize(conn, 8<<10)}
	if era == Legacy {
		err = h.handshake()
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return h, nil
}

func (h *HTTP) handshake() error {
	_, err := h.Request("initialize", "", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"bench","version":"1"}`, h.era))
	if err != nil {
		return err
	}
	if h.session == "" {
		return errors.New("no session")
	}
	h.body = append(h.body[:0], `{"jsonrpc":"2.0","method":"notifications/initialized"}`...)
	_, err = h.exchange("notifications/initialized", "")
	return err
}

// Request sends one request, whose params have this inside, and returns the
// reply. name is the tool's or resource's where the method has one.
func (h *HTTP) Request(method, name, params string) ([]byte, error) {
	h.write(method, params)
	reply, err := h.exchange(method, name)
	if err == nil && (len(reply) == 0 || bytes.Contains(reply, []byte(`"error":{"code":-`))) {
		err = fmt.Errorf("%s: %s", method, reply)
	}
	return reply, err
}

func (h *HTTP) write(method, params string) {
	h.next++
	h.body = append(h.body[:0], `{"jsonrpc":"2.0","id":`...)
	h.body = strconv.AppendInt(h.body, h.next, 10)
	h.body = append(append(append(h.body, `,"method":"`...), method...), `","params":{`...)
	h.body = append(h.body, params...)
	if h.era == Modern {
		if params != "" {
			h.body = append(h.body, ',')
		}
		h.body = append(h.body, modernMeta...)
	}
	h.body = append(h.body, "}}"...)
}

func (h *HTTP) post(method, name string) error {
	h.head = fmt.Appendf(h.head[:0], "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\nAuthorization: Bearer %s\r\n",
		h.path, h.addr, len(h.body), h.token)
	if method != "initialize" {
		h.head = fmt.Appendf(h.head, "Mcp-Protocol-Version: %s\r\n", h.era)
	}
	if h.era == Modern {
		h.head = fmt.Appendf(h.head, "Mcp-Method: %s\r\n", method)
		if name != "" {
			h.head = fmt.Appendf(h.head, "Mcp-Name: %s\r\n", name)
		}
	}
	if h.session != "" {
		h.head = fmt.Appendf(h.head, "Mcp-Session-Id: %s\r\n", h.session)
	}
	h.head = append(append(h.head, "\r\n"...), h.body...)
	_, err := h.conn.Write(h.head)
	return err
}

// exchange sends the body and reads the whole reply.
func (h *HTTP) exchange(method, name string) ([]byte, error) {
	if err := h.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	if err := h.post(method, name); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(h.in, nil)
	if err != nil {
		return nil, err
	}
	reply, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %s: %s", method, res.Status, reply)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		h.session = id
	}
	return reply, nil
}

// Stream opens a request that stays open: subscriptions/listen, or for the
// handshake era the stream of a session. It returns the events' lines.
func (h *HTTP) Stream(params string) (*Stream, error) {
	var err error
	if h.era == Modern {
		h.write("subscriptions/listen", params)
		err = h.post("subscriptions/listen", "")
	} else {
		_, err = fmt.Fprintf(h.conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\nMcp-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n\r\n",
			h.path, h.addr, h.token, h.era, h.session)
	}
	if err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(h.in, nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("a stream: %s", res.Status)
	}
	return &Stream{conn: h.conn, in: bufio.NewReaderSize(res.Body, 1<<10)}, nil
}

// Stream is an open stream of events.
type Stream struct {
	conn net.Conn
	in   *bufio.Reader
}

// Until reads until a line contains text, until the time is over at the latest.
func (s *Stream) Until(text string, patience time.Duration) error {
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for {
		line, err := s.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("waiting for %q: %w", text, err)
		}
		if bytes.Contains(line, []byte(text)) {
			return nil
		}
	}
}

// Close ends the connection.
func (h *HTTP) Close() error { return h.conn.Close() }
