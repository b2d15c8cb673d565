// Package actor owns the answer to "who is calling?". It refuses to know how a
// caller proved it: transports do that and hand an Actor on.
package actor

// Local is the user of stdio and of the command line: the person whose process
// it is. Over HTTP nobody is Local unless a token says so.
const Local = "local"

// Actor is a caller. The zero value is nobody and may do nothing.
type Actor struct {
	// User names whose data the call may touch; never empty for a real caller.
	User string
}

// LocalUser is the actor of every stdio and command-line call.
func LocalUser() Actor { return Actor{User: Local} }

// Known reports whether the actor is somebody at all.
func (a Actor) Known() bool { return a.User != "" }
