package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"handrail/internal/task"
)

const (
	noteChange query = `INSERT INTO task_changes (user_id, id, kind) VALUES (?1, ?2, ?3) RETURNING seq`
	// forgetChanges keeps the table short. Whoever watches reads within a second.
	forgetChanges query = `DELETE FROM task_changes WHERE seq <= ?1`
	lastChange    query = `SELECT coalesce(max(seq), 0) FROM task_changes`
	readChanges   query = `SELECT seq, user_id, id, kind FROM task_changes WHERE seq > ?1 ORDER BY seq LIMIT 1000`
)

const (
	// keptChanges is how many changes stay; every forgetEvery-th change, older
	// ones are deleted.
	keptChanges = 20_000
	forgetEvery = 1000
	// slowPoll is for changes whose doorbell was not heard; where the platform
	// rings none, fastPoll keeps the promise of a second.
	slowPoll = 10 * time.Second
	fastPoll = 500 * time.Millisecond
)

// looks is when to look after a doorbell, each time counted from the look
// before: soon, after the rings that belong together, and then again, because
// the write that rings comes before the sync that makes the change visible, and
// nothing rings after that. A sync takes milliseconds, or a second on a busy
// disk.
var looks = []time.Duration{
	5 * time.Millisecond, 20 * time.Millisecond, 80 * time.Millisecond, 300 * time.Millisecond, 1500 * time.Millisecond,
}

// noteChange puts a change on the list that watchers read.
func (t *tx) noteChange(ctx context.Context, user string, id int64, kind task.ChangeKind) error {
	var seq int64
	if err := t.conn.get(ctx, noteChange, []any{user, id, string(kind)}, &seq); err != nil {
		return err
	}
	if seq%forgetEvery != 0 {
		return nil
	}
	_, err := t.conn.exec(ctx, forgetChanges, seq-keptChanges)
	return err
}

// watch is what all watchers of a database share: one goroutine that hears
// doorbells while anybody watches.
type watch struct {
	mu       sync.Mutex
	watchers map[*watcher]bool
	stop     context.CancelFunc
	over     chan struct{}
}

type watcher struct {
	user string
	tell func([]task.Change)
}

// WatchTasks implements task.Watcher.
func (d *DB) WatchTasks(ctx context.Context, user string, tell func([]task.Change)) (stop func(), err error) {
	w := &watcher{user, tell}
	if err := d.join(ctx, w); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { d.leave(w) }), nil
}

func (d *DB) join(ctx context.Context, w *watcher) error {
	d.watch.mu.Lock()
	defer d.watch.mu.Unlock()
	if len(d.watch.watchers) == 0 {
		var seq int64
		if err := d.readers.read(ctx, func(c *conn) error { return c.get(ctx, lastChange, nil, &seq) }); err != nil {
			return err
		}
		run, stop := context.WithCancel(context.WithoutCancel(ctx))
		d.watch.watchers, d.watch.stop, d.watch.over = map[*watcher]bool{}, stop, make(chan struct{})
		go d.listen(run, seq, d.watch.over)
	}
	d.watch.watchers[w] = true
	return nil
}

func (d *DB) leave(w *watcher) {
	d.watch.mu.Lock()
	delete(d.watch.watchers, w)
	last := len(d.watch.watchers) == 0
	stop, over := d.watch.stop, d.watch.over
	if last {
		stop()
	}
	d.watch.mu.Unlock()
	if last {
		<-over
	}
}

// listen hears the doorbell and tells what changed. The doorbell is a write to
// the file or its write-ahead log, by any process.
func (d *DB) listen(ctx context.Context, seq int64, over chan struct{}) {
	defer close(over)
	poll := slowPoll
	bell, err := fsnotify.NewWatcher()
	if err == nil {
		defer bell.Close()
		err = bell.Add(filepath.Dir(d.file.abs))
	}
	if err != nil {
		poll = fastPoll
		bell = &fsnotify.Watcher{} // its channels are nil: it never rings
	}
	d.hear(ctx, seq, bell.Events, bell.Errors, poll)
}

// hear looks for changes after each ring, and each poll.
func (d *DB) hear(ctx context.Context, seq int64, rings <-chan fsnotify.Event, lost <-chan error, poll time.Duration) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	// The first look is for what changed before there was a doorbell.
	next := 0
	due := time.NewTimer(looks[next])
	defer due.Stop()
	ring := func() {
		if next != 0 { // else a look comes soon, and rings must not put it off
			next = 0
			due.Reset(looks[next])
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-rings:
			if strings.HasPrefix(e.Name, d.file.abs) {
				ring()
			}
			continue
		case <-lost:
			ring()
			continue
		case <-due.C:
			if next++; next < len(looks) {
				due.Reset(looks[next])
			}
		case <-tick.C:
		}
		last, err := d.tellChanges(ctx, seq)
		if err != nil && ctx.Err() == nil {
			d.opt.Report(fmt.Errorf("changes of tasks cannot be announced: %w", err))
		}
		seq = last
	}
}

// tellChanges tells what came after seq and returns the last one.
func (d *DB) tellChanges(ctx context.Context, seq int64) (int64, error) {
	for {
		byUser := map[string][]task.Change{}
		n, first := 0, int64(0)
		last := seq
		err := d.readers.read(ctx, func(c *conn) error {
			clear(byUser)
			n, last = 0, seq
			rows, err := c.rows(ctx, readChanges, seq)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var user string
				var change task.Change
				if err := rows.Scan(&last, &user, &change.ID, &change.Kind); err != nil {
					return err
				}
				if n++; n == 1 {
					first = last
				}
				byUser[user] = append(byUser[user], change)
			}
			return rows.Err()
		})
		if err != nil || n == 0 {
			return seq, err
		}
		d.tell(byUser, first > seq+1)
		if seq = last; n < 1000 {
			return seq, nil
		}
	}
}

func (d *DB) tell(byUser map[string][]task.Change, missed bool) {
	d.watch.mu.Lock()
	defer d.watch.mu.Unlock()
	for w := range d.watch.watchers {
		changes := byUser[w.user]
		if missed {
			changes = append([]task.Change{{}}, changes...)
		}
		if len(changes) > 0 {
			w.tell(changes)
		}
	}
}
