package sqlite

import (
	"context"

	"handrail/internal/task"
)

// SearchScanning searches with another number of rows read before the index is
// asked: 0 asks it for everything that it can answer, a large one never.
func (d *DB) SearchScanning(ctx context.Context, user string, q task.Query, limit int, rows int64) (list []task.Task, err error) {
	err = d.readers.read(ctx, func(c *conn) error {
		list, err = search(ctx, c, user, q.String(), 0, limit, rows)
		return err
	})
	return list, err
}

// MaxQueued is how many entries wait before Queue blocks.
const MaxQueued = maxQueued
