package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/task"
)

const (
	// The old tables are set aside whole, so that dropping them takes their
	// indices and triggers along, whatever those are called.
	setTasksAside query = `CREATE TEMP TABLE old_tasks AS SELECT * FROM tasks ORDER BY id`
	setTagsAside  query = `CREATE TEMP TABLE old_tags AS SELECT * FROM task_tags ORDER BY rowid`
	setAuditAside query = `CREATE TEMP TABLE old_audit AS SELECT rowid AS old_number, * FROM audit_log ORDER BY rowid`
	dropTasks     query = `DROP TABLE tasks`
	dropTags      query = `DROP TABLE task_tags`
	dropAudit     query = `DROP TABLE audit_log`
	dropAside     query = `DROP TABLE IF EXISTS temp.old_tasks; DROP TABLE IF EXISTS temp.old_tags; DROP TABLE IF EXISTS temp.old_audit`

	readSequence query = `SELECT seq FROM sqlite_sequence WHERE name = 'tasks'`
	readOldTasks query = `SELECT rowid, * FROM temp.old_tasks WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`
	readOldTags  query = `SELECT rowid, * FROM temp.old_tags WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`
	readOldAudit query = `SELECT * FROM temp.old_audit WHERE old_number > ?1 ORDER BY rowid LIMIT ?2`

	copyTask query = `INSERT INTO tasks (row, user_id, id, title, status, due, tags, created_at, updated_at, completed_at)
  VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, ''), ?7, ?8, ?9, nullif(?10, 0))`
	copyUser  query = `INSERT INTO users (user_no, user_id, last_id, last_row, tasks) VALUES (?1, ?2, ?3, ?4, ?5)`
	countRows query = `SELECT (SELECT count(*) FROM tasks), (SELECT count(*) FROM audit_log)`
)

// migration moves an original's rows into the tables of this program.
type migration struct {
	conn   *conn
	file   file
	layout layout
	now    time.Time

	high  int64 // the highest id ever given out, as far as the file says
	users map[string]*movedUser
	order []*movedUser
	tags  map[int64][]string
	tasks int64
	calls int64
}

type movedUser struct {
	name              string
	no, lastID, tasks int64
}

// migrateOriginal runs inside the write transaction; its error leaves the file
// as it was. What it returns beside the error is for the operator.
func migrateOriginal(ctx context.Context, c *conn, f file, opt Options, l layout) (error, error) {
	m := &migration{conn: c, file: f, layout: l, now: opt.Now().UTC(), users: map[string]*movedUser{}, tags: map[int64][]string{}}
	for _, step := range []func(context.Context) error{m.setAside, m.moveTags, m.moveTasks, m.moveUsers, m.moveAudit, m.check} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return fmt.Errorf("the database %q of an earlier program was migrated: %d tasks and %d entries of its record were kept", f.given, m.tasks, m.calls), nil
}

// setAside replaces the old tables by the newest layout.
func (m *migration) setAside(ctx context.Context) error {
	if m.layout.sequence {
		if err := m.conn.get(ctx, readSequence, nil, &m.high); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	steps := []query{setTasksAside, dropTasks}
	if len(m.layout.tags) > 0 {
		steps = append(steps, setTagsAside, dropTags)
	}
	if len(m.layout.audit) > 0 {
		steps = append(steps, setAuditAside, dropAudit)
	}
	for _, q := range append(steps, migrations...) {
		if err := m.conn.script(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// eachRow reads a table that was set aside, a part at a time, so that nothing
// is being read while rows are written.
func (m *migration) eachRow(ctx context.Context, q query, c columns, do func(number int64, r record) error) error {
	const part = 500
	for after := int64(-1 << 63); ; {
		numbers, records, err := m.readPart(ctx, q, c, after, part)
		if err != nil {
			return err
		}
		for i, r := range records {
			if err := do(numbers[i], r); err != nil {
				return err
			}
			after = numbers[i]
		}
		if len(records) < part {
			return nil
		}
	}
}

func (m *migration) readPart(ctx context.Context, q query, c columns, after int64, part int) (numbers []int64, records []record, err error) {
	rows, err := m.conn.rows(ctx, q, after, part)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		r, err := scanRecord(rows.Scan, &number, c)
		if err != nil {
			return nil, nil, err
		}
		numbers, records = append(numbers, number), append(records, r)
	}
	return numbers, records, rows.Err()
}

func (m *migration) refuse(what string, number any, err error) error {
	return fault.New(fault.InvalidStore, "the database %q cannot be migrated: %s %v %v; it was left as it is", m.file.given, what, number, err)
}

func (m *migration) moveTags(ctx context.Context) error {
	if len(m.layout.tags) == 0 {
		return nil
	}
	return m.eachRow(ctx, readOldTags, m.layout.tags, func(number int64, r record) error {
		id, ok := r[roleTask].(int64)
		tag, err := originalText(r[roleTag])
		if !ok || err != nil {
			return m.refuse("the tag in line", number, errors.New("is not understood"))
		}
		m.tags[id] = append(m.tags[id], tag)
		return nil
	})
}

func (m *migration) moveTasks(ctx context.Context) error {
	m.user(actor.Local)
	return m.eachRow(ctx, readOldTasks, m.layout.tasks, func(_ int64, r record) error {
		t, name, err := m.task(r)
		if err != nil {
			return m.refuse("task", r[roleID], err)
		}
		u := m.user(name)
		if t.ID <= u.lastID {
			return m.refuse("task", t.ID, errors.New("has an id that is there twice"))
		}
		u.lastID = t.ID
		u.tasks++
		m.tasks++
		row := u.no<<32 | u.tasks
		tags, err := json.Marshal(t.Tags)
		if err != nil {
			return err
		}
		completed := int64(0)
		if !t.CompletedAt.IsZero() {
			completed = t.CompletedAt.UnixMilli()
		}
		if _, err := m.conn.exec(ctx, copyTask, row, name, t.ID, t.Title, string(t.Status), t.Due.String(), string(tags),
			t.CreatedAt.UnixMilli(), t.UpdatedAt.UnixMilli(), completed); err != nil {
			return err
		}
		for _, tag := range t.Tags {
			if _, err := m.conn.exec(ctx, addTag, name, tag, row); err != nil {
				return err
			}
		}
		_, err = m.conn.exec(ctx, indexTitle, row, t.Title)
		return err
	})
}

func (m *migration) user(name string) *movedUser {
	u := m.users[name]
	if u == nil {
		u = &movedUser{name: name, no: int64(len(m.order) + 1)}
		m.users[name] = u
		m.order = append(m.order, u)
	}
	return u
}

// task is the task in a row and whose it is. A time that the original did not
// keep is the one before it in a task's life; a time of completion that nobody
// kept stays unknown.
func (m *migration) task(r record) (t task.Task, user string, err error) {
	id, ok := r[roleID].(int64)
	if !ok || id < 1 || id > task.MaxID {
		return t, "", errors.New("has an id that is no number from 1 to 2^53-1")
	}
	t.ID = id
	if t.Title, err = originalText(r[roleTitle]); err != nil {
		return t, "", fmt.Errorf("has a title that %w", err)
	}
	done, err := originalDone(r)
	if err != nil {
		return t, "", err
	}
	if t.Due, err = originalDate(r[roleDue]); err != nil {
		return t, "", err
	}
	if t.Tags, err = originalTags(r[roleTags]); err != nil {
		return t, "", err
	}
	t.Tags = fold(append(t.Tags, m.tags[id]...))
	for _, x := range []struct {
		from role
		to   *time.Time
	}{{roleCreated, &t.CreatedAt}, {roleUpdated, &t.UpdatedAt}, {roleCompleted, &t.CompletedAt}} {
		if *x.to, err = originalTime(r[x.from]); err != nil {
			return t, "", err
		}
	}
	if t.CreatedAt.IsZero() {
		t.CreatedAt = m.now
	}
	if t.Status = task.Open; done {
		t.Status = task.Done
	} else {
		t.CompletedAt = time.Time{}
	}
	if t.UpdatedAt.IsZero() {
		t.UpdatedAt = t.CreatedAt
		if t.CompletedAt.After(t.CreatedAt) {
			t.UpdatedAt = t.CompletedAt
		}
	}
	user, err = originalUser(r)
	return t, user, err
}

func originalUser(r record) (string, error) {
	if r[roleUser] == nil || r[roleUser] == "" {
		return actor.Local, nil
	}
	name, err := originalText(r[roleUser])
	if err != nil {
		return "", fmt.Errorf("has a user that %w", err)
	}
	return name, nil
}

// moveUsers keeps for every user the highest id that the file ever gave out.
func (m *migration) moveUsers(ctx context.Context) error {
	for _, u := range m.order {
		if _, err := m.conn.exec(ctx, copyUser, u.no, u.name, max(u.lastID, m.high), u.no<<32|u.tasks, u.tasks); err != nil {
			return err
		}
	}
	return nil
}

// moveAudit makes the old record the beginning of the chains, with its own
// numbers, times, outcomes and arguments.
func (m *migration) moveAudit(ctx context.Context) error {
	if len(m.layout.audit) == 0 {
		return nil
	}
	heads := map[string]*audit.Entry{}
	return m.eachRow(ctx, readOldAudit, m.layout.audit, func(number int64, r record) error {
		e, err := originalEntry(r)
		if err == nil && number < 1 {
			err = errors.New("has a number below 1")
		}
		if err != nil {
			return m.refuse("entry", number, err)
		}
		e.Seq = number
		e.Chain(heads[e.User])
		heads[e.User] = &audit.Entry{Pos: e.Pos, Sum: e.Sum}
		m.calls++
		return insert(ctx, m.conn, &e)
	})
}

func originalEntry(r record) (e audit.Entry, err error) {
	if e.User, err = originalUser(r); err != nil {
		return e, err
	}
	if e.Tool, err = originalText(r[roleTool]); err != nil {
		return e, fmt.Errorf("has a tool that %w", err)
	}
	outcome, err := originalText(r[roleOutcome])
	if err != nil {
		return e, fmt.Errorf("has an outcome that %w", err)
	}
	e.Outcome = audit.Outcome(outcome)
	if e.At, err = originalTime(r[roleAt]); err != nil {
		return e, err
	}
	var args []byte
	switch v := r[roleArgs].(type) {
	case nil:
	case string:
		args = []byte(v)
	case []byte:
		args = v
	default:
		return e, errors.New("has arguments that are no text")
	}
	// All of them are kept, also where the original's cap was above ours.
	e.SetArgs(args)
	e.Args = args
	if code, ok := r[roleCode].(string); ok {
		e.Code = code
	}
	if ms, ok := r[roleDuration].(int64); ok {
		e.Duration = time.Duration(ms) * time.Millisecond
	}
	return e, nil
}

// check counts what arrived before the transaction commits.
func (m *migration) check(ctx context.Context) error {
	var tasks, calls int64
	if err := m.conn.get(ctx, countRows, nil, &tasks, &calls); err != nil {
		return err
	}
	if tasks != m.tasks || calls != m.calls {
		return fmt.Errorf("migration kept %d of %d tasks and %d of %d entries", tasks, m.tasks, calls, m.calls)
	}
	return m.conn.script(ctx, dropAside)
}
