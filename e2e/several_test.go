package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Field case 10: several hosts are open at once on one database.
func TestTwoProcessesWriteOneDatabaseAndNobodySeesALock(t *testing.T) {
	t.Parallel()
	const each = 50
	db := newDB(t)
	var mu sync.Mutex
	var ids []int64
	t.Run("together", func(t *testing.T) {
		eachEra(t, both, func(t *testing.T, e era) {
			w := e.openOn(t, db)
			for i := range each {
				w.send(e.call("1", "add_task", fmt.Sprintf(`{"title":"from %s, number %d"}`, e.version, i)),
					e.call("2", "list_tasks", `{"limit":200}`), e.call("3", "search_tasks", `{"query":"number"}`))
				for range 3 {
					m := w.reply("*")
					got := m.envelope(t)
					if !got.OK {
						t.Errorf("%s: %s", m.ID, m.Result)
					}
					if string(m.ID) == "1" {
						mu.Lock()
						ids = append(ids, taskID(t, got))
						mu.Unlock()
					}
				}
			}
			if _, status := w.end(); status != 0 {
				t.Errorf("exit status %d\nstderr: %s", status, w.stderr)
			}
		})
	})
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 2*each {
		t.Errorf("%d different ids of %d", n, 2*each)
	}
	if n := modern.count(modern.openOn(t, db)); n != 2*each {
		t.Errorf("%d tasks of %d", n, 2*each)
	}
	verified(t, db)
}

func taskID(t *testing.T, e envelope) int64 {
	t.Helper()
	var task struct{ ID int64 }
	if err := json.Unmarshal(e.Data, &task); err != nil {
		t.Fatal(err)
	}
	return task.ID
}

// A host starts all of its servers at once, and a client in mode auto a second
// one as a probe, on a database that nobody has made yet.
func TestProcessesThatStartAtOnceOnANewDatabaseAllServe(t *testing.T) {
	t.Parallel()
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		db := newDB(t)
		t.Run("together", func(t *testing.T) {
			for range 6 {
				t.Run("one", func(t *testing.T) {
					t.Parallel()
					list, status := pipe(t, command(t, db), modern.call("1", "add_task", `{"title":"mine"}`)+"\n")
					if len(list) != 1 || status != 0 || !list[0].envelope(t).OK {
						t.Errorf("exit status %d: %+v", status, list)
					}
				})
			}
		})
		if n := modern.count(modern.openOn(t, db)); n != 6 {
			t.Fatalf("%d tasks of 6", n)
		}
	}
}

// Field case 11: the first page of a long list fits the context budget.
func TestTenThousandTasksArePagedWithinTheContextBudget(t *testing.T) {
	t.Parallel()
	const total, budget = 10_000, 25_000 * 4
	e := modern
	w := e.open(t)
	for _, title := range []string{`{"title":"short %d"}`, `{"title":"` + strings.Repeat("長", 190) + ` %d","tags":["` + strings.Repeat("a", 40) + `","` + strings.Repeat("b", 40) + `"]}`} {
		for start := 0; start < total/2; start += 250 {
			var lines []string
			for i := range 250 {
				lines = append(lines, e.call("1"+fmt.Sprint(start+i), "add_task", fmt.Sprintf(title, i)))
			}
			w.send(lines...)
			for range lines {
				if m := w.reply("*"); m.Error != nil {
					t.Fatalf("%+v", m.Error)
				}
			}
		}
	}
	for _, call := range [][2]string{{"list_tasks", `{"limit":200%s}`}, {"search_tasks", `{"query":"%%s","limit":200%s}`}} {
		query := strings.ReplaceAll(call[1], "%%s", "長")
		var cursor string
		pages, seen, last := 0, 0, int64(0)
		for {
			got := e.do(w, call[0], fmt.Sprintf(query, cursor))
			var page struct {
				Tasks      []struct{ ID int64 }
				NextCursor string
			}
			if err := json.Unmarshal(got.Data, &page); err != nil || len(page.Tasks) == 0 {
				t.Fatalf("%s: %v %.300s", call[0], err, got.Data)
			}
			if n := len(got.Data); n > budget {
				t.Errorf("%s: a page of %d bytes, above %d", call[0], n, budget)
			}
			for _, task := range page.Tasks {
				if task.ID <= last {
					t.Fatalf("%s: id %d after %d", call[0], task.ID, last)
				}
				last = task.ID
			}
			pages, seen = pages+1, seen+len(page.Tasks)
			if page.NextCursor == "" {
				break
			}
			cursor = fmt.Sprintf(`,"cursor":%q`, page.NextCursor)
		}
		if want := map[string]int{"list_tasks": total, "search_tasks": total / 2}[call[0]]; seen != want {
			t.Errorf("%s: %d tasks of %d in %d pages", call[0], seen, want, pages)
		}
	}
}

// Field case 26: the record tells what happened to a call whose reply nobody
// saw, whatever moment the process died at.
func TestTheRecordTellsWhetherACallWhoseReplyWasLostHappened(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for n := range rounds {
		w := modern.openOn(t, db)
		modern.alive(w)
		var lines []string
		for i := range 20 {
			lines = append(lines, modern.call(fmt.Sprint(i), "add_task", fmt.Sprintf(`{"title":"round %d call %d."}`, n, i)))
		}
		w.send(lines...)
		time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
		if err := w.cmd.Process.Signal(os.Kill); err != nil {
			t.Fatal(err)
		}
		<-w.exited
	}
	w := modern.openOn(t, db)
	var titles []string
	cursor := ""
	for {
		var page struct {
			Tasks      []struct{ Title string }
			NextCursor string
		}
		if err := json.Unmarshal(modern.do(w, "list_tasks", `{"limit":200`+cursor+`}`).Data, &page); err != nil {
			t.Fatal(err)
		}
		for _, task := range page.Tasks {
			titles = append(titles, task.Title)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = fmt.Sprintf(`,"cursor":%q`, page.NextCursor)
	}
	w.end()
	entries := audited(t, db, "add_task", "ok")
	if len(entries) != len(titles) {
		t.Errorf("%d tasks, %d entries", len(titles), len(entries))
	}
	all := strings.Join(entries, "\n")
	for _, title := range titles {
		if !strings.Contains(all, title) {
			t.Errorf("%q is a task and not on the record", title)
		}
	}
	verified(t, db)
}
