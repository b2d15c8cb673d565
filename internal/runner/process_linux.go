package runner

import (
	"golang.org/x/sys/unix"

	"handrail/internal/taskfile"
)

// becomeReaper makes this process the parent of every process below it whose own
// parent has gone, also of those that left our group and session.
func becomeReaper() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// childless reaps what has ended, and reports whether nothing is alive below us.
// It may be called only when nobody waits for a child in particular.
func childless() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return true // ECHILD
		case pid == 0:
			return false
		}
	}
}

// signalAll asks every process below us to end, or kills it.
func signalAll(kill bool) int {
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	n := 0
	for _, pid := range taskfile.Descendants(unix.Getpid()) {
		if unix.Kill(pid, sig) == nil {
			n++
		}
	}
	return n
}
