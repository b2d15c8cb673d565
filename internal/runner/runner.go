// Package runner owns what handrail-runner does: it reads Taskfiles with the
// go-task library, says what can be set and where it lands, and runs one task
// and leaves nothing alive. It is the only package that knows go-task and a
// shell. It knows nothing of tools, protocols of callers, or users: it gets one
// order from the server that started it, answers with one line, and ends.
package runner
