//go:build unix && !linux

package runner

import (
	"os/signal"
	"syscall"
	"time"
)

// becomeReaper does nothing: only Linux can adopt processes that left the group.
func becomeReaper() {}

// signalAll asks every process of our group to end. It cannot kill the group
// without ending us too: the server does that when we have answered.
func signalAll(kill bool) int {
	if kill {
		return 0
	}
	signal.Ignore(syscall.SIGTERM)
	_ = syscall.Kill(0, syscall.SIGTERM)
	signal.Reset(syscall.SIGTERM)
	return 0
}

// endRest leaves the group to the server.
func endRest(time.Duration) int { return 0 }
