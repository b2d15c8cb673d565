// Package wire is the load generator's end of the pipes: a client of the stdio
// transport that owns as little as it can. It knows request lines and reply
// ids, looks no further into a reply than the caller asks it to, and keeps any
// number of requests in flight from one goroutine, so that what is measured is
// the server.
package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// Era is how a client speaks: with a handshake, or with metadata in each request.
type Era string

// The newest version of each way to speak.
const (
	Modern Era = "2026-07-28"
	Legacy Era = "2025-11-25"
)

// modernMeta is what every request of the modern era carries.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// Client is one running server. It is for one goroutine.
type Client struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	era  Era
	next int64
	buf  []byte
}

// Start runs a server with env added to the environment. Its stderr is dropped.
func Start(era Era, env []string, command string, args ...string) (*Client, error) {
	cmd := exec.Command(command, args...)
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Client{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 256<<10), era: era}, nil
}

// PID is the server's process.
func (c *Client) PID() int { return c.cmd.Process.Pid }

// Hello does the handshake where the era has one, waiting for its reply.
func (c *Client) Hello() error {
	if c.era == Modern {
		return nil
	}
	_, err := c.request("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"bench","version":"1"}`, c.era))
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

func (c *Client) line(method, params string) int64 {
	c.next++
	c.buf = append(c.buf, `{"jsonrpc":"2.0","id":`...)
	c.buf = strconv.AppendInt(c.buf, c.next, 10)
	c.buf = append(c.buf, `,"method":"`...)
	c.buf = append(c.buf, method...)
	c.buf = append(c.buf, `","params":{`...)
	c.buf = append(c.buf, params...)
	if c.era == Modern {
		if params != "" {
			c.buf = append(c.buf, ',')
		}
		c.buf = append(c.buf, modernMeta...)
	}
	c.buf = append(c.buf, "}}\n"...)
	return c.next
}

func (c *Client) flush() error {
	_, err := c.in.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// request sends one request and returns its reply line. The slice is the
// caller's.
func (c *Client) request(method, params string) ([]byte, error) {
	id := c.line(method, params)
	if err := c.flush(); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if got, ok := replyID(line); ok && got == id {
			return line, nil
		}
	}
}

// Request sends one request with the inside of its params, and returns the
// reply line; a protocol error is an error.
func (c *Client) Request(method, params string) ([]byte, error) {
	line, err := c.request(method, params)
	if err == nil && bytes.Contains(line, []byte(`"error":{"code":-`)) {
		err = fmt.Errorf("%s: %s", method, line)
	}
	return line, err
}

// Call is a tools/call with the object of its arguments.
func Call(tool, args string) string { return `"name":"` + tool + `","arguments":` + args }

// Load sends n calls, never more than inFlight at once, and returns how long
// each took, in the order of their replies. params gives the params of call i;
// every reply must contain must.
func (c *Client) Load(n, inFlight int, must string, params func(i int) string) ([]time.Duration, error) {
	return c.load(func(begun int) bool { return begun < n }, inFlight, must, params)
}

// LoadFor is Load with as many calls as begin within a time.
func (c *Client) LoadFor(during time.Duration, inFlight int, must string, params func(i int) string) ([]time.Duration, error) {
	end := time.Now().Add(during)
	return c.load(func(int) bool { return time.Now().Before(end) }, inFlight, must, params)
}

// load makes calls while more says so. Replies that make room for further calls
// are answered in one write, with as many as were buffered.
func (c *Client) load(more func(begun int) bool, inFlight int, must string, params func(i int) string) ([]time.Duration, error) {
	var sent []time.Time
	var took []time.Duration
	first := c.next + 1
	needle := []byte(must)
	for {
		fresh := len(sent)
		for len(sent)-len(took) < inFlight && more(len(sent)) {
			c.line("tools/call", params(len(sent)))
			sent = append(sent, time.Time{})
		}
		if len(took) == len(sent) {
			return took, nil
		}
		if len(c.buf) > 0 {
			now := time.Now()
			for i := fresh; i < len(sent); i++ {
				sent[i] = now
			}
			if err := c.flush(); err != nil {
				return nil, err
			}
		}
		for {
			line, err := c.readLine()
			if err != nil {
				return nil, err
			}
			if id, ok := replyID(line); ok {
				i := id - first
				if i < 0 || i >= int64(len(sent)) {
					return nil, fmt.Errorf("a reply to an unknown id: %s", line)
				}
				if !bytes.Contains(line, needle) {
					return nil, fmt.Errorf("a reply without %q: %s", must, line)
				}
				took = append(took, time.Since(sent[i]))
			}
			if c.out.Buffered() == 0 || len(took) == len(sent) {
				break
			}
			if rest, _ := c.out.Peek(c.out.Buffered()); bytes.IndexByte(rest, '\n') < 0 {
				break
			}
		}
	}
}

// readLine is valid until the next read.
func (c *Client) readLine() ([]byte, error) {
	line, err := c.out.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	rest, err := c.out.ReadBytes('\n')
	return append(whole, rest...), err
}

var (
	goHead = []byte(`{"jsonrpc":"2.0","id":`)
	idKey  = []byte(`"id":`)
)

// replyID reads the id of a reply: servers write it either at once after
// jsonrpc or at the very end, and a result between may hold ids of its own.
func replyID(line []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(line, goHead)
	if !ok {
		i := bytes.LastIndex(line, idKey)
		if i < 0 || bytes.Contains(line[:min(len(line), 80)], []byte(`"method":`)) {
			return 0, false
		}
		rest = line[i+len(idKey):]
	}
	var id int64
	digits := 0
	for ; digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
		id = id*10 + int64(rest[digits]-'0')
	}
	return id, digits > 0
}

// Close closes stdin and waits for the server, three seconds at most.
func (c *Client) Close() error {
	err := c.in.Close()
	kill := time.AfterFunc(3*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	_, _ = io.Copy(io.Discard, c.out)
	return errors.Join(err, c.cmd.Wait())
}
