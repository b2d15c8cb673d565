package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode/utf8"

	"handrail/internal/task"
)

// scanRows is how many rows a search reads before it asks the index. A common
// word fills its page within them, and few rows are read faster than the index.
const scanRows = 2000

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
	needle, index := lower(text), indexQuery(text)
	until := min(last, from+scan)
	if index == "" {
		until = last
	}
	list, _, err := collect(ctx, c, limit, scanTitles, user, from, until, needle, limit)
	if err != nil || len(list) == limit || until == last {
		return list, err
	}
	rest, _, err := collect(ctx, c, limit, findTitles, user, until, last, needle, limit-len(list), index)
	return append(list, rest...), err
}

// maxTrigrams is how many sequences of three characters the index is asked
// for. More would exclude little more and each has a list to be walked.
const maxTrigrams = 4

// indexQuery asks the index for rows that could match: those that contain
// sequences of three characters of the text. It is empty where the index
// cannot tell. The index folds more than ASCII, so that it never misses a row.
func indexQuery(text string) string {
	runes := []rune(text)
	if len(runes) < 3 || !utf8.ValidString(text) {
		return ""
	}
	var b strings.Builder
	for n, i := range spread(len(runes)-2, maxTrigrams) {
		if n > 0 {
			b.WriteString(" AND ")
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(string(runes[i:i+3]), `"`, `""`))
		b.WriteByte('"')
	}
	return b.String()
}

// spread chooses at most most of the places 0 to n-1, evenly, the ends included.
func spread(n, most int) []int {
	count := min(n, most)
	places := make([]int, count)
	for i := range places {
		if count > 1 {
			places[i] = i * (n - 1) / (count - 1)
		}
	}
	return places
}
