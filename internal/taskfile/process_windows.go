package taskfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// twoPipes is a protocol over a pipe for each direction.
type twoPipes struct {
	r, w *os.File
}

func (t twoPipes) Read(p []byte) (int, error)  { return t.r.Read(p) }
func (t twoPipes) Write(p []byte) (int, error) { return t.w.Write(p) }
func (t twoPipes) Close() error                { return errors.Join(t.r.Close(), t.w.Close()) }

func inheritable(f *os.File) (syscall.Handle, error) {
	h := syscall.Handle(f.Fd())
	return h, syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT)
}

// openProtocol gives cmd the two handles of the protocol by number.
func openProtocol(cmd *exec.Cmd) (pipe io.ReadWriteCloser, started func(), err error) {
	orderR, orderW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	replyR, replyW, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, orderR.Close(), orderW.Close())
	}
	in, err := inheritable(orderR)
	out, err2 := inheritable(replyW)
	if err := errors.Join(err, err2); err != nil {
		return nil, nil, err
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d,%d", PipesVar, in, out))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		AdditionalInheritedHandles: []syscall.Handle{in, out},
		CreationFlags:              syscall.CREATE_NEW_PROCESS_GROUP,
	}
	return twoPipes{replyR, orderW}, func() { _ = orderR.Close(); _ = replyW.Close() }, nil
}

// kill ends the runner; its job ends everything below it.
func (p *runnerProcess) kill() { _ = p.cmd.Process.Kill() }

// sweep has nothing to do: the job ended with the runner.
func (p *runnerProcess) sweep() {}

// Descendants is nothing: the job knows them.
func Descendants(int) []int { return nil }

// groupsEnd says that the job ends everything.
const groupsEnd = true
