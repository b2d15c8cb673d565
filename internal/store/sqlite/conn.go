package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// query is the text of an SQL statement. Only constants convert to it without
// saying so, and a test refuses every conversion that is written out: SQL is
// never built at run time.
type query string

// conn is one connection with its prepared statements. One goroutine at a time.
type conn struct {
	pool  *sql.DB
	raw   *sql.Conn
	stmts map[query]*sql.Stmt
}

func dial(ctx context.Context, dsn string) (*conn, error) {
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	raw, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &conn{pool: pool, raw: raw, stmts: map[query]*sql.Stmt{}}, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	return errors.Join(c.raw.Close(), c.pool.Close())
}

func (c *conn) prepared(ctx context.Context, q query) (*sql.Stmt, error) {
	if s, ok := c.stmts[q]; ok {
		return s, nil
	}
	// Preparing is short and its result outlives the call: not under its context.
	s, err := c.raw.PrepareContext(context.WithoutCancel(ctx), string(q))
	if err != nil {
		return nil, err
	}
	c.stmts[q] = s
	return s, nil
}

// exec runs a statement that is kept prepared.
func (c *conn) exec(ctx context.Context, q query, args ...any) (sql.Result, error) {
	s, err := c.prepared(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// rows runs a query that is kept prepared; the caller closes the rows.
func (c *conn) rows(ctx context.Context, q query, args ...any) (*sql.Rows, error) {
	s, err := c.prepared(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// get scans the only row of a query into dest; sql.ErrNoRows where there is none.
func (c *conn) get(ctx context.Context, q query, args []any, dest ...any) error {
	s, err := c.prepared(ctx, q)
	if err != nil {
		return err
	}
	return s.QueryRowContext(ctx, args...).Scan(dest...)
}

// script runs one or more statements that are used once.
func (c *conn) script(ctx context.Context, q query) error {
	_, err := c.raw.ExecContext(ctx, string(q))
	return err
}
