//go:build unix

package taskfile

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// openProtocol gives cmd one end of a socket pair as its descriptor ProtocolFD,
// and a session of its own. started must be called after Start, whatever became
// of it.
func openProtocol(cmd *exec.Cmd) (pipe io.ReadWriteCloser, started func(), err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_ = syscall.Close(fds[0])
		_ = syscall.Close(fds[1])
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "runner"), os.NewFile(uintptr(fds[1]), "server")
	cmd.ExtraFiles = []*os.File{theirs}
	// A session has no terminal: nothing in it can ask a person behind our back.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return ours, func() { _ = theirs.Close() }, nil
}

// kill ends the runner and everything below it, now.
func (p *runnerProcess) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid := p.cmd.Process.Pid
	// Stopped, it starts nothing and still adopts what its children leave. The
	// signal fails where the process has been waited for and the number may be
	// another's.
	if p.gone || p.cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return
	}
	killBelow(pid)
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = p.cmd.Process.Kill()
}

// sweep ends what a runner that is gone without an answer has left. It must be
// called after exited is closed.
func (p *runnerProcess) sweep() {
	for range 50 {
		left := strays(p.cmd.Process.Pid, p.id)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
