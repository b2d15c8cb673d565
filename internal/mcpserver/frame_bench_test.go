package mcpserver_test

import (
	"testing"

	"handrail/internal/mcpserver"
)

func BenchmarkParseMessage(b *testing.B) {
	line := []byte(call("1", "search_tasks", `{"query":"zygomorphic"}`))
	b.ReportAllocs()
	for b.Loop() {
		if !mcpserver.PlainMessage(line) {
			b.Fatal("no plain call")
		}
	}
}
