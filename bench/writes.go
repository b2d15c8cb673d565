package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"handrail/internal/audit"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
)

const (
	user    = "local"
	rawArgs = `{"title":"call the plumber about the order","tags":["home"]}`
)

// titleAt is the title of a task number i: seven words of a small vocabulary,
// so that each stands in many titles, as the words of real titles do.
func titleAt(i int) string {
	words := strings.Fields("the report meeting about project review team update call plan budget write send draft notes client design release")
	var b strings.Builder
	x := uint64(i)*0x9e3779b97f4a7c15 + 1
	for range 7 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteString(words[x%uint64(len(words))])
		b.WriteByte(' ')
	}
	return fmt.Sprintf("%s%d", b.String(), i)
}

func draftOf(title string) (task.Draft, error) {
	t, err := task.ParseTitle(title)
	if err != nil {
		return task.Draft{}, err
	}
	tags, err := task.ParseTags([]string{"home"})
	return task.Draft{Title: t, Tags: tags}, err
}

// callers runs add from so many goroutines for a while and returns the calls a
// second that were acknowledged.
func callers(ctx context.Context, n int, during time.Duration, add func(i int) error) (float64, error) {
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		count atomic.Int64
		fail  atomic.Pointer[error]
	)
	begun := time.Now()
	for range n {
		wg.Go(func() {
			for time.Since(begun) < during && ctx.Err() == nil && fail.Load() == nil {
				if err := add(int(next.Add(1))); err != nil {
					fail.Store(&err)
					return
				}
				count.Add(1)
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begun).Seconds()
	if err := fail.Load(); err != nil {
		return 0, *err
	}
	return float64(count.Load()) / elapsed, ctx.Err()
}

// measureWrites compares the store with what a careful author would write
// without group commit, each on a database of its own.
func measureWrites(l *lab) ([]row, error) {
	var rows []row
	during := time.Duration(l.pick(1000, 50)) * time.Millisecond
	for _, n := range []int{1, 8, 64} {
		store, err := sqlite.Open(l.ctx, filepath.Join(l.dir, fmt.Sprintf("group-%d.db", n)), sqlite.Options{})
		if err != nil {
			return nil, err
		}
		plain, err := openPlain(l.ctx, filepath.Join(l.dir, fmt.Sprintf("plain-%d.db", n)))
		if err != nil {
			return nil, errors.Join(err, store.Close())
		}
		got, err := l.turns(l.pick(9, 1), func() (float64, error) {
			return callers(l.ctx, n, during, func(i int) error {
				d, err := draftOf(titleAt(i))
				if err != nil {
					return err
				}
				pending := audit.NewPending(user, "add_task", "", []byte(rawArgs), time.Now)
				_, err = store.AddTask(audit.With(l.ctx, pending), user, d)
				return err
			})
		}, func() (float64, error) {
			return callers(l.ctx, n, during, func(i int) error { return plain.add(l.ctx, titleAt(i)) })
		})
		if err := errors.Join(err, store.Close(), plain.close()); err != nil {
			return nil, err
		}
		r := row{what: fmt.Sprintf("durable add_task with its record, at the store, %d callers", n), beside: "one FULL transaction a call, same tables", unit: "/s", ours: got[0], base: got[1]}
		switch n {
		case 8:
			r.target = atLeast(2)
		case 64:
			r.target = atLeast(4)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// plainStore writes the tables of the store with prepared statements, one
// transaction a call, callers taking turns.
type plainStore struct {
	mu    sync.Mutex
	pool  *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

const (
	sqlBegin  = `BEGIN IMMEDIATE`
	sqlCommit = `COMMIT`
	sqlNextID = `UPDATE users SET last_id = last_id + 1, last_row = last_row + 1, tasks = tasks + 1 WHERE user_id = ?1 RETURNING last_id, last_row`
	sqlTask   = `INSERT INTO tasks (row, user_id, id, title, status, tags, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, 'open', '["home"]', ?5, ?5)`
	sqlTag    = `INSERT INTO task_tags (user_id, tag, row) VALUES (?1, 'home', ?2)`
	sqlIndex  = `INSERT INTO task_titles (rowid, title) VALUES (?1, ?2)`
	sqlHead   = `SELECT seq, pos, hash FROM audit_log WHERE user_id = ?1 ORDER BY pos DESC LIMIT 1`
	sqlEntry  = `INSERT INTO audit_log (seq, at, user_id, pos, call_id, tool, outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash)
  VALUES (?1, ?2, ?3, ?4, '', 'add_task', 'ok', '', ?5, ?6, ?7, 10, ?8, ?9)`
)

// openPlain lets the store make the file and its first task, then opens it anew.
func openPlain(ctx context.Context, path string) (*plainStore, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	d, err := draftOf("the first")
	if err == nil {
		pending := audit.NewPending(user, "add_task", "", []byte(rawArgs), time.Now)
		_, err = store.AddTask(audit.With(ctx, pending), user, d)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	p := &plainStore{stmts: map[string]*sql.Stmt{}}
	if p.pool, err = sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(2)&_pragma=temp_store(2)&_pragma=cache_size(-8000)"); err != nil {
		return nil, err
	}
	if p.conn, err = p.pool.Conn(ctx); err != nil {
		return nil, err
	}
	for _, q := range []string{sqlBegin, sqlCommit, sqlNextID, sqlTask, sqlTag, sqlIndex, sqlHead, sqlEntry} {
		if p.stmts[q], err = p.conn.PrepareContext(ctx, q); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

func (p *plainStore) close() error { return errors.Join(p.conn.Close(), p.pool.Close()) }

func (p *plainStore) add(ctx context.Context, title string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var id, row, seq, pos int64
	var prev string
	now := time.Now()
	if _, err := p.stmts[sqlBegin].ExecContext(ctx); err != nil {
		return err
	}
	if err := p.stmts[sqlNextID].QueryRowContext(ctx, user).Scan(&id, &row); err != nil {
		return err
	}
	if _, err := p.stmts[sqlTask].ExecContext(ctx, row, user, id, title, now.UnixMilli()); err != nil {
		return err
	}
	if _, err := p.stmts[sqlTag].ExecContext(ctx, user, row); err != nil {
		return err
	}
	if _, err := p.stmts[sqlIndex].ExecContext(ctx, row, title); err != nil {
		return err
	}
	if err := p.stmts[sqlHead].QueryRowContext(ctx, user).Scan(&seq, &pos, &prev); err != nil {
		return err
	}
	sum, ok := audit.ParseHash(prev)
	if !ok {
		return fmt.Errorf("the hash %q cannot be read", prev)
	}
	e := audit.Entry{Seq: seq + 1, At: now, User: user, Tool: "add_task", Outcome: audit.OK, Duration: 10 * time.Microsecond}
	e.SetArgs([]byte(rawArgs))
	e.Chain(&audit.Entry{Pos: pos, Sum: sum})
	if _, err := p.stmts[sqlEntry].ExecContext(ctx, e.Seq, e.At.Format("2006-01-02T15:04:05.000000Z"), user, e.Pos,
		string(e.Args), e.ArgsBytes, e.ArgsSum.String(), e.Prev.String(), e.Sum.String()); err != nil {
		return err
	}
	_, err := p.stmts[sqlCommit].ExecContext(ctx)
	return err
}
