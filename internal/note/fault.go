package note

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"handrail/internal/fault"
)

// asFault turns what the file system said about one path into a fault. path is
// relative to the root, as the caller gave it; faults and ends of the context
// pass as they are.
func asFault(err error, path string) error {
	var known *fault.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, fault.NotFound, "there is no %q", path)
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(err, fault.Unavailable, "the file system does not permit this for %q; nothing was changed", path)
	case isNameTooLong(err):
		return fault.Wrap(err, fault.InvalidInput, "path: is longer than this file system allows")
	case isNoSpace(err):
		return fault.Wrap(err, fault.Unavailable, "no space is left for %q; nothing was changed", path)
	case isReadOnly(err):
		return fault.Wrap(err, fault.Unavailable, "the notes folder is on a read-only file system; nothing was changed")
	}
	return fault.Wrap(err, fault.Internal, "")
}

// errSwapped says that a name did not hold still between being checked and
// being opened. The walk is then done again, so a caller sees it only if that
// never ends.
var errSwapped = errors.New("note: replaced while being opened")

// maxRetries bounds how often a walk is repeated because of errSwapped.
const maxRetries = 100

// retry runs try until it no longer says errSwapped.
func retry(ctx context.Context, path string, try func() error) error {
	for i := range maxRetries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i > 10 { // somebody is busy with it: give them a moment
			time.Sleep(time.Duration(i) * 100 * time.Microsecond)
		}
		if err := try(); !errors.Is(err, errSwapped) {
			return asFault(err, path)
		}
	}
	return fault.Wrap(errSwapped, fault.Unavailable,
		"%q is being replaced over and over; nothing was changed, try again", path)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
