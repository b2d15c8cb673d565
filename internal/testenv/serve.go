package testenv

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"
)

// patience is how long a server may take to start or to stop before that is
// called a hang.
const patience = 30 * time.Second

// Server is handrail serving over HTTP, as a process of its own.
type Server struct {
	// URL is where the protocol is served, ending in /mcp, and Addr its HOST:PORT.
	URL, Addr string

	t      testing.TB
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone

	mu  sync.Mutex
	log bytes.Buffer
}

// listening is the line of the log that says where.
var listening = regexp.MustCompile(`"msg":"listening","url":"(http://([^/"]+)/mcp)"`)

// Serve starts `handrail PRESET --http` with these arguments in the folder dir,
// on a free port of this machine, or where arguments say. env is added to the
// environment. It returns once the server listens, and ends it with the test.
func Serve(t testing.TB, dir string, env []string, preset string, args ...string) *Server {
	t.Helper()
	words := append([]string{preset, "--http"}, args...)
	s := &Server{t: t, cmd: exec.Command(Binary(t), words...), exited: make(chan struct{})}
	s.cmd.Dir = dir
	s.cmd.Env = append(append(os.Environ(), "HANDRAIL_LISTEN=127.0.0.1:0"), env...)
	s.cmd.Stderr = s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.cmd.Wait(); close(s.exited) }()
	t.Cleanup(s.Kill)
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if m := listening.FindStringSubmatch(s.Log()); m != nil {
			s.URL, s.Addr = m[1], m[2]
			return s
		}
		select {
		case <-s.exited:
			t.Fatalf("handrail %s ended at its start:\n%s", preset, s.Log())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("handrail %s does not listen:\n%s", preset, s.Log())
		}
	}
}

// Write takes what the server prints to stderr.
func (s *Server) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

// Log is what the server has printed to stderr.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Signal tells the server to stop, as a person with Ctrl-C does, and returns at
// once. Where there is no such signal the test is left out.
func (s *Server) Signal() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		LeftOut(s.t, "a process cannot be interrupted here: "+err.Error())
	}
}

// Wait waits until the process is gone and returns its exit status.
func (s *Server) Wait() int {
	s.t.Helper()
	select {
	case <-s.exited:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.t.Fatalf("the server does not stop:\n%s", s.Log())
		return 0
	}
}

// Kill ends the process at once, if it is still there.
func (s *Server) Kill() {
	// It fails where the process is gone already, which is all that is asked.
	_ = s.cmd.Process.Kill()
	<-s.exited
}
