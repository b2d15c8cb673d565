package sqlite

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"

	"handrail/internal/task"
)

// SearchScanning searches with another number of rows read before the index is
// asked: 0 asks it for everything that it can answer, a large one never.
func (d *DB) SearchScanning(ctx context.Context, user string, q task.Query, limit int, rows int64) (list []task.Task, err error) {
	err = d.readers.read(ctx, func(c *conn) error {
		list, err = search(ctx, c, nil, user, q.String(), 0, limit, rows)
		return err
	})
	return list, err
}

// SearchedInMemory is how many searches found a copy of their list.
func (d *DB) SearchedInMemory() int {
	d.shelf.mu.Lock()
	defer d.shelf.mu.Unlock()
	return d.shelf.served
}

// MaxQueued is how many entries wait before Queue blocks.
const MaxQueued = maxQueued

const (
	readSynchronous query = `PRAGMA synchronous`
	readJournalMode query = `PRAGMA journal_mode`
	limitPages      query = `PRAGMA max_page_count = 1`
	unlimitPages    query = `PRAGMA max_page_count = 4294967294`
	dropUsers       query = `DELETE FROM users`
)

// Durability is what the writer's own connection says about itself.
func (d *DB) Durability(ctx context.Context) (synchronous int, journal string, err error) {
	err = d.writer.do(ctx, func(ctx context.Context, t *tx) error {
		if err := t.conn.get(ctx, readSynchronous, nil, &synchronous); err != nil {
			return err
		}
		return t.conn.get(ctx, readJournalMode, nil, &journal)
	})
	return synchronous, journal, err
}

// FillDisk makes the file unable to grow, or able again.
func (d *DB) FillDisk(ctx context.Context, full bool) error {
	q := unlimitPages
	if full {
		q = limitPages
	}
	return d.writer.do(ctx, func(ctx context.Context, t *tx) error { return t.conn.script(ctx, q) })
}

// WriteAsReader tries to write through a connection for reading.
func (d *DB) WriteAsReader(ctx context.Context) error {
	return d.readers.read(ctx, func(c *conn) error { return c.script(ctx, dropUsers) })
}

// HearOnly tells the changes of a user as a watcher does that hears these rings,
// until ctx is done. It never polls.
func (d *DB) HearOnly(ctx context.Context, user string, rings <-chan fsnotify.Event, tell func([]task.Change)) {
	d.watch.mu.Lock()
	d.watch.watchers = map[*watcher]bool{{user, tell}: true}
	d.watch.mu.Unlock()
	d.hear(ctx, 0, rings, nil, 1<<62*time.Nanosecond)
}
