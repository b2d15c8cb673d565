package sqlite

import (
	"context"

	"handrail/internal/task"
)

const (
	pageOfAll query = `SELECT ` + taskColumns + ` FROM tasks t
  WHERE t.user_id = ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3`

	matches = ` AND (?4 = '' OR t.status = ?4) AND (?5 = '' OR t.due >= ?5) AND (?6 = '' OR t.due <= ?6) `
	// afterRow is the row behind which a page begins that begins behind an id.
	afterRow = `coalesce((SELECT row FROM tasks WHERE user_id = ?1 AND id <= ?2 ORDER BY id DESC LIMIT 1),
  (SELECT user_no << 32 FROM users WHERE user_id = ?1))`

	pageOfMatching query = `SELECT ` + taskColumns + ` FROM tasks t NOT INDEXED
  WHERE t.row > ` + afterRow + ` AND t.row <= (SELECT last_row FROM users WHERE user_id = ?1) AND t.user_id = ?1` +
		matches + `ORDER BY t.row LIMIT ?3`
	pageOfOpen query = `SELECT ` + taskColumns + ` FROM tasks t INDEXED BY tasks_open
  WHERE t.user_id = ?1 AND t.status = 'open' AND t.row > ` + afterRow +
		matches + `ORDER BY t.row LIMIT ?3`
	pageOfTagged query = `SELECT ` + taskColumns + ` FROM task_tags g CROSS JOIN tasks t ON t.row = g.row AND t.user_id = ?1
  WHERE g.user_id = ?1 AND g.tag = ?7 AND g.row > ` + afterRow +
		matches + `ORDER BY g.row LIMIT ?3`
)

// Tasks is a page of the user's tasks that the filter chooses, by id.
func (d *DB) Tasks(ctx context.Context, user string, f task.Filter, page task.Page) (list []task.Task, more bool, err error) {
	limit := pageLimit(page)
	err = d.readers.read(ctx, func(c *conn) error {
		// One more than asked for tells whether there are further ones.
		args := []any{user, page.After, limit + 1}
		matching := append(args, string(f.Status), f.DueAfter.String(), f.DueBefore.String())
		switch {
		case f.Tag != "":
			list, _, err = collect(ctx, c, limit+1, pageOfTagged, append(matching, f.Tag)...)
		case f.Status == task.Open:
			list, _, err = collect(ctx, c, limit+1, pageOfOpen, matching...)
		case f != task.Filter{}:
			list, _, err = collect(ctx, c, limit+1, pageOfMatching, matching...)
		default:
			list, _, err = collect(ctx, c, limit+1, pageOfAll, args...)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	list, more = cut(list, limit)
	return list, more, nil
}

func pageLimit(p task.Page) int {
	if p.Limit <= 0 {
		return task.DefaultLimit
	}
	return min(p.Limit, task.MaxLimit)
}

func cut(list []task.Task, limit int) ([]task.Task, bool) {
	if len(list) > limit {
		return list[:limit], true
	}
	return list, false
}

// collect reads the tasks of a query, and the last one's row.
func collect(ctx context.Context, c *conn, size int, q query, args ...any) (list []task.Task, last int64, err error) {
	rows, err := c.rows(ctx, q, args...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	list = make([]task.Task, 0, min(size, 64))
	for rows.Next() {
		t, row, err := scanTask(rows)
		if err != nil {
			return nil, 0, err
		}
		list, last = append(list, t), row
	}
	return list, last, rows.Err()
}

// lower changes ASCII letters alone, as SQLite's lower() does.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
