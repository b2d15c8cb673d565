package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"handrail/internal/task"
)

// scanRows is how many rows a search reads before it asks the index. A common
// word fills its page within them, and few rows are read faster than the index.
const scanRows = 500

const (
	place query = `SELECT last_row, ` + afterRow + ` FROM users WHERE user_id = ?1`

	// Both compare as LIKE does, ASCII letters in either case, without its
	// wildcards: lower() leaves every other character alone.
	scanTitles query = `SELECT ` + taskColumns + ` FROM tasks t NOT INDEXED
  WHERE t.row > ?2 AND t.row <= ?3 AND t.user_id = ?1 AND instr(lower(t.title), ?4) > 0 ORDER BY t.row LIMIT ?5`
	findTitles query = `SELECT ` + taskColumns + ` FROM task_titles f CROSS JOIN tasks t ON t.row = f.rowid
  WHERE f.task_titles MATCH ?6 AND f.rowid > ?2 AND f.rowid <= ?3 AND t.user_id = ?1 AND instr(lower(t.title), ?4) > 0
  ORDER BY f.rowid LIMIT ?5`
)

// SearchTasks is a page of the user's tasks whose title contains the query, by
// id.
func (d *DB) SearchTasks(ctx context.Context, user string, q task.Query, page task.Page) (list []task.Task, more bool, err error) {
	limit := pageLimit(page)
	err = d.readers.read(ctx, func(c *conn) error {
		list, err = search(ctx, c, user, q.String(), page.After, limit+1, scanRows)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	list, more = cut(list, limit)
	return list, more, nil
}

// search reads scan rows one by one and leaves the rest to the index.
func search(ctx context.Context, c *conn, user, text string, after int64, limit int, scan int64) ([]task.Task, error) {
	var last, from int64
	switch err := c.get(ctx, place, []any{user, after}, &last, &from); {
	case errors.Is(err, sql.ErrNoRows):
		return []task.Task{}, nil
	case err != nil:
		return nil, err
	}
	needle := lower(text)
	grams := trigrams(needle)
	until := min(last, from+scan)
	if len(grams) == 0 {
		until = last
	}
	list, _, err := collect(ctx, c, limit, scanTitles, user, from, until, needle, limit)
	if err != nil || len(list) == limit || until == last {
		return list, err
	}
	index, err := indexQuery(ctx, c, user, from, until, grams)
	if err != nil {
		return nil, err
	}
	rest, _, err := collect(ctx, c, limit, findTitles, user, until, last, needle, limit-len(list), index)
	return append(list, rest...), err
}
