package sqlite

import (
	"context"
	"time"
)

const (
	forgetSpent query = `DELETE FROM spent_confirmations WHERE expires_at < ?1`
	spendOnce   query = `INSERT OR IGNORE INTO spent_confirmations (nonce, expires_at) VALUES (?1, ?2)`
)

// Spend marks a confirmation as used, and reports whether it was not before: by
// any process on this file, also one that is gone. It is remembered until the
// time when the confirmation expires anyway. Unavailable where it cannot be.
func (d *DB) Spend(ctx context.Context, nonce string, until time.Time) (fresh bool, err error) {
	if d.writer == nil {
		return false, d.refuseChange()
	}
	err = d.writer.do(ctx, func(ctx context.Context, t *tx) error {
		if _, err := t.conn.exec(ctx, forgetSpent, t.at.Unix()); err != nil {
			return err
		}
		done, err := t.conn.exec(ctx, spendOnce, nonce, until.Unix())
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		fresh = n == 1
		return err
	})
	return fresh, err
}
