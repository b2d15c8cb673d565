package sqlite

import (
	"context"
	"errors"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"handrail/internal/fault"
)

// resultCode is SQLite's primary result code in err, or -1 for another error.
func resultCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return -1
}

func isBusy(err error) bool {
	c := resultCode(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// isReadOnly reports whether the file or its folder cannot be written.
func isReadOnly(err error) bool {
	c := resultCode(err)
	return c == lib.SQLITE_READONLY || c == lib.SQLITE_CANTOPEN
}

func isBroken(err error) bool {
	c := resultCode(err)
	return c == lib.SQLITE_NOTADB || c == lib.SQLITE_CORRUPT
}

// asFault says what an error of the store means for the caller. Faults and the
// ends of contexts stay what they are; nothing was changed in any case.
func asFault(err error) error {
	var f *fault.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Of(err)
	case isBroken(err):
		return fault.Wrap(err, fault.InvalidStore, "the task database is damaged; nothing was changed")
	case isBusy(err):
		return fault.Wrap(err, fault.Unavailable, "another process kept the task database busy; nothing was changed, try again")
	}
	return fault.Wrap(err, fault.Unavailable, "the task database could not be used; nothing was changed, try again")
}
