package todo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/fault"
	"handrail/internal/todo"
)

var ctx = context.Background()

// memory is a File that lies nowhere.
type memory struct {
	data   []byte
	exists bool
	writes int
}

func (m *memory) Load(context.Context) ([]byte, bool, error) { return m.data, m.exists, nil }

func (m *memory) Update(_ context.Context, edit func([]byte, bool) ([]byte, error)) error {
	data, err := edit(m.data, m.exists)
	if err == nil && data != nil {
		m.data, m.exists, m.writes = data, true, m.writes+1
	}
	return err
}

func noon() time.Time { return time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC) }

func listOf(text string) (*todo.List, *memory) {
	m := &memory{data: []byte(text), exists: true}
	return todo.New(m, noon), m
}

func wantCode(t testing.TB, err error, code fault.Code, says ...string) {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Fatalf("got %q (%v), want %q", got, err, code)
	}
	for _, part := range says {
		if msg := fault.Of(err).Message; !strings.Contains(msg, part) {
			t.Fatalf("message %q does not contain %q", msg, part)
		}
	}
}

func TestAMissingFileIsAnEmptyListAndTheFirstAddMakesIt(t *testing.T) {
	m := &memory{}
	l := todo.New(m, noon)
	page, err := l.List(ctx, todo.Query{})
	if err != nil || len(page.Tasks) != 0 || page.Tasks == nil {
		t.Fatalf("%+v, %v", page, err)
	}
	_, err = l.Complete(ctx, 1)
	wantCode(t, err, fault.NotFound, "no task 1")
	if m.exists {
		t.Fatal("completing nothing made a file")
	}
	task, err := l.Add(ctx, todo.Draft{Title: "Buy \"milk\"", Due: "2026-08-01", Tags: []string{"home", "home", "shop"}})
	if err != nil {
		t.Fatal(err)
	}
	want := todo.Task{ID: 1, Title: "Buy \"milk\"", Status: "open", Due: "2026-08-01", Tags: []string{"home", "shop"}, CreatedAt: "2026-07-28T12:00:00.000Z"}
	if diff := cmp.Diff(want, task); diff != "" {
		t.Error(diff)
	}
	if got, want := string(m.data), `{
  "version": 1,
  "tasks": [
    {
      "id": 1,
      "title": "Buy \"milk\"",
      "status": "open",
      "due": "2026-08-01",
      "tags": [
        "home",
        "shop"
      ],
      "createdAt": "2026-07-28T12:00:00.000Z"
    }
  ]
}
`; got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func TestAWriteChangesNothingElseInTheFile(t *testing.T) {
	const stamp = "2026-07-28T12:00:00.000Z"
	for _, c := range []struct{ name, before, added, completed string }{
		{"a bare array stays one",
			`[{"id":1,"title":"a"}]`,
			`[{"id":1,"title":"a"},{"id":2,"title":"new","status":"open","tags":[],"createdAt":"` + stamp + `"}]`,
			`[{"id":1,"title":"a","status":"done","completedAt":"` + stamp + `"}]`},
		{"unknown fields, their order and odd spaces stay",
			"{ \"x\" : [1,  2],\n\t\"tasks\":[ {\"prio\": 1.50, \"id\" : 1,\n \"title\":\"a\",\"status\":\"open\" , \"z\":{\"id\":9}} ] , \"version\":1}",
			"{ \"x\" : [1,  2],\n\t\"tasks\":[ {\"prio\": 1.50, \"id\" : 1,\n \"title\":\"a\",\"status\":\"open\" , \"z\":{\"id\":9}}, {\"id\":2,\"title\":\"new\",\"status\":\"open\",\"tags\":[],\"createdAt\":\"" + stamp + "\"} ] , \"version\":1}",
			"{ \"x\" : [1,  2],\n\t\"tasks\":[ {\"prio\": 1.50, \"id\" : 1,\n \"title\":\"a\",\"status\":\"done\" , \"z\":{\"id\":9}, \"completedAt\":\"" + stamp + "\"} ] , \"version\":1}"},
		{"one task a line",
			"[\n  {\"id\": 5, \"title\": \"x\", \"status\": \"done\"},\n  {\"id\": 1, \"title\": \"a\", \"completedAt\": null}\n]\n",
			"[\n  {\"id\": 5, \"title\": \"x\", \"status\": \"done\"},\n  {\"id\": 1, \"title\": \"a\", \"completedAt\": null},\n  {\"id\": 6, \"title\": \"new\", \"status\": \"open\", \"tags\": [], \"createdAt\": \"" + stamp + "\"}\n]\n",
			"[\n  {\"id\": 5, \"title\": \"x\", \"status\": \"done\"},\n  {\"id\": 1, \"title\": \"a\", \"completedAt\": \"" + stamp + "\", \"status\": \"done\"}\n]\n"},
		{"CRLF, tabs and a byte order mark stay",
			"\uFEFF[\r\n\t{\r\n\t\t\"id\": 1,\r\n\t\t\"title\": \"a\"\r\n\t}\r\n]",
			"\uFEFF[\r\n\t{\r\n\t\t\"id\": 1,\r\n\t\t\"title\": \"a\"\r\n\t},\r\n\t{\r\n\t\t\"id\": 2,\r\n\t\t\"title\": \"new\",\r\n\t\t\"status\": \"open\",\r\n\t\t\"tags\": [],\r\n\t\t\"createdAt\": \"" + stamp + "\"\r\n\t}\r\n]",
			"\uFEFF[\r\n\t{\r\n\t\t\"id\": 1,\r\n\t\t\"title\": \"a\",\r\n\t\t\"status\": \"done\",\r\n\t\t\"completedAt\": \"" + stamp + "\"\r\n\t}\r\n]"},
		{"an empty list gets two spaces",
			"{\n  \"version\": 1,\n  \"tasks\": []\n}\n",
			"{\n  \"version\": 1,\n  \"tasks\": [\n    {\n      \"id\": 1,\n      \"title\": \"new\",\n      \"status\": \"open\",\n      \"tags\": [],\n      \"createdAt\": \"" + stamp + "\"\n    }\n  ]\n}\n",
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, m := listOf(c.before)
			if _, err := l.Add(ctx, todo.Draft{Title: "new"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.added, string(m.data)); diff != "" {
				t.Errorf("added:\n%s", diff)
			}
			if c.completed == "" {
				return
			}
			l, m = listOf(c.before)
			if _, err := l.Complete(ctx, 1); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.completed, string(m.data)); diff != "" {
				t.Errorf("completed:\n%s", diff)
			}
			if task, err := l.Complete(ctx, 1); err != nil || task.Status != "done" || m.writes != 1 {
				t.Errorf("done twice: %+v, %v, %d writes", task, err, m.writes)
			}
		})
	}
}

func TestAFileThatCannotBeUnderstoodIsReportedAndNeverOverwritten(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "ends too early"},
		{" \n", "ends too early"},
		{"{", "not valid JSON"},
		{"[{\"id\":1,\n\"title\":}]", "line 2"},
		{"[1]", "tasks[0] must be an object"},
		{"null", "neither"},
		{"\"x\"", "neither"},
		{"{}", "no tasks"},
		{`{"tasks":null}`, "must be an array"},
		{`{"tasks":{}}`, "must be an array"},
		{`{"version":2,"tasks":[]}`, "version"},
		{`{"version":"1","tasks":[]}`, "version"},
		{`{"tasks":[],"tasks":[]}`, "not valid JSON"},
		{`[] []`, "follows"},
		{`[] x`, "not valid JSON"},
		{`[{"title":"a"}]`, "no id"},
		{`[{"id":1}]`, "no title"},
		{`[{"id":1,"title":null}]`, "title must be a string"},
		{`[{"id":"1","title":"a"}]`, "id must be an integer"},
		{`[{"id":1.5,"title":"a"}]`, "id must be an integer"},
		{`[{"id":1e300,"title":"a"}]`, "id must be an integer"},
		{`[{"id":9007199254740993,"title":"a"}]`, "id must be an integer"},
		{`[{"id":1,"title":"a"},{"id":1,"title":"b"}]`, "twice"},
		{`[{"id":1,"id":2,"title":"a"}]`, "not valid JSON"},
		{`[{"id":1,"title":"a","status":"later"}]`, "status must be"},
		{`[{"id":1,"title":"a","due":"2026-02-30"}]`, "due must be"},
		{`[{"id":1,"title":"a","tags":"x"}]`, "tags must be"},
		{`[{"id":1,"title":"a","tags":[1]}]`, "tags must be"},
		{"[{\"id\":1,\"title\":\"\xff\"}]", "not valid JSON"},
		{"// a comment\n[]", "not valid JSON"},
		{"[{\"id\":1,\"title\":\"a\"},]", "not valid JSON"},
		{"<<<<<<< HEAD\n[]\n", "not valid JSON"},
	} {
		l, m := listOf(c.text)
		_, err := l.List(ctx, todo.Query{})
		wantCode(t, err, fault.InvalidStore, "tasks.json", c.says)
		_, err = l.Add(ctx, todo.Draft{Title: "x"})
		wantCode(t, err, fault.InvalidStore, "left as it is")
		_, err = l.Complete(ctx, 1)
		wantCode(t, err, fault.InvalidStore)
		if string(m.data) != c.text || m.writes != 0 {
			t.Errorf("%q was overwritten", c.text)
		}
	}
}

func TestTasksAreCheckedAsTheContractSays(t *testing.T) {
	s := func(n int) string { return strings.Repeat("x", n) }
	l, m := listOf("[]")
	for _, c := range []struct {
		draft todo.Draft
		says  string
	}{
		{todo.Draft{}, "title: "}, {todo.Draft{Title: " \t\u00a0\u3000"}, "white space"},
		{todo.Draft{Title: s(201)}, "title: "}, {todo.Draft{Title: strings.Repeat("😀", 101)}, "title: "},
		{todo.Draft{Title: "a\x00"}, "NUL"}, {todo.Draft{Title: "a\xff"}, "Unicode"},
		{todo.Draft{Title: "a", Due: "2026-02-29"}, "due: "}, {todo.Draft{Title: "a", Due: "2026-7-1"}, "due: "},
		{todo.Draft{Title: "a", Due: "tomorrow"}, "due: "}, {todo.Draft{Title: "a", Due: "2026-07-01T00:00:00Z"}, "due: "},
		{todo.Draft{Title: "a", Tags: []string{""}}, "tags: "}, {todo.Draft{Title: "a", Tags: []string{s(41)}}, "tags: "},
		{todo.Draft{Title: "a", Tags: strings.Split("1 2 3 4 5 6 7 8 9 9 9", " ")}, "tags: "},
	} {
		_, err := l.Add(ctx, c.draft)
		wantCode(t, err, fault.InvalidInput, c.says)
	}
	if m.writes != 0 {
		t.Fatal("a refused task was written")
	}
	for _, d := range []todo.Draft{
		{Title: s(200)}, {Title: strings.Repeat("😀", 100)}, {Title: " a "}, {Title: "a", Due: "2028-02-29"},
		{Title: "a", Tags: []string{s(40), "é"}},
	} {
		if task, err := l.Add(ctx, d); err != nil || task.Title != d.Title {
			t.Errorf("%+v: %+v, %v", d, task, err)
		}
	}
	for _, q := range []todo.Query{{Status: "later"}, {Limit: -1}, {Limit: 201}, {Tag: s(41)}, {Cursor: "x"}, {Cursor: "AAAAAAAAAAAAAAAAAAA"}} {
		_, err := l.List(ctx, q)
		wantCode(t, err, fault.InvalidInput)
	}
	for _, id := range []int64{0, -1, 1 << 53} {
		_, err := l.Complete(ctx, id)
		wantCode(t, err, fault.InvalidInput, "id: ")
	}
}

func TestPagesFollowIdsUnderTheirFilter(t *testing.T) {
	var text []string
	for i := 500; i > 0; i-- {
		text = append(text, fmt.Sprintf(`{"id":%d,"title":"t","status":%q,"tags":[%q]}`, i, []string{"open", "done"}[i%2], []string{"a", "b", "A"}[i%3]))
	}
	l, _ := listOf("[" + strings.Join(text, ",") + "]")
	for _, q := range []todo.Query{{}, {Status: "done"}, {Status: "all", Limit: 7}, {Tag: "a", Limit: 200}, {Status: "all", Tag: "A"}} {
		var ids []int64
		for pages := 0; ; pages++ {
			page, err := l.List(ctx, q)
			if err != nil || pages > 100 {
				t.Fatal(err)
			}
			for _, task := range page.Tasks {
				ids = append(ids, task.ID)
			}
			if page.NextCursor == "" {
				break
			}
			q.Cursor = page.NextCursor
			_, err = l.List(ctx, todo.Query{Tag: "other", Cursor: q.Cursor})
			wantCode(t, err, fault.InvalidInput, "cursor: ")
		}
		var want []int64
		for i := int64(1); i <= 500; i++ {
			status, tag := []string{"open", "done"}[i%2], []string{"a", "b", "A"}[i%3]
			if (q.Status == "all" || status == q.Status || q.Status == "" && status == "open") && (q.Tag == "" || q.Tag == tag) {
				want = append(want, i)
			}
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("%+v:\n%s", q, diff)
		}
	}
}

func TestALongPageIsCutByItsBytes(t *testing.T) {
	l, _ := listOf("[]")
	for range 200 {
		if _, err := l.Add(ctx, todo.Draft{Title: strings.Repeat("日", 200)}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := l.List(ctx, todo.Query{Limit: 200})
	if err != nil || page.NextCursor == "" {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(page); len(b) > 100_000 {
		t.Errorf("%d bytes", len(b))
	}
}

func FuzzAFileIsUnderstoodAndKeptOrRefusedAndLeftAlone(f *testing.F) {
	f.Add([]byte(`{"version":1,"tasks":[{"id":1,"title":"a","x":[1,{"y":null}]}]}`))
	f.Add([]byte("[\n  {\n    \"title\": \"a\",\n    \"id\": 1\n  }\n]\n"))
	f.Add([]byte(`[]`))
	f.Add([]byte("\uFEFF[ { \"id\" :\n1 , \"\\u0074itle\" : \"a\" , \"status\":null}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &memory{data: data, exists: true}
		l := todo.New(m, noon)
		before, err := l.List(ctx, todo.Query{Status: "all", Limit: 200})
		if err != nil {
			wantCode(t, err, fault.InvalidStore)
			return
		}
		var plain any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(data), "\uFEFF")), &plain); err != nil {
			t.Fatalf("understood %q, which is no JSON", data)
		}
		task, err := l.Add(ctx, todo.Draft{Title: "new", Tags: []string{"a", "b"}})
		if err != nil {
			return
		}
		after, err := l.List(ctx, todo.Query{Status: "all", Limit: 200})
		if err != nil {
			t.Fatalf("%q became %q: %v", data, m.data, err)
		}
		if len(before.Tasks) < 199 && before.NextCursor == "" {
			if diff := cmp.Diff(append(before.Tasks, task), after.Tasks); diff != "" {
				t.Fatalf("%q became %q:\n%s", data, m.data, diff)
			}
		}
		for _, e := range after.Tasks {
			if e.ID > 0 {
				if _, err := l.Complete(ctx, e.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		if open, err := l.List(ctx, todo.Query{}); err != nil || len(open.Tasks) > 0 && open.Tasks[0].ID > 0 {
			t.Fatalf("%q: %+v, %v", m.data, open, err)
		}
	})
}
