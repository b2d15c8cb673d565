package cli

import "runtime/debug"

const (
	// gcPercent lets the heap grow to five times what lives. Decoding a message
	// allocates some 32 KB, and a server's live heap is so small that it would
	// collect all the time: pipelined calls are 1.7 times as many with this.
	gcPercent = 400
	// softMemory is where the collector works harder again, in bytes.
	softMemory = 256 << 20
)

// tuneMemory sets the garbage collector up for serving, unless the person who
// started the program did (GOGC, GOMEMLIMIT).
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}
