package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"handrail/internal/task"
)

// scanRows is how many titles are all compared: the index is not asked faster.
const scanRows = 256

const (
	place query = `SELECT last_row, ` + afterRow + `, user_no << 32, tasks, ` + indexVersion + ` FROM users WHERE user_id = ?1`

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
		list, err = search(ctx, c, &d.shelf, user, q.String(), page.After, limit+1, scanRows)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	list, more = cut(list, limit)
	return list, more, nil
}

// search looks into the copy of the list on the shelf, where one serves. Else it
// compares every title where there are at most scan. Else it tastes the list, and either compares the titles that the index names, or, where the text
// is in so many titles that reading them is faster, first those at the front.
func search(ctx context.Context, c *conn, s *shelf, user, text string, after int64, limit int, scan int64) ([]task.Task, error) {
	var last, from, first, count int64
	var version string
	switch err := c.get(ctx, place, []any{user, after}, &last, &from, &first, &count, &version); {
	case errors.Is(err, sql.ErrNoRows):
		return []task.Task{}, nil
	case err != nil:
		return nil, err
	}
	needle := lower(text)
	if s != nil && count <= copiedTasks {
		t, copy := s.get(user, version)
		if copy {
			var err error
			if t, err = readTitles(ctx, c, user, first, last, version); err != nil {
				return nil, err
			}
			s.put(user, version, t)
		}
		if t != nil {
			return t.search(ctx, c, user, needle, from, limit)
		}
	}
	grams := trigrams(needle)
	if len(grams) == 0 || last-from <= scan {
		list, _, err := collect(ctx, c, limit, scanTitles, user, from, last, needle, limit)
		return list, err
	}
	t, err := tasted(ctx, c, user, from, last)
	if err != nil {
		return nil, err
	}
	front := make([]task.Task, 0, min(limit, 64))
	if rows := t.front(needle, limit); rows > 0 && scan > 0 {
		until := min(from+rows, last)
		front, _, err = collect(ctx, c, limit, scanTitles, user, from, until, needle, limit)
		if err != nil || len(front) == limit || until == last {
			return front, err
		}
		from = until
	}
	index := ask(t.choose(grams, t.reach(needle, limit, last-from)))
	rest, _, err := collect(ctx, c, limit, findTitles, user, from, last, needle, limit-len(front), index)
	return append(front, rest...), err
}
