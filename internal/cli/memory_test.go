package cli_test

import (
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"handrail/internal/cli"
)

func TestServersSetTheCollectorUpUnlessTheirUserDid(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for _, c := range []struct {
		vars    map[string]string
		percent int
		limit   int64
	}{
		{nil, 400, 256 << 20},
		{map[string]string{"GOGC": "50"}, 100, 256 << 20},
		{map[string]string{"GOMEMLIMIT": "1GiB"}, 400, limit},
	} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(limit)
		var out strings.Builder
		status := cli.Main(t.Context(), []string{"tasks", "--db", filepath.Join(t.TempDir(), "a.db")}, cli.Env{
			In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now,
			Getenv: func(name string) string { return c.vars[name] },
		})
		if status != 0 {
			t.Fatalf("%v: status %d: %s", c.vars, status, out.String())
		}
		if got := debug.SetGCPercent(100); got != c.percent {
			t.Errorf("%v: GC percent %d, not %d", c.vars, got, c.percent)
		}
		if got := debug.SetMemoryLimit(-1); got != c.limit {
			t.Errorf("%v: memory limit %d, not %d", c.vars, got, c.limit)
		}
	}
}
