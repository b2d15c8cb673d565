package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"time"
	"unicode/utf8"

	"handrail/internal/audit"
)

// maxHeads bounds the ends of chains that are remembered between transactions.
const maxHeads = 4096

// tx is the write transaction of the moment. It remembers the end of each
// user's chain as long as no other connection has written.
type tx struct {
	conn *conn
	now  func() time.Time

	version int64 // PRAGMA data_version for which the rest holds
	lastSeq int64
	heads   map[string]audit.Entry // Pos and Sum only; Pos 0 for no entry
	undo    []headChange           // of the savepoint
	titles  []titleChange          // to be indexed at the end

	at time.Time
}

type headChange struct {
	user  string
	head  audit.Entry
	known bool
	seq   int64
}

// titleChange is a line of the search index to be added or removed.
type titleChange struct {
	row    int64
	title  string
	remove bool
}

func newTx(c *conn, now func() time.Time) *tx {
	return &tx{conn: c, now: now, heads: map[string]audit.Entry{}, version: -1}
}

const (
	readDataVersion query = `PRAGMA data_version`
	readLastSeq     query = `SELECT coalesce(max(seq), 0) FROM audit_log`
	readHead        query = `SELECT pos, hash FROM audit_log WHERE user_id = ?1 ORDER BY pos DESC LIMIT 1`
	insertEntry     query = `INSERT INTO audit_log
  (seq, at, user_id, pos, call_id, tool, outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`
	openSavepoint  query = `SAVEPOINT one`
	closeSavepoint query = `RELEASE one`
	undoSavepoint  query = `ROLLBACK TO one`
	indexTitle     query = `INSERT INTO task_titles (rowid, title) VALUES (?1, ?2)`
	unindexTitle   query = `INSERT INTO task_titles (task_titles, rowid, title) VALUES ('delete', ?1, ?2)`
)

func (t *tx) begin(ctx context.Context, patience time.Duration) error {
	if err := begin(ctx, t.conn, patience); err != nil {
		return err
	}
	t.at = t.now().UTC().Truncate(time.Millisecond)
	t.titles = t.titles[:0]
	if err := t.refresh(ctx); err != nil {
		t.abandon(ctx)
		return err
	}
	return nil
}

// refresh forgets the ends of the chains if another connection has written.
func (t *tx) refresh(ctx context.Context) error {
	var version int64
	if err := t.conn.get(ctx, readDataVersion, nil, &version); err != nil {
		return err
	}
	if version == t.version && len(t.heads) < maxHeads {
		return nil
	}
	clear(t.heads)
	t.version = -1
	if err := t.conn.get(ctx, readLastSeq, nil, &t.lastSeq); err != nil {
		return err
	}
	t.version = version
	return nil
}

// abandon rolls the transaction back and forgets what it remembered.
func (t *tx) abandon(ctx context.Context) {
	t.version = -1
	// Fails where SQLite has rolled back by itself; there is then nothing to do.
	_, _ = t.conn.exec(ctx, rollback)
}

// commit brings the search index up to date and commits.
func (t *tx) commit(ctx context.Context) error {
	err := t.indexTitles(ctx)
	if err == nil {
		_, err = t.conn.exec(ctx, commit)
	}
	if err != nil {
		t.abandon(ctx)
	}
	return err
}

func (t *tx) indexTitles(ctx context.Context) error {
	for _, c := range t.titles {
		q := indexTitle
		if c.remove {
			q = unindexTitle
		}
		if _, err := t.conn.exec(ctx, q, c.row, c.title); err != nil {
			return err
		}
	}
	return nil
}

// alone runs one change in a savepoint: its error rolls back nothing else.
func (t *tx) alone(ctx context.Context, run func(context.Context, *tx) error) error {
	if _, err := t.conn.exec(ctx, openSavepoint); err != nil {
		return err
	}
	titles := len(t.titles)
	t.undo = t.undo[:0]
	err := run(ctx, t)
	if err != nil {
		t.titles = t.titles[:titles]
		t.forget()
		if _, undoErr := t.conn.exec(ctx, undoSavepoint); undoErr != nil {
			return errors.Join(err, undoErr)
		}
	}
	_, releaseErr := t.conn.exec(ctx, closeSavepoint)
	return errors.Join(err, releaseErr)
}

// forget takes back what the savepoint did to the ends of the chains.
func (t *tx) forget() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		c := t.undo[i]
		t.lastSeq = c.seq
		if c.known {
			t.heads[c.user] = c.head
		} else {
			delete(t.heads, c.user)
		}
	}
}

// settle puts the entry of the running call, if there is one, into the
// transaction: the call is on the record as done, or it is not done.
func (t *tx) settle(ctx context.Context, p *audit.Pending) error {
	if p == nil {
		return nil
	}
	return t.record(ctx, p.Entry(audit.OK, ""))
}

// record puts an entry behind the last one of its user.
func (t *tx) record(ctx context.Context, e audit.Entry) error {
	head, known, err := t.head(ctx, e.User)
	if err != nil {
		return err
	}
	e.Seq = t.lastSeq + 1
	if head.Pos > 0 {
		e.Chain(&head)
	} else {
		e.Chain(nil)
	}
	if err := insert(ctx, t.conn, &e); err != nil {
		return err
	}
	t.undo = append(t.undo, headChange{user: e.User, head: head, known: known, seq: t.lastSeq})
	t.lastSeq = e.Seq
	t.heads[e.User] = audit.Entry{Pos: e.Pos, Sum: e.Sum}
	return nil
}

// head is the end of the user's chain, and whether it was remembered.
func (t *tx) head(ctx context.Context, user string) (audit.Entry, bool, error) {
	if h, ok := t.heads[user]; ok {
		return h, true, nil
	}
	var h audit.Entry
	var sum string
	switch err := t.conn.get(ctx, readHead, []any{user}, &h.Pos, &sum); {
	case errors.Is(err, sql.ErrNoRows):
		return h, false, nil
	case err != nil:
		return h, false, err
	}
	// A hash that was tampered with is kept as it is: the chain goes on from
	// zero, and verification names the entry.
	h.Sum, _ = audit.ParseHash(sum)
	return h, false, nil
}

func insert(ctx context.Context, c *conn, e *audit.Entry) error {
	_, err := c.exec(ctx, insertEntry, e.Seq, formatTime(e.At), e.User, e.Pos, e.CallID, e.Tool, string(e.Outcome), e.Code,
		argsColumn(e.Args), e.ArgsBytes, e.ArgsSum.String(), e.Duration.Microseconds(), e.Prev.String(), e.Sum.String())
	return err
}

// argsColumn is text where a person can read it, else the bytes.
func argsColumn(args []byte) any {
	if utf8.Valid(args) && bytes.IndexByte(args, 0) < 0 {
		return string(args)
	}
	return args
}

// timeLayout has a fixed width, so that the order of the text is the order of
// the times.
const timeLayout = "2006-01-02T15:04:05.000000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }
