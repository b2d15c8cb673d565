package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Server is a program to start.
type Server struct {
	// Path and Args are the program and its arguments, without its name.
	Path string
	Args []string
	// Dir is its working directory; empty means ours.
	Dir string
	// Without names environment variables that it does not inherit from us; Env
	// are others, NAME=value.
	Without, Env []string
	// Stderr takes its log; nil drops it.
	Stderr io.Writer
}

func (s Server) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.Path, s.Args...)
	cmd.Dir = s.Dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(s.Without, name)
	}), s.Env...)
	return cmd
}

// Process is a server that listens.
type Process struct {
	// URL is where.
	URL string

	cmd  *exec.Cmd
	over chan error // how it ended
}

// The patience with a server that listens.
const (
	startPatience = 20 * time.Second
	stopPatience  = 15 * time.Second
)

// Launch starts a server that listens, and waits until a line of its log says
// where: find returns the URL, or nothing where the line is about something
// else. The server ends when ctx does, or with Stop.
func Launch(ctx context.Context, s Server, find func(line []byte) string) (*Process, error) {
	cmd := s.command(ctx)
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	p := &Process{cmd: cmd, over: make(chan error, 1)}
	found := make(chan string, 1)
	go func() {
		lines(log, func(line []byte) {
			if s.Stderr != nil {
				s.Stderr.Write(append(line, '\n'))
			}
			if url := find(line); url != "" {
				select {
				case found <- url:
				default:
				}
			}
		})
		p.over <- cmd.Wait()
	}()
	select {
	case p.URL = <-found:
		return p, nil
	case err := <-p.over:
		if err == nil {
			err = errors.New("it ended")
		}
		return nil, fmt.Errorf("starting %s: %w", s.Path, err)
	case <-time.After(startPatience):
		return nil, errors.Join(fmt.Errorf("starting %s: it did not listen within %v", s.Path, startPatience), p.kill())
	}
}

// Stop asks the server to end, as an operator does, and waits until it has. The
// error says that it did not, or not in order.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return p.kill() // Windows has no way to ask
	}
	select {
	case err := <-p.over:
		if err != nil {
			return fmt.Errorf("ending the server: %w", err)
		}
		return nil
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("the server did not end within %v", stopPatience), p.kill())
	}
}

// kill ends the server at once; how it ends then says nothing.
func (p *Process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.over
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
