package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"handrail/internal/store/sqlite"
	"handrail/internal/store/storetest"
	"handrail/internal/task"
)

// allPages searches page by page.
func allPages(t *testing.T, db *sqlite.DB, user, text string, limit int) (ids []int64) {
	t.Helper()
	q, err := task.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	for after, more := int64(0), true; more; {
		var list []task.Task
		if list, more, err = db.SearchTasks(t.Context(), user, q, task.Page{After: after, Limit: limit}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(list) > limit || more && len(list) < limit {
			t.Fatalf("%q: a page of %d, more: %v", text, len(list), more)
		}
		for _, found := range list {
			if found.ID <= after {
				t.Fatalf("%q: %d behind %d", text, found.ID, after)
			}
			ids, after = append(ids, found.ID), found.ID
		}
	}
	return ids
}

func TestASearchInMemoryFollowsEveryChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	other := open(t, path, sqlite.Options{}) // as another process has it
	r := rand.New(rand.NewPCG(7, 11))
	titles := make([]string, 700)
	for i := range titles {
		titles[i] = storetest.HostileText(r, 12) + "x"
	}
	addMany(t, db, "ann", titles[:400])
	addMany(t, db, "bob", titles[300:])
	hits := 0
	for n := range 600 {
		user := []string{"ann", "bob"}[r.IntN(2)]
		switch n % 9 {
		case 0:
			if _, err := other.AddTask(t.Context(), user, draft(t, storetest.HostileText(r, 12)+"x")); err != nil {
				t.Fatal(err)
			}
		case 3:
			for id := range titlesOf(t, db, user) {
				if err := other.DeleteTask(t.Context(), user, id, ""); err != nil {
					t.Fatal(err)
				}
				break
			}
		case 6:
			execFile(t, path, fmt.Sprintf(`UPDATE tasks SET title = title || 'z%d' WHERE row IN (SELECT row FROM tasks ORDER BY (row * 7919) %% 1009 LIMIT 3)`, n))
		}
		stored := titlesOf(t, db, user)
		text := storetest.HostileText(r, 4)
		if n%4 > 0 {
			text = storetest.Part(r, titles[r.IntN(len(titles))])
		}
		want := defined(stored, text)
		hits += len(want)
		for range 3 { // by the index, by a new copy, by the same
			if got := allPages(t, db, user, text, 1+r.IntN(40)); !slices.Equal(got, want) {
				t.Fatalf("round %d: %q finds %v, want %v", n, text, got, want)
			}
		}
	}
	if served := db.SearchedInMemory(); served < 600 || hits < 600 {
		t.Errorf("%d searches in memory with %d hits: the test proves too little", served, hits)
	}
}

func TestASearchFindsPagesOfAnyDensityInMemory(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "tasks.db"), sqlite.Options{})
	titles := make([]string, 2000)
	for i := range titles {
		titles[i] = "plain"
		for _, every := range []int{2, 7, 40, 333, 1999} {
			if i%every == 0 {
				titles[i] += fmt.Sprintf(" every%dth", every)
			}
		}
	}
	addMany(t, db, "ann", titles)
	stored := titlesOf(t, db, "ann")
	for _, text := range []string{"plain", "every2th", "every7th", "every40th", "every333th", "every1999th", "PLAIN", "in", "nowhere", "h"} {
		want := defined(stored, text)
		for _, limit := range []int{1, 2, 7, 8, 9, 64, 65, 200} {
			if got := allPages(t, db, "ann", text, limit); !slices.Equal(got, want) {
				t.Errorf("%q by %d: %d hits, want %d", text, limit, len(got), len(want))
			}
		}
	}
	if db.SearchedInMemory() == 0 {
		t.Error("no search was in memory")
	}
}

func TestATitleThatCannotBeCopiedIsFoundAllTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	db := open(t, path, sqlite.Options{})
	titles := make([]string, 400)
	for i := range titles {
		titles[i] = fmt.Sprintf("number %d", i)
	}
	addMany(t, db, "ann", titles)
	execFile(t, path, `UPDATE tasks SET title = 'with' || char(0) || 'nothing' WHERE title = 'number 399'`)
	for range 3 {
		if got := allPages(t, db, "ann", "number 1", 50); len(got) != 111 {
			t.Errorf("%d hits, want 111", len(got))
		}
	}
	if n := db.SearchedInMemory(); n != 0 {
		t.Errorf("%d searches used a copy that cannot be right", n)
	}
}
