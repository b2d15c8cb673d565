package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/audit"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
)

// commonWords stand in most titles of the benchmark.
var commonWords = strings.Fields(`the quick report meeting about project review with team update
	call plan budget write send draft notes client design release`)

func openBench(b *testing.B) (*sqlite.DB, string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Report: func(err error) { b.Error(err) }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db, path
}

func draft(tb testing.TB, title string, tags ...string) task.Draft {
	tb.Helper()
	parsed, err := task.ParseTitle(title)
	if err != nil {
		tb.Fatal(err)
	}
	folded, err := task.ParseTags(tags)
	if err != nil {
		tb.Fatal(err)
	}
	return task.Draft{Title: parsed, Tags: folded}
}

func benchTitle(r *rand.Rand, i int) string {
	words := make([]string, 8)
	for w := range words {
		words[w] = commonWords[r.IntN(len(commonWords))]
	}
	title := fmt.Sprintf("%s %d", strings.Join(words, " "), i)
	if i%5000 == 4999 {
		title += " zanzibar"
	}
	return title
}

// fill adds n tasks through many callers at once.
func fill(b *testing.B, db *sqlite.DB, user string, n int) {
	b.Helper()
	var wg sync.WaitGroup
	for part := range 64 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(part)))
			for i := part; i < n; i += 64 {
				if _, err := db.AddTask(context.Background(), user, draft(b, benchTitle(r, i))); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkAdd measures durable additions, each with its entry on the record
// and its place in the search index, from a number of callers at once.
func BenchmarkAdd(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db, _ := openBench(b)
			share(b, callers, func(r *rand.Rand, i int) error {
				raw := []byte(`{"title":"a title of the usual length"}`)
				ctx := audit.With(context.Background(), audit.NewPending("local", "add_task", "c", raw, time.Now))
				_, err := db.AddTask(ctx, "local", draft(b, benchTitle(r, i)))
				return err
			})
		})
	}
}

// share runs b.N calls among the callers and reports calls a second.
func share(b *testing.B, callers int, call func(*rand.Rand, int) error) {
	b.ResetTimer()
	var wg sync.WaitGroup
	for part := range callers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(part)))
			for i := part; i < b.N; i += callers {
				if err := call(r, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkAddOneTransactionEach is what BenchmarkAdd is measured against: the
// same tables and statements, one transaction with a full sync for each call.
func BenchmarkAddOneTransactionEach(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db, path := openBench(b)
			if _, err := db.AddTask(context.Background(), "local", draft(b, "first")); err != nil {
				b.Fatal(err)
			}
			plain := newPlain(b, path)
			var mu sync.Mutex
			share(b, callers, func(r *rand.Rand, i int) error {
				mu.Lock()
				defer mu.Unlock()
				return plain.add(benchTitle(r, i), `{"title":"a title of the usual length"}`)
			})
		})
	}
}

// plain is a store without group commit.
type plain struct {
	conn *sql.Conn
	st   map[string]*sql.Stmt
}

func newPlain(b *testing.B, path string) *plain {
	b.Helper()
	pool, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=15000&_pragma=synchronous(2)&_pragma=temp_store(2)&_pragma=cache_size(-8000)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = pool.Close() })
	conn, err := pool.Conn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	p := &plain{conn: conn, st: map[string]*sql.Stmt{}}
	for _, q := range []string{
		plainBegin, plainID, plainTask, plainTitle, plainSeq, plainHead, plainEntry, plainCommit,
	} {
		if p.st[q], err = conn.PrepareContext(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

const (
	plainBegin  = `BEGIN IMMEDIATE`
	plainID     = `UPDATE users SET last_id = last_id + 1, last_row = last_row + 1, tasks = tasks + 1 WHERE user_id = ?1 RETURNING last_id, last_row`
	plainTask   = `INSERT INTO tasks (row, user_id, id, title, status, tags, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, 'open', '[]', ?5, ?5)`
	plainTitle  = `INSERT INTO task_titles (rowid, title) VALUES (?1, ?2)`
	plainSeq    = `SELECT coalesce(max(seq), 0) FROM audit_log`
	plainHead   = `SELECT pos, hash FROM audit_log WHERE user_id = ?1 ORDER BY pos DESC LIMIT 1`
	plainEntry  = `INSERT INTO audit_log (seq, at, user_id, pos, call_id, tool, outcome, code, args, args_bytes, args_sha256, duration_us, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`
	plainCommit = `COMMIT`
)

func (p *plain) add(title, args string) error {
	ctx := context.Background()
	if _, err := p.st[plainBegin].ExecContext(ctx); err != nil {
		return err
	}
	var id, row, seq int64
	if err := p.st[plainID].QueryRowContext(ctx, "local").Scan(&id, &row); err != nil {
		return err
	}
	now := time.Now()
	if _, err := p.st[plainTask].ExecContext(ctx, row, "local", id, title, now.UnixMilli()); err != nil {
		return err
	}
	if _, err := p.st[plainTitle].ExecContext(ctx, row, title); err != nil {
		return err
	}
	if err := p.st[plainSeq].QueryRowContext(ctx).Scan(&seq); err != nil {
		return err
	}
	var prev audit.Entry
	var sum string
	e := audit.Entry{Seq: seq + 1, At: now, User: "local", Tool: "add_task", CallID: "c", Outcome: audit.OK}
	e.SetArgs([]byte(args))
	switch err := p.st[plainHead].QueryRowContext(ctx, "local").Scan(&prev.Pos, &sum); err {
	case nil:
		prev.Sum, _ = audit.ParseHash(sum)
		e.Chain(&prev)
	default:
		e.Chain(nil)
	}
	if _, err := p.st[plainEntry].ExecContext(ctx, e.Seq, now.UTC().Format("2006-01-02T15:04:05.000000Z"), e.User, e.Pos, e.CallID, e.Tool,
		string(e.Outcome), e.Code, string(e.Args), e.ArgsBytes, e.ArgsSum.String(), 10, e.Prev.String(), e.Sum.String()); err != nil {
		return err
	}
	_, err := p.st[plainCommit].ExecContext(ctx)
	return err
}

// BenchmarkRead measures first pages of 100,000 tasks of one user.
func BenchmarkRead(b *testing.B) {
	db, path := openBench(b)
	const all = 100_000
	fill(b, db, "local", all)
	ctx := context.Background()
	page := task.Page{Limit: 50}
	bare, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()

	b.Run("list/bare", func(b *testing.B) {
		s, err := bare.Prepare(`SELECT id, title, status, due, tags, created_at, updated_at, completed_at FROM tasks WHERE user_id = ? AND id > ? ORDER BY id LIMIT 51`)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			rows, err := s.Query("local", 50_000)
			if err != nil {
				b.Fatal(err)
			}
			for rows.Next() {
				var id, created, updated int64
				var title, status, tags string
				var due, completed sql.Null[string]
				if err := rows.Scan(&id, &title, &status, &due, &tags, &created, &updated, &completed); err != nil {
					b.Fatal(err)
				}
			}
			if err := rows.Err(); err != nil {
				b.Fatal(err)
			}
			_ = rows.Close()
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := db.Tasks(ctx, "local", task.Filter{}, task.Page{After: 50_000, Limit: 50}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list/with-deadline", func(b *testing.B) {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		for b.Loop() {
			if _, _, err := db.Tasks(ctx, "local", task.Filter{}, task.Page{After: 50_000, Limit: 50}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, f := range map[string]task.Filter{
		"list/open":    {Status: task.Open},
		"list/done":    {Status: task.Done},
		"list/no-such": {Tag: "nowhere"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := db.Tasks(ctx, "local", f, page); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, text := range map[string]string{
		"rare":            "zanzibar",
		"absent":          "xylophone",
		"common":          "meeting",
		"one-number":      " 77777",
		"phrase-common":   "report meeting about",
		"phrase-four":     "the report meeting about",
		"phrase-five":     "the quick report meeting about",
		"phrase-absent":   "meeting about about about about meeting the",
		"phrase-and-rare": "design release 4999 zanzibar",
		"two-letters":     "zq",
		"two-common":      "me",
	} {
		b.Run("search/"+name, func(b *testing.B) {
			q, err := task.ParseQuery(text)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				list, _, err := db.SearchTasks(ctx, "local", q, page)
				if err != nil {
					b.Fatal(err)
				}
				n = len(list)
			}
			b.ReportMetric(float64(n), "hits")
		})
	}
}

// BenchmarkSearchFew searches a list of the size that people have, each task of
// it added by a call of its own: the index is then in many small segments.
func BenchmarkSearchFew(b *testing.B) {
	db, _ := openBench(b)
	for i := range 1000 {
		title := fmt.Sprintf("call the plumber about order %d", i)
		if i == 776 {
			title = "water the zygomorphic orchid"
		}
		if _, err := db.AddTask(context.Background(), "local", draft(b, title, "home")); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"one-hit": "zygomorphic", "common": "plumber", "absent": "quadrille", "phrase": "water the zygomorphic orchid", "two-letters": "zy",
	} {
		b.Run(name, func(b *testing.B) {
			q, err := task.ParseQuery(text)
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			for b.Loop() {
				if _, _, err := db.SearchTasks(ctx, "local", q, task.Page{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen measures a start on an existing database, up to the first list.
func BenchmarkOpen(b *testing.B) {
	db, path := openBench(b)
	fill(b, db, "local", 100)
	for b.Loop() {
		again, err := sqlite.Open(context.Background(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := again.Tasks(context.Background(), "local", task.Filter{}, task.Page{}); err != nil {
			b.Fatal(err)
		}
		_ = again.Close()
	}
}
