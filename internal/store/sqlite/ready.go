package sqlite

import "context"

const readyQuery query = `SELECT 1`

// Ready reports whether the database answers.
func (d *DB) Ready(ctx context.Context) error {
	return d.readers.read(ctx, func(c *conn) error {
		var one int64
		return c.get(ctx, readyQuery, nil, &one)
	})
}
