// Package sqlite owns the one file that holds the tasks and the record: its
// schema, its durability and how several processes share it. It knows no
// protocol and no tool, and nobody outside sees its SQL.
//
// One goroutine writes. It commits everything that waits in one transaction,
// each change in a savepoint of its own, and answers after the commit: eight
// callers share one sync of the disk. Readers have connections of their own
// that cannot write. docs/adr/0010 says why.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"

	"handrail/internal/fault"
)

// DefaultBusyTimeout is how long a change waits for another process's
// transaction before it is Unavailable.
const DefaultBusyTimeout = 15 * time.Second

// Options are the zero value for a server's database.
type Options struct {
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Report is told what the operator must know, such as a record that could
	// not be kept; nil tells nobody. It may be called from any goroutine.
	Report func(error)
	// ReadOnly never writes, creates or migrates the file.
	ReadOnly bool
	// BusyTimeout bounds the wait for another process; zero is
	// DefaultBusyTimeout.
	BusyTimeout time.Duration
}

// DB is an open database. It is a task.Store, an audit.Log and an audit.Reader,
// and safe for any number of goroutines.
type DB struct {
	opt      Options
	file     file
	readers  *pool
	shelf    shelf
	writer   *writer // nil where the file can only be read
	watch    watch
	silenced atomic.Bool
	closing  sync.Once
	closeErr error
}

// syncData makes a commit wait for the data and the size of the file, not for
// its time stamps: as durable, and about twice as fast on ext4. Where the
// platform has no such call, the driver goes on as it was.
var syncData = sync.OnceFunc(func() { _, _ = driver.Fdatasync(true) })

// Open opens the database at path, taken literally, and creates it where there
// is none. The file is looked at before anything opens it for writing: one that
// is no database, has an unknown layout or a newer schema is refused untouched
// with InvalidStore. A database of one of the replaced servers is migrated.
// Where the file or its folder cannot be written, the database opens for
// reading only and Report is told. Unavailable: no such folder, no permission,
// or another process did not let go in time.
func Open(ctx context.Context, path string, opt Options) (*DB, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Report == nil {
		opt.Report = func(error) {}
	}
	if opt.BusyTimeout <= 0 {
		opt.BusyTimeout = DefaultBusyTimeout
	}
	syncData()
	f, err := locate(path)
	if err != nil {
		return nil, err
	}
	found, err := look(ctx, f, opt)
	if err != nil {
		return nil, err
	}
	d := &DB{opt: opt, file: f}
	if opt.ReadOnly || (!found.missing && !f.writable()) {
		return d.openReadOnly(ctx, found)
	}
	err = d.openForWriting(ctx, found)
	if isReadOnly(err) {
		return d.openReadOnly(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *DB) openForWriting(ctx context.Context, found finding) error {
	c, err := prepareFile(ctx, d.file, d.opt, found)
	if err != nil {
		return err
	}
	d.writer = startWriter(c, d.file, d.opt)
	d.readers = newPool(d.file, d.opt, false)
	d.readers.prepare()
	return nil
}

func (d *DB) openReadOnly(ctx context.Context, found finding) (*DB, error) {
	switch {
	case found.missing && !d.opt.ReadOnly:
		return nil, fault.New(fault.Unavailable, "the database %q cannot be created: its folder cannot be written", d.file.given)
	case found.missing:
		return nil, fault.New(fault.Unavailable, "there is no database %q", d.file.given)
	case found.kind == kindEmpty:
		return nil, fault.New(fault.InvalidStore, "the database %q is empty and cannot be written", d.file.given)
	case found.kind != kindOurs || found.version < schemaVersion():
		return nil, fault.New(fault.InvalidStore, "the database %q has an older layout, and bringing it up to date needs a file and folder that can be written", d.file.given)
	}
	d.readers = newPool(d.file, d.opt, true)
	return d, nil
}

// Close commits what is queued and lets go of the file. It may be called more
// than once.
func (d *DB) Close() error {
	d.closing.Do(func() {
		d.readers.close()
		if d.writer != nil {
			d.closeErr = d.writer.close()
		}
	})
	return d.closeErr
}

// ReadOnly reports whether the file could only be opened for reading: lists and
// searches answer, changes are Unavailable, and nothing is recorded.
func (d *DB) ReadOnly() bool { return d.writer == nil }

// cannotRecord tells the operator once that calls leave no record.
func (d *DB) cannotRecord() {
	if !d.opt.ReadOnly && d.silenced.CompareAndSwap(false, true) {
		d.opt.Report(fmt.Errorf("the database %q can only be read: calls are answered and not recorded", d.file.given))
	}
}

var errReadOnly = errors.New("the database file is read-only")

func (d *DB) refuseChange() error {
	d.cannotRecord()
	return fault.Wrap(errReadOnly, fault.Unavailable, "the task database can only be read; nothing was changed")
}
