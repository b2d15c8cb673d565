package sqlite_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"handrail/internal/store/sqlite"
	"handrail/internal/store/storetest"
	"handrail/internal/task"
)

// everyRow is more rows than any test has: the index is never asked.
const everyRow = 1 << 30

// searchBoth searches by the index and by reading every title.
func searchBoth(tb testing.TB, db *sqlite.DB, text string) (byIndex, byScan []int64) {
	tb.Helper()
	q, err := task.ParseQuery(text)
	if err != nil {
		tb.Fatal(err)
	}
	for rows, to := range map[int64]*[]int64{0: &byIndex, everyRow: &byScan} {
		list, err := db.SearchScanning(context.Background(), "ann", q, 1<<20, rows)
		if err != nil {
			tb.Fatalf("%q: %v", text, err)
		}
		for _, t := range list {
			*to = append(*to, t.ID)
		}
	}
	return byIndex, byScan
}

func addMany(tb testing.TB, db *sqlite.DB, user string, titles []string) {
	tb.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := 0
	for range 32 {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(titles) {
					return
				}
				if _, err := db.AddTask(context.Background(), user, draft(tb, titles[i])); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// titlesOf is what the tasks of a user are called, by id.
func titlesOf(tb testing.TB, db *sqlite.DB, user string) map[int64]string {
	tb.Helper()
	titles := map[int64]string{}
	for after := int64(0); ; {
		list, more, err := db.Tasks(context.Background(), user, task.Filter{}, task.Page{After: after, Limit: task.MaxLimit})
		if err != nil {
			tb.Fatal(err)
		}
		for _, t := range list {
			titles[t.ID], after = t.Title, t.ID
		}
		if !more {
			return titles
		}
	}
}

func defined(titles map[int64]string, text string) (ids []int64) {
	for id, title := range titles {
		if storetest.Contains(title, text) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestTheIndexAndAScanGiveTheSameAnswersAndTheyAreTheRightOnes(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "tasks.db"), sqlite.Options{})
	r := rand.New(rand.NewPCG(3, 5))
	titles := make([]string, 1500)
	for i := range titles {
		titles[i] = storetest.HostileText(r, 14) + "x"
	}
	addMany(t, db, "ann", titles)
	addMany(t, db, "bob", titles[:200])
	// Holes in the rows and stale words in the index must not matter.
	for id := int64(10); id < 1500; id += 7 {
		if err := db.DeleteTask(t.Context(), "ann", id, ""); err != nil {
			t.Fatal(err)
		}
	}
	stored := titlesOf(t, db, "ann")
	queries, hits := 1500, 0
	for n := range queries {
		text := storetest.HostileText(r, 6)
		if n%3 > 0 {
			text = storetest.Part(r, titles[r.IntN(len(titles))])
		}
		want := defined(stored, text)
		byIndex, byScan := searchBoth(t, db, text)
		if !slices.Equal(byScan, want) {
			t.Errorf("%q: a scan finds %v, want %v", text, byScan, want)
		}
		if !slices.Equal(byIndex, want) {
			t.Errorf("%q: the index finds %v, want %v", text, byIndex, want)
		}
		hits += len(want)
	}
	if hits < queries {
		t.Errorf("only %d hits of %d queries: the test proves too little", hits, queries)
	}
}

func TestPagesOfASearchContinueFromTheScanIntoTheIndex(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "tasks.db"), sqlite.Options{})
	titles := make([]string, 1400)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range titles {
		titles[i] = "some words and a " + []string{"needle", "pin", "thimble"}[r.IntN(3)]
	}
	addMany(t, db, "ann", titles)
	want := defined(titlesOf(t, db, "ann"), "A NEEDLE")
	q, err := task.ParseQuery("a needle")
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for after, more := int64(0), true; more; {
		var list []task.Task
		if list, more, err = db.SearchTasks(t.Context(), "ann", q, task.Page{After: after, Limit: 73}); err != nil {
			t.Fatal(err)
		}
		for _, found := range list {
			got, after = append(got, found.ID), found.ID
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d hits in pages, want %d", len(got), len(want))
	}
}

func TestATitleChangedByHandIsFoundUnderItsNewName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	addMany(t, db, "ann", []string{"before", "other"})
	execFile(t, path, `UPDATE tasks SET title = 'afterwards' WHERE title = 'before'`)
	for text, want := range map[string]int{"before": 0, "afterwards": 1} {
		byIndex, byScan := searchBoth(t, db, text)
		if len(byIndex) != want || len(byScan) != want {
			t.Errorf("%q: %v by the index, %v by a scan", text, byIndex, byScan)
		}
	}
}

func FuzzSearch(f *testing.F) {
	db := open(f, filepath.Join(f.TempDir(), "tasks.db"), sqlite.Options{})
	r := rand.New(rand.NewPCG(9, 9))
	titles := make([]string, 300)
	for i := range titles {
		titles[i] = storetest.HostileText(r, 14) + "x"
		f.Add(storetest.Part(r, titles[i]))
	}
	addMany(f, db, "ann", titles)
	stored := titlesOf(f, db, "ann")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := task.ParseQuery(text); err != nil {
			return // no query: the door refuses it
		}
		byIndex, byScan := searchBoth(t, db, text)
		if want := defined(stored, text); !slices.Equal(byIndex, want) || !slices.Equal(byScan, want) {
			t.Errorf("%q: %v by the index, %v by a scan, want %v", text, byIndex, byScan, want)
		}
	})
}
