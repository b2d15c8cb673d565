package taskfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"handrail/internal/fault"
)

// Bounds on what a runner may take and say.
const (
	helloTimeout = 20 * time.Second // a cold disk and a busy machine
	largestReply = 64 << 20
	crashTail    = 8 << 10
)

// runnerProcess is one runner that has been started and greeted.
type runnerProcess struct {
	cmd    *exec.Cmd
	pipe   io.ReadWriteCloser // the server's end of the protocol
	in     *bufio.Reader
	id     string // the mark in its environment
	exited chan struct{}
	said   *crashText

	mu   sync.Mutex
	gone bool
	err  error // of Wait
}

// spec is what a runner is started with. Without streams what it prints is thrown
// away, but for the end of it, which tells of a crash.
type spec struct {
	path, dir, id string
	env           []string
	stdout        *os.File
	stderr        *os.File
}

// start starts a runner and waits for its greeting, as long as the context allows.
// Its faults are Unavailable, in one sentence that says what to do, and the
// context's error.
func start(ctx context.Context, sp spec) (*runnerProcess, error) {
	env := make([]string, 0, len(sp.env)+3)
	for _, entry := range sp.env {
		if name, _, _ := strings.Cut(entry, "="); RuntimeVars[name] == "" {
			env = append(env, entry)
		}
	}
	for name, value := range RuntimeVars {
		env = append(env, name+"="+value)
	}
	cmd := &exec.Cmd{Path: sp.path, Args: []string{sp.path}, Dir: sp.dir, Env: append(env, RunVar+"="+sp.id)}
	said := &crashText{}
	if sp.stdout != nil {
		cmd.Stdout, cmd.Stderr = sp.stdout, sp.stderr
	} else {
		cmd.Stderr, cmd.WaitDelay = said, time.Second
	}
	pipe, started, err := openProtocol(cmd)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the runner cannot be started")
	}
	if err := cmd.Start(); err != nil {
		started()
		_ = pipe.Close()
		return nil, fault.Wrap(err, fault.Unavailable, "%s cannot be started: %s", RunnerName, plainError(err))
	}
	started()
	p := &runnerProcess{cmd: cmd, pipe: pipe, in: bufio.NewReaderSize(pipe, 64<<10), id: sp.id, said: said, exited: make(chan struct{})}
	go p.wait()
	abandon := context.AfterFunc(ctx, p.kill)
	silent := time.AfterFunc(helloTimeout, p.kill)
	err = p.greet()
	silent.Stop()
	if !abandon() {
		err = ctx.Err()
	}
	if err != nil {
		p.kill()
		p.close()
		return nil, err
	}
	return p, nil
}

// plainError is a system's error without the path it is about.
func plainError(err error) string {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

func (p *runnerProcess) wait() {
	err := p.cmd.Wait()
	p.mu.Lock()
	p.gone, p.err = true, err
	p.mu.Unlock()
	close(p.exited)
}

// greet reads the runner's first line and compares versions.
func (p *runnerProcess) greet() error {
	line, err := p.line(1 << 10)
	var hello Hello
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	switch {
	case err != nil || hello.Runner != RunnerName:
		return fault.Wrap(err, fault.Unavailable, "the %s that was found does not answer as one; install handrail and %s together", RunnerName, RunnerName)
	case hello.Protocol < ProtocolVersion:
		return fault.New(fault.Unavailable, "the %s that was found is older than this handrail (protocol %d, not %d); install both from one release", RunnerName, hello.Protocol, ProtocolVersion)
	case hello.Protocol > ProtocolVersion:
		return fault.New(fault.Unavailable, "the %s that was found is newer than this handrail (protocol %d, not %d); install both from one release", RunnerName, hello.Protocol, ProtocolVersion)
	}
	return nil
}

// line reads one line of at most so many bytes.
func (p *runnerProcess) line(most int) ([]byte, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > most {
			return nil, fmt.Errorf("a line of more than %d bytes", most)
		}
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// order sends the runner its order.
func (p *runnerProcess) order(o Order, env []string) error {
	o.Protocol = ProtocolVersion
	o.Env = map[string]string{}
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); RuntimeVars[name] != "" {
			o.Env[name] = value
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = p.pipe.Write(append(text, '\n'))
	return err
}

// reply reads the runner's answer. An end without one is a crash.
func (p *runnerProcess) reply() (Reply, error) {
	var r Reply
	line, err := p.line(largestReply)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	return r, d.Decode(&r)
}

// stop tells the runner to end what it does. It is safe at any time.
func (p *runnerProcess) stop() { _, _ = p.pipe.Write([]byte{'\n'}) }

// close releases the protocol. The process must have been told to end before.
func (p *runnerProcess) close() {
	<-p.exited
	_ = p.pipe.Close()
}

// exchange starts a runner for an order that runs nothing, and returns its
// answer within the context's time.
func exchange(ctx context.Context, sp spec, o Order) (Reply, error) {
	p, err := start(ctx, sp)
	if err != nil {
		return Reply{}, err
	}
	defer p.close()
	abandon := context.AfterFunc(ctx, p.kill)
	defer abandon()
	if err := p.order(o, sp.env); err != nil {
		p.kill()
		return Reply{}, fault.Wrap(err, fault.Unavailable, "the runner did not take its order")
	}
	reply, err := p.reply()
	if ctx.Err() != nil {
		return Reply{}, ctx.Err()
	}
	if err != nil {
		p.kill()
		<-p.exited
		return Reply{}, fault.Wrap(errors.Join(err, p.err, p.said.err()), fault.Unavailable, "the runner ended without an answer")
	}
	if reply.Refused != nil {
		return Reply{}, fault.New(fault.Code(reply.Refused.Code), "%s", reply.Refused.Message)
	}
	return reply, nil
}

// crashText keeps the end of what a runner that runs nothing prints.
type crashText struct {
	mu   sync.Mutex
	text []byte
}

func (c *crashText) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, p...)
	if len(c.text) > crashTail {
		c.text = append(c.text[:0], c.text[len(c.text)-crashTail:]...)
	}
	return len(p), nil
}

func (c *crashText) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.text) == 0 {
		return nil
	}
	return errors.New(CleanText(string(c.text)))
}
