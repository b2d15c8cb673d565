package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"handrail/internal/store/sqlite"
	"handrail/internal/task"
)

const (
	pageSize   = 50
	rareWord   = "zanzibar"
	commonWord = "meeting"
	// longPhrase is made of words that most titles have, and stands in one.
	longPhrase = "meeting about project review team update call plan budget write send draft notes client design release the report"
)

// bigList is a database of many tasks: the rare word stands in 20 of them, the
// long phrase in one near the end.
func bigList(ctx context.Context, path string, n int) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	_, err = callers(ctx, 256, time.Hour, func(i int) error {
		if i > n {
			return errEnough
		}
		title := titleAt(i)
		switch {
		case i == n-n/10:
			title = longPhrase
		case i%(n/20) == n/40:
			title += " " + rareWord
		}
		d, err := draftOf(title)
		if err == nil {
			_, err = db.AddTask(ctx, user, d)
		}
		return err
	})
	if !errors.Is(err, errEnough) {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

var errEnough = errors.New("enough")

// each is the median time of one call, in milliseconds, over a round.
func each(n int, call func(i int) (int, error), want int) func() (float64, error) {
	return func() (float64, error) {
		took := make(series, n)
		for i := range n {
			begun := time.Now()
			got, err := call(i)
			took[i] = time.Since(begun).Seconds() * 1e3
			if err != nil {
				return 0, err
			}
			if got != want {
				return 0, fmt.Errorf("%d tasks instead of %d", got, want)
			}
		}
		return took.median(), nil
	}
}

const (
	sqlColumns = `SELECT t.row, t.id, t.title, t.status, t.due, t.tags, t.created_at, t.updated_at, t.completed_at FROM `
	sqlList    = sqlColumns + `tasks t WHERE t.user_id = ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3`
	sqlSearch  = sqlColumns + `task_titles f CROSS JOIN tasks t ON t.row = f.rowid
  WHERE f.task_titles MATCH ?1 AND t.user_id = ?2 AND instr(lower(t.title), ?3) > 0 ORDER BY f.rowid LIMIT ?4`
	sqlScan = sqlColumns + `tasks t WHERE t.user_id = ?1 AND instr(lower(t.title), ?2) > 0 ORDER BY t.row LIMIT ?3`
)

// bare runs a prepared query and reads every column of every row.
func bare(ctx context.Context, s *sql.Stmt, args ...any) (int, error) {
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var row, id, created, updated int64
		var title, status, tags string
		var due sql.Null[string]
		var completed sql.Null[int64]
		if err := rows.Scan(&row, &id, &title, &status, &due, &tags, &created, &updated, &completed); err != nil {
			return 0, err
		}
		n++
	}
	return n, rows.Err()
}

// grams is the index's query for a text: all its sequences of three characters.
func grams(text string) string {
	runes := []rune(strings.ToLower(text))
	var all []string
	for i := 0; i+3 <= len(runes); i++ {
		all = append(all, `"`+string(runes[i:i+3])+`"`)
	}
	return strings.Join(all, " AND ")
}

func measureQueries(l *lab) (rows []row, err error) {
	n := l.pick(100_000, 2_000)
	path := filepath.Join(l.dir, "big.db")
	db, err := bigList(l.ctx, path, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	pool, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	stmts := map[string]*sql.Stmt{}
	for _, q := range []string{sqlList, sqlSearch, sqlScan} {
		if stmts[q], err = pool.PrepareContext(l.ctx, q); err != nil {
			return nil, err
		}
	}
	rounds, calls := l.pick(7, 1), l.pick(100, 3)
	of := fmt.Sprintf(" in %s", number(float64(n)))

	after := func(i int) int64 { return int64(i * (n - 2*pageSize) / calls) }
	got, err := l.turns(rounds, each(calls, func(i int) (int, error) {
		list, _, err := db.Tasks(l.ctx, user, task.Filter{}, task.Page{After: after(i), Limit: pageSize})
		return len(list), err
	}, pageSize), each(calls, func(i int) (int, error) {
		got, err := bare(l.ctx, stmts[sqlList], user, after(i), pageSize+1)
		return got - 1, err
	}, pageSize))
	if err != nil {
		return nil, err
	}
	rows = append(rows, row{what: "list_tasks at the store, 50" + of, beside: "the bare query", unit: "ms", ours: got[0], base: got[1], target: atMost(2)})

	for _, search := range []struct {
		name, text string
		hits       int
		most       float64
	}{
		{"a rare word", rareWord, 20, 1},
		{"a common word", commonWord, pageSize, 5},
		{"a long phrase of common words", longPhrase, 1, 10},
		{"a common word that is not there", "meetings", 0, 0},
		{"two characters", "zz", 0, 0},
	} {
		q, err := task.ParseQuery(search.text)
		if err != nil {
			return nil, err
		}
		calls := max(calls/4, 1)
		most := search.hits
		base := func(int) (int, error) {
			if len(search.text) < 3 {
				return bare(l.ctx, stmts[sqlScan], user, search.text, pageSize)
			}
			return bare(l.ctx, stmts[sqlSearch], grams(search.text), user, search.text, pageSize)
		}
		got, err := l.turns(rounds, each(calls, func(int) (int, error) {
			list, _, err := db.SearchTasks(l.ctx, user, q, task.Page{Limit: pageSize})
			return len(list), err
		}, most), each(calls, base, most))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", search.name, err)
		}
		r := row{what: "search_tasks at the store, " + search.name + of, beside: "the bare query", unit: "ms", ours: got[0], base: got[1], target: atMost(2)}
		rows = append(rows, r)
		if search.most > 0 && !l.short {
			r.beside, r.base, r.target = "", nil, figureAtMost(search.most)
			rows = append(rows, r)
		}
	}
	return rows, nil
}
