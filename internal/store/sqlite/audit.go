package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"time"

	"handrail/internal/audit"
)

// Append commits the entry before it returns; Unavailable where it cannot.
func (d *DB) Append(ctx context.Context, e audit.Entry) error {
	if d.writer == nil {
		return d.refuseChange()
	}
	return d.writer.do(ctx, func(ctx context.Context, t *tx) error { return t.record(ctx, e) })
}

// Queue hands the entry over; it is committed within 50 ms, or reported. It
// blocks only while 4,096 others wait.
func (d *DB) Queue(e audit.Entry) {
	if d.writer == nil {
		d.cannotRecord()
		return
	}
	d.writer.queue(e)
}

// Flush returns once everything queued before it is committed, or has failed
// and was reported.
func (d *DB) Flush(ctx context.Context) error {
	if d.writer == nil {
		return nil
	}
	// The writer takes all queued entries before it runs a change.
	return d.writer.do(ctx, func(context.Context, *tx) error { return nil })
}

const (
	entryColumns = `seq, at, user_id, pos, call_id, tool, outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash`
	entryMatches = ` AND (?3 = '' OR user_id = ?3) AND (?4 = '' OR tool = ?4) AND (?5 = '' OR outcome = ?5)
  AND (?6 = '' OR call_id = ?6) AND (?7 = '' OR at >= ?7) AND (?8 = '' OR at <= ?8) `

	oldestEntries query = `SELECT ` + entryColumns + ` FROM audit_log WHERE seq > ?1 AND seq <= ?2` + entryMatches + `ORDER BY seq LIMIT ?9`
	newestEntries query = `SELECT ` + entryColumns + ` FROM audit_log WHERE seq > ?1 AND seq <= ?2` + entryMatches + `ORDER BY seq DESC LIMIT ?9`
)

// entriesAtOnce is how many entries are read before the connection is given
// back: a slow consumer keeps nobody from writing.
const entriesAtOnce = 500

// Entries yields the chosen entries by Seq, as they were when it began.
func (d *DB) Entries(ctx context.Context, f audit.Filter) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		if err := d.entries(ctx, f, yield); err != nil {
			yield(audit.Entry{}, err)
		}
	}
}

func (d *DB) entries(ctx context.Context, f audit.Filter, yield func(audit.Entry, error) bool) error {
	var last int64
	if err := d.readers.read(ctx, func(c *conn) error { return c.get(ctx, readLastSeq, nil, &last) }); err != nil {
		return err
	}
	if f.Newest && f.Limit > 0 {
		page, err := d.entryPage(ctx, newestEntries, f, f.AfterSeq, last, f.Limit)
		slices.Reverse(page)
		for _, e := range page {
			if !yield(e, nil) {
				return nil
			}
		}
		return err
	}
	for after, left := f.AfterSeq, f.Limit; ; {
		n := entriesAtOnce
		if f.Limit > 0 {
			n = min(n, left)
		}
		page, err := d.entryPage(ctx, oldestEntries, f, after, last, n)
		if err != nil {
			return err
		}
		for _, e := range page {
			if !yield(e, nil) {
				return nil
			}
			after = e.Seq
		}
		left -= len(page)
		if len(page) < n || (f.Limit > 0 && left == 0) {
			return nil
		}
	}
}

func (d *DB) entryPage(ctx context.Context, q query, f audit.Filter, after, last int64, n int) (page []audit.Entry, err error) {
	err = d.readers.read(ctx, func(c *conn) error {
		page = nil
		rows, err := c.rows(ctx, q, after, last, f.User, f.Tool, string(f.Outcome), f.CallID, bound(f.Since), bound(f.Until), n)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			e, err := scanEntry(rows)
			if err != nil {
				return err
			}
			page = append(page, e)
		}
		return rows.Err()
	})
	return page, err
}

func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return formatTime(t)
}

// scanEntry reads an entry as it stands. What was tampered with so that it
// cannot be read becomes a zero, which then does not fit the entry's hash.
func scanEntry(rows *sql.Rows) (audit.Entry, error) {
	var e audit.Entry
	var at, argsSum, prev, sum string
	var args any
	var micros int64
	err := rows.Scan(&e.Seq, &at, &e.User, &e.Pos, &e.CallID, &e.Tool, &e.Outcome, &e.Code,
		&args, &e.ArgsBytes, &argsSum, &micros, &prev, &sum)
	if err != nil {
		return e, err
	}
	switch a := args.(type) {
	case string:
		e.Args = []byte(a)
	case []byte:
		e.Args = a
	default:
		e.Args = fmt.Append(nil, a)
	}
	if len(e.Args) == 0 {
		e.Args = nil
	}
	if t, err := time.Parse(timeLayout, at); err == nil {
		e.At = t.UTC()
	}
	e.ArgsSum, _ = audit.ParseHash(argsSum)
	e.Duration = time.Duration(micros) * time.Microsecond
	e.Prev, _ = audit.ParseHash(prev)
	e.Sum, _ = audit.ParseHash(sum)
	return e, nil
}
