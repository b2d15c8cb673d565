package runner

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"handrail/internal/taskfile"
)

var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func notifyPipe(chan os.Signal) {}

// openPipe takes over the two handles that the server had us inherit, and puts
// this process into a job that ends with it.
func openPipe() (io.ReadWriter, error) {
	in, out, ok := strings.Cut(os.Getenv(taskfile.PipesVar), ",")
	if !ok {
		return nil, errors.New("there is no server")
	}
	r, err := handle(in)
	if err != nil {
		return nil, err
	}
	w, err := handle(out)
	if err != nil {
		return nil, err
	}
	if err := endWithUs(); err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Writer
	}{os.NewFile(r, "orders"), os.NewFile(w, "replies")}, nil
}

// handle parses an inherited handle and keeps it from being inherited further.
func handle(text string) (uintptr, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, err
	}
	h := windows.Handle(n)
	return uintptr(n), windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, 0)
}

// endWithUs makes Windows kill every process below us when this one ends. The
// job's only handle is ours and is never closed before.
func endWithUs() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

// The job does the rest when this process ends.
func becomeReaper()             {}
func signalAll(bool) int        { return 0 }
func endRest(time.Duration) int { return 0 }
