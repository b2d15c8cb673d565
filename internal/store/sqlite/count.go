package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

const countTasks query = `SELECT tasks, (SELECT count(*) FROM tasks WHERE user_id = ?1 AND status = 'open') FROM users WHERE user_id = ?1`

// CountTasks is how many tasks the user has, open and done.
func (d *DB) CountTasks(ctx context.Context, user string) (open, done int64, err error) {
	err = d.readers.read(ctx, func(c *conn) error {
		var all int64
		err := c.get(ctx, countTasks, []any{user}, &all, &open)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		done = all - open
		return err
	})
	return open, done, err
}
