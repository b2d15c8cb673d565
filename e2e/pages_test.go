package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Without a limit a page has the length that the contract gives it.
func TestAPageHasItsOwnLengthWhereNoLimitIsGiven(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		f := newFolder(t)
		var tasks []string
		for i := range 501 {
			f.put(fmt.Sprintf("n%03d.md", i), "x")
			tasks = append(tasks, fmt.Sprintf(`{"id":%d,"title":"t"}`, i+1))
		}
		f.put("tasks.json", "["+strings.Join(tasks, ",")+"]")
		notes := f.open(e)
		list := e.open(t)
		for i := range 101 {
			list.send(e.call(fmt.Sprint(i), "add_task", `{"title":"needle"}`))
		}
		for range 101 {
			list.reply("*").envelope(t)
		}
		for _, row := range []struct {
			w          *wire
			tool, args string
			want       int
		}{
			{notes, "notes_list", `{}`, 500}, {notes, "tasks_list", `{}`, 100}, {notes, "tasks_list", `{"limit":200}`, 200},
			{list, "list_tasks", `{}`, 100}, {list, "search_tasks", `{"query":"needle"}`, 100}, {list, "list_tasks", `{"limit":101}`, 101},
		} {
			var page struct {
				Notes, Tasks []any
				NextCursor   string
			}
			got := e.do(row.w, row.tool, row.args)
			if err := json.Unmarshal(got.Data, &page); err != nil {
				t.Fatalf("%s %s: %+v", row.tool, row.args, got)
			}
			if n := len(page.Notes) + len(page.Tasks); n != row.want || (page.NextCursor == "") != (row.want == 101) {
				t.Errorf("%s %s: %d items, want %d, and the cursor %q", row.tool, row.args, n, row.want, page.NextCursor)
			}
		}
	})
}

// Whatever happens to the file under a running server, callers learn neither
// where it is nor what SQL there is.
func TestATaskListThatIsTakenAwayAnswersWithoutItsPath(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it does not let an open file be taken away
	}
	for what, harm := range map[string]func(db string) error{
		"removed":  os.Remove,
		"replaced": func(db string) error { return errorsOf(os.Remove(db), os.WriteFile(db, []byte("a text"), 0o600)) },
		"a folder": func(db string) error { return errorsOf(os.Remove(db), os.Mkdir(db, 0o700)) },
	} {
		eachEra(t, both, func(t *testing.T, e era) {
			db := newDB(t)
			w := e.openOn(t, db)
			e.do(w, "add_task", `{"title":"x"}`)
			if err := harm(db); err != nil {
				t.Fatal(err)
			}
			for tool, args := range map[string]string{"add_task": `{"title":"y"}`, "complete_task": `{"id":1}`, "delete_task": `{"id":1,"confirm":true}`, "list_tasks": `{}`, "search_tasks": `{"query":"x"}`} {
				got := e.do(w, tool, args)
				if strings.HasSuffix(tool, "_task") && got.Err.Code != "unavailable" {
					t.Errorf("%s: %s: %+v", what, tool, got)
				}
				for _, word := range []string{"/", "tasks.db", "SELECT", "INSERT", "SQL", ".go:"} {
					if strings.Contains(got.Err.Message, word) {
						t.Errorf("%s: %s shows %s: %s", what, tool, word, got.Err.Message)
					}
				}
			}
			w.end()
		})
	}
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
