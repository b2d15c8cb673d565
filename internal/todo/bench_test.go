package todo_test

import (
	"fmt"
	"testing"

	"handrail/internal/todo"
)

// BenchmarkTodo has a file of 10,000 tasks, far more than anybody keeps in one.
func BenchmarkTodo(b *testing.B) {
	l, m := listOf("[]")
	for i := range 3 {
		if _, err := l.Add(ctx, todo.Draft{Title: fmt.Sprint("task number ", i), Tags: []string{"a", "b"}}); err != nil {
			b.Fatal(err)
		}
	}
	text := "[\n"
	for i := range 10_000 {
		text += fmt.Sprintf("  {\"id\": %d, \"title\": \"task number %d\", \"status\": \"open\", \"tags\": [\"a\"], \"x\": {\"y\": %d}},\n", i+1, i, i)
	}
	m.data = []byte(text + "  {\"id\": 10001, \"title\": \"last\"}\n]\n")
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if p, err := l.List(ctx, todo.Query{}); err != nil || len(p.Tasks) != todo.DefaultListed {
				b.Fatal(err)
			}
		}
	})
	b.Run("add", func(b *testing.B) {
		before := m.data
		for b.Loop() {
			m.data = before
			if _, err := l.Add(ctx, todo.Draft{Title: "x"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
