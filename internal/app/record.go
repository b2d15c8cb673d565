package app

import (
	"context"
	"io"
	"time"

	"handrail/internal/audit"
	"handrail/internal/store/sqlite"
)

// Record is a record that is open for reading.
type Record interface {
	audit.Reader
	io.Closer
}

// OpenRecord opens the record in a database for reading. It never creates,
// migrates or writes the file. Faults: Unavailable where there is none,
// InvalidStore where it is no database of ours.
func OpenRecord(ctx context.Context, path string, now func() time.Time) (Record, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true, Now: now})
	if err != nil {
		return nil, err
	}
	return db, nil
}
