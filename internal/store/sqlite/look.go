package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"handrail/internal/fault"
)

type kind int

const (
	kindEmpty    kind = iota // no table yet
	kindOurs                 // a layout of this program, up to its newest
	kindOriginal             // a database of one of the replaced servers
)

// finding is what a look at the file showed.
type finding struct {
	missing bool
	kind    kind
	version int64
	layout  layout // of an original
}

// smallestFile is the smallest page that SQLite has.
const smallestFile = 512

// look says what the file is without writing to it or beside it. A file that
// cannot be used is an error that says why.
func look(ctx context.Context, f file, opt Options) (finding, error) {
	for try := 0; ; try++ {
		before, err := f.mark()
		if err != nil {
			return finding{missing: true}, nil
		}
		// SQLite takes an empty file for a database that has no table yet.
		if before.size == 0 && !before.wal && !before.journal {
			return finding{}, nil
		}
		// A shorter one it overwrites; whatever that is, it is no database.
		if before.size < smallestFile && !before.wal && !before.journal {
			return finding{}, fault.New(fault.InvalidStore, "the file %q is not an intact SQLite database; it was left as it is", f.given)
		}
		var found finding
		err = untilFree(ctx, opt.BusyTimeout, func() (err error) {
			found, err = lookOnce(ctx, f, opt, before)
			return err
		})
		// A file that changed under a look without locks is looked at again.
		if after, markErr := f.mark(); (markErr != nil || after != before) && !before.wal && try < 20 {
			continue
		}
		return found, openFault(err, f)
	}
}

func lookOnce(ctx context.Context, f file, opt Options, m mark) (finding, error) {
	// Where a write-ahead log lies beside the file, what it holds counts. Else
	// nobody needs locks, and a look without them leaves nothing behind. A
	// rollback journal may be hot: the transaction that opens the file for
	// writing rolls it back and then looks again.
	mode := readStill
	if m.wal {
		mode = readShared
	}
	c, err := dial(ctx, f.dsn(mode, opt.BusyTimeout))
	if err != nil {
		return finding{}, err
	}
	found, err := classify(ctx, c, f)
	return found, errors.Join(err, c.close())
}

// openFault is the one sentence that a failed start says.
func openFault(err error, f file) error {
	var known *fault.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Of(err)
	case isBroken(err):
		return fault.Wrap(err, fault.InvalidStore, "the file %q is not an intact SQLite database; it was left as it is", f.given)
	case isBusy(err):
		return fault.Wrap(err, fault.Unavailable, "the database %q was kept busy by another process", f.given)
	}
	return fault.Wrap(err, fault.Unavailable, "the database %q cannot be opened: %v", f.given, err)
}

const (
	readUserVersion   query = `PRAGMA user_version`
	readApplicationID query = `PRAGMA application_id`
	readSchema        query = `SELECT type, name, tbl_name FROM sqlite_schema ORDER BY rowid`
	beginImmediate    query = `BEGIN IMMEDIATE`
	commit            query = `COMMIT`
	rollback          query = `ROLLBACK`
	useWAL            query = `PRAGMA journal_mode = WAL`
	syncFull          query = `PRAGMA synchronous = FULL`
	// From here on the writer waits for locks by itself: see begin.
	tuneWriter query = `PRAGMA busy_timeout = 0; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8000`
)

// object is a line of sqlite_schema.
type object struct{ kind, name, table string }

func objects(ctx context.Context, c *conn) ([]object, error) {
	rows, err := c.rows(ctx, readSchema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []object
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// classify says what the database is, as the connection sees it now.
func classify(ctx context.Context, c *conn, f file) (finding, error) {
	var version, application int64
	if err := c.get(ctx, readUserVersion, nil, &version); err != nil {
		return finding{}, err
	}
	if err := c.get(ctx, readApplicationID, nil, &application); err != nil {
		return finding{}, err
	}
	all, err := objects(ctx, c)
	if err != nil {
		return finding{}, err
	}
	switch {
	case version > schemaVersion():
		return finding{}, fault.New(fault.InvalidStore,
			"the database %q has schema version %d, and this program knows versions up to %d; use a newer one", f.given, version, schemaVersion())
	case version > 0:
		if application != applicationID || !haveTables(all) {
			return finding{}, fault.New(fault.InvalidStore, "the database %q belongs to another program; it was left as it is", f.given)
		}
		return finding{kind: kindOurs, version: version}, nil
	case version < 0 || application != 0:
		return finding{}, fault.New(fault.InvalidStore, "the database %q belongs to another program; it was left as it is", f.given)
	case len(all) == 0:
		return finding{kind: kindEmpty}, nil
	}
	layout, err := recognise(ctx, c, f, all)
	return finding{kind: kindOriginal, layout: layout}, err
}

func haveTables(all []object) bool {
	found := 0
	for _, want := range ourTables {
		for _, o := range all {
			if o.kind == "table" && o.name == want {
				found++
			}
		}
	}
	return found == len(ourTables)
}

// prepareFile opens the one connection that writes, with the newest layout in
// the file. What the file is, is decided again inside the write transaction: a
// second process that starts at the same time waits there, and then finds the
// work done.
func prepareFile(ctx context.Context, f file, opt Options, found finding) (*conn, error) {
	if found.missing {
		if err := f.create(); err != nil {
			return nil, err
		}
	}
	c, err := dial(ctx, f.dsn(readWrite, opt.BusyTimeout))
	if err != nil {
		return nil, openFault(err, f)
	}
	if err := prepareSchema(ctx, c, f, opt, found); err != nil {
		if isReadOnly(err) {
			_ = c.close()
			return nil, err
		}
		return nil, openFault(errors.Join(err, c.close()), f)
	}
	return c, nil
}

func prepareSchema(ctx context.Context, c *conn, f file, opt Options, found finding) error {
	// Even these read the file, and meet the lock of a process that starts beside.
	if err := untilFree(ctx, opt.BusyTimeout, func() error { return c.script(ctx, syncFull) }); err != nil {
		return err
	}
	if found.kind != kindOurs || found.version < schemaVersion() {
		if err := upgrade(ctx, c, f, opt); err != nil {
			return err
		}
	}
	if err := untilFree(ctx, opt.BusyTimeout, func() error {
		var mode string
		return c.raw.QueryRowContext(ctx, string(useWAL)).Scan(&mode)
	}); err != nil {
		return err
	}
	return untilFree(ctx, opt.BusyTimeout, func() error { return c.script(ctx, tuneWriter) })
}

// upgrade brings the file to the newest layout in one transaction.
func upgrade(ctx context.Context, c *conn, f file, opt Options) (err error) {
	if err := begin(ctx, c, opt.BusyTimeout); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.script(context.WithoutCancel(ctx), rollback)
		}
	}()
	found, err := classify(ctx, c, f)
	if err != nil {
		return err
	}
	var told error
	if found.kind == kindOriginal {
		if told, err = migrateOriginal(ctx, c, f, opt, found.layout); err != nil {
			return err
		}
	} else {
		for _, next := range migrations[found.version:] {
			if err := c.script(ctx, next); err != nil {
				return err
			}
		}
	}
	if err := c.script(ctx, commit); err != nil {
		return err
	}
	if told != nil {
		opt.Report(told)
	}
	return nil
}

// begin starts a write transaction, waiting for other processes at most for
// patience. It asks again every millisecond or two, which is fairer among
// processes than SQLite's own waiting, whose pauses grow to 100 ms.
func begin(ctx context.Context, c *conn, patience time.Duration) error {
	return untilFree(ctx, patience, func() error {
		_, err := c.exec(ctx, beginImmediate)
		return err
	})
}

func untilFree(ctx context.Context, patience time.Duration, try func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(300*time.Microsecond + rand.N(1500*time.Microsecond)):
		}
	}
}
