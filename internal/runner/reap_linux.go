package runner

import (
	"time"
)

// endRest ends whatever is alive below us, politely for the time of grace and
// then not. It returns how many processes that were. Nothing may be waiting for a
// child of ours, except a run that did not stop when it was told to.
func endRest(grace time.Duration) int {
	if childless() {
		return 0
	}
	n := 0
	if grace > 0 {
		n = signalAll(false)
		for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if childless() {
				return n
			}
		}
	}
	// Processes may start others as fast as we kill them, but not for ever: each
	// round kills all that there are.
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		n = max(n, signalAll(true))
		if childless() {
			break
		}
	}
	return n
}
