package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/task"
)

const (
	nextID query = `UPDATE users SET last_id = last_id + 1, last_row = last_row + 1, tasks = tasks + 1
  WHERE user_id = ?1 AND last_id < 9007199254740991 AND last_row & 4294967295 < 4294967295
  RETURNING last_id, last_row`
	addUser query = `INSERT INTO users (user_id, user_no, last_id, last_row, tasks)
  SELECT ?1, n, 0, n << 32, 0 FROM (SELECT coalesce(max(user_no), 0) + 1 AS n FROM users) WHERE true
  ON CONFLICT (user_id) DO NOTHING`
	addTask query = `INSERT INTO tasks (row, user_id, id, title, status, due, tags, created_at, updated_at)
  VALUES (?1, ?2, ?3, ?4, 'open', nullif(?5, ''), ?6, ?7, ?7)`
	addTag       query = `INSERT INTO task_tags (user_id, tag, row) VALUES (?1, ?2, ?3)`
	completeTask query = `UPDATE tasks SET status = 'done', updated_at = ?3, completed_at = ?3 WHERE user_id = ?1 AND id = ?2`
	deleteTask   query = `DELETE FROM tasks WHERE user_id = ?1 AND id = ?2`
	deleteTag    query = `DELETE FROM task_tags WHERE user_id = ?1 AND tag = ?2 AND row = ?3`
	oneTaskLess  query = `UPDATE users SET tasks = tasks - 1 WHERE user_id = ?1`

	taskColumns = `t.row, t.id, t.title, t.status, coalesce(t.due, ''), t.tags, t.created_at, t.updated_at, coalesce(t.completed_at, 0)`

	oneTask query = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.user_id = ?1 AND t.id = ?2`
)

// AddTask adds a task under the user's next id. It implements task.Store.
func (d *DB) AddTask(ctx context.Context, user string, draft task.Draft) (task.Task, error) {
	added := task.Task{Title: draft.Title.String(), Status: task.Open, Due: draft.Due, Tags: draft.Tags.Strings()}
	err := d.change(ctx, func(ctx context.Context, t *tx) error {
		row, err := t.claimID(ctx, user, &added.ID)
		if err != nil {
			return err
		}
		added.CreatedAt, added.UpdatedAt = t.at, t.at
		return t.addTask(ctx, user, row, &added)
	})
	if err != nil {
		return task.Task{}, err
	}
	return added, nil
}

// claimID takes the user's next id and row number for good.
func (t *tx) claimID(ctx context.Context, user string, id *int64) (row int64, err error) {
	err = t.conn.get(ctx, nextID, []any{user}, id, &row)
	if !errors.Is(err, sql.ErrNoRows) {
		return row, err
	}
	made, err := t.conn.exec(ctx, addUser, user)
	if err != nil {
		return 0, err
	}
	if n, err := made.RowsAffected(); err != nil || n == 0 {
		return 0, errors.Join(err, fault.New(fault.Unavailable, "every task id has been used; nothing was changed"))
	}
	return row, t.conn.get(ctx, nextID, []any{user}, id, &row)
}

func (t *tx) addTask(ctx context.Context, user string, row int64, a *task.Task) error {
	tags, err := json.Marshal(a.Tags)
	if err != nil {
		return err
	}
	if _, err := t.conn.exec(ctx, addTask, row, user, a.ID, a.Title, a.Due.String(), string(tags), a.CreatedAt.UnixMilli()); err != nil {
		return err
	}
	for _, tag := range a.Tags {
		if _, err := t.conn.exec(ctx, addTag, user, tag, row); err != nil {
			return err
		}
	}
	t.titles = append(t.titles, titleChange{row: row, title: a.Title})
	return t.noteChange(ctx, user, a.ID, task.Added)
}

// Task is the user's task with this id, or NotFound.
func (d *DB) Task(ctx context.Context, user string, id int64) (found task.Task, err error) {
	err = d.readers.read(ctx, func(c *conn) error {
		found, _, err = getTask(ctx, c, user, id)
		return err
	})
	return found, err
}

// CompleteTask marks the task done; on a done one it changes nothing.
func (d *DB) CompleteTask(ctx context.Context, user string, id int64) (done task.Task, err error) {
	err = d.change(ctx, func(ctx context.Context, t *tx) error {
		if done, _, err = getTask(ctx, t.conn, user, id); err != nil || done.Status == task.Done {
			return err
		}
		done.Status, done.UpdatedAt, done.CompletedAt = task.Done, t.at, t.at
		if _, err := t.conn.exec(ctx, completeTask, user, id, t.at.UnixMilli()); err != nil {
			return err
		}
		return t.noteChange(ctx, user, id, task.Completed)
	})
	if err != nil {
		return task.Task{}, err
	}
	return done, nil
}

// DeleteTask removes the task; with title set, only while it is called that
// (Declined otherwise).
func (d *DB) DeleteTask(ctx context.Context, user string, id int64, title string) error {
	return d.change(ctx, func(ctx context.Context, t *tx) error {
		old, row, err := getTask(ctx, t.conn, user, id)
		if err != nil {
			return err
		}
		if title != "" && title != old.Title {
			return fault.New(fault.Declined, "task %d is no longer called what the confirmation said; nothing was deleted", id)
		}
		if _, err := t.conn.exec(ctx, deleteTask, user, id); err != nil {
			return err
		}
		for _, tag := range old.Tags {
			if _, err := t.conn.exec(ctx, deleteTag, user, tag, row); err != nil {
				return err
			}
		}
		t.titles = append(t.titles, titleChange{row: row, title: old.Title, remove: true})
		if _, err = t.conn.exec(ctx, oneTaskLess, user); err != nil {
			return err
		}
		return t.noteChange(ctx, user, id, task.Deleted)
	})
}

// change makes a change and its entry on the record, both or neither.
func (d *DB) change(ctx context.Context, run func(context.Context, *tx) error) error {
	if d.writer == nil {
		return d.refuseChange()
	}
	p := audit.From(ctx)
	err := d.writer.do(ctx, func(ctx context.Context, t *tx) error {
		if err := run(ctx, t); err != nil {
			return err
		}
		return t.settle(ctx, p)
	})
	if err == nil && p != nil {
		p.Settle()
	}
	return err
}

func getTask(ctx context.Context, c *conn, user string, id int64) (task.Task, int64, error) {
	rows, err := c.rows(ctx, oneTask, user, id)
	if err != nil {
		return task.Task{}, 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return task.Task{}, 0, err
		}
		return task.Task{}, 0, fault.New(fault.NotFound, "no task %d", id)
	}
	return scanTask(rows)
}

func scanTask(rows *sql.Rows) (t task.Task, row int64, err error) {
	var due, tags string
	var created, updated, completed int64
	if err := rows.Scan(&row, &t.ID, &t.Title, &t.Status, &due, &tags, &created, &updated, &completed); err != nil {
		return t, 0, err
	}
	if due != "" {
		if t.Due, err = task.ParseDate("due", due); err != nil {
			return t, 0, damaged(err)
		}
	}
	t.Tags = []string{}
	if tags != "[]" {
		if err := json.Unmarshal([]byte(tags), &t.Tags); err != nil {
			return t, 0, damaged(err)
		}
	}
	t.CreatedAt, t.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	if completed != 0 {
		t.CompletedAt = time.UnixMilli(completed).UTC()
	}
	return t, row, nil
}

func damaged(cause error) error {
	return fault.Wrap(cause, fault.InvalidStore, "the task database is damaged")
}
