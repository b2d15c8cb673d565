// Package fault owns the vocabulary of what can go wrong, as callers see it: a
// small set of codes, a sentence for the caller and a cause for the operator.
// It knows no protocol, no store and no tool.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Code is the machine-readable half of a fault, one word of the wire contract.
type Code string

// The codes of the wire contract, complete.
const (
	// InvalidInput: an argument is missing, unknown, given twice, of the wrong
	// type, out of bounds, or a path that the sandbox refuses.
	InvalidInput Code = "invalid_input"
	// NotFound: no such task, note or folder for this user.
	NotFound Code = "not_found"
	// Conflict: it is there already, or it changed since it was read.
	Conflict Code = "conflict"
	// ConfirmationRequired: a destroying call came without the confirmation that
	// policy asks for.
	ConfirmationRequired Code = "confirmation_required"
	// Declined: the person said no, closed the dialog, or the confirmation was
	// stale or made for another call.
	Declined Code = "declined"
	// TooLarge: over a configured size.
	TooLarge Code = "too_large"
	// InvalidStore: a data file cannot be understood; it is left as it is.
	InvalidStore Code = "invalid_store"
	// Unavailable: the store or a lock could not be had in time; nothing was
	// changed and the call may be tried again.
	Unavailable Code = "unavailable"
	// Timeout: the call's deadline passed.
	Timeout Code = "timeout"
	// Cancelled: the caller gave up.
	Cancelled Code = "cancelled"
	// TaskFailed: a Taskfile task ran and failed.
	TaskFailed Code = "task_failed"
	// Internal: anything else. The caller gets a generic sentence and a
	// reference; the operator's log has the cause beside the same reference.
	Internal Code = "internal_error"
)

// Fault is an error that a caller may see. Message is for the caller and holds
// no absolute path, no SQL and no stack; the wrapped cause is for the operator.
type Fault struct {
	Code    Code
	Message string
	cause   error
}

// New makes a fault with no cause beyond its message.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault that keeps cause for the operator: the caller sees only
// the message.
func Wrap(cause error, code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), cause: cause}
}

// Error is the operator's view: code, message and cause.
func (f *Fault) Error() string {
	if f.cause == nil {
		return fmt.Sprintf("%s: %s", f.Code, f.Message)
	}
	return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.cause)
}

// Unwrap returns the cause, or nil.
func (f *Fault) Unwrap() error { return f.cause }

// Of finds the fault in err's chain. An expired or cancelled context is Timeout
// or Cancelled; any other error without a fault is Internal, with err as its
// cause and an empty message. Of(nil) is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(err, Timeout, "the call took longer than its deadline; nothing was changed unless the record says so")
	case errors.Is(err, context.Canceled):
		return Wrap(err, Cancelled, "the caller gave up")
	}
	return Wrap(err, Internal, "")
}

// CodeOf is the code that Of would find, and "" for nil.
func CodeOf(err error) Code {
	if f := Of(err); f != nil {
		return f.Code
	}
	return ""
}
