//go:build unix

package runner

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"handrail/internal/taskfile"
)

// stopSignals end a run.
var stopSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// notifyPipe catches SIGPIPE, which would end us when the server stops reading.
func notifyPipe(c chan os.Signal) { signal.Notify(c, syscall.SIGPIPE) }

// manyFDs is more than a program has open when it starts another.
const manyFDs = 1 << 10

// openPipe takes over the protocol's descriptor. It is a socket, which nobody can
// open once more through /proc, and no child inherits it.
func openPipe() (io.ReadWriter, error) {
	if _, err := syscall.GetsockoptInt(taskfile.ProtocolFD, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil {
		return nil, errors.New("there is no server")
	}
	// Nor anything that the server's own parent has left open by mistake.
	for fd := taskfile.ProtocolFD; fd < manyFDs; fd++ {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(taskfile.ProtocolFD, "protocol"), nil
}
