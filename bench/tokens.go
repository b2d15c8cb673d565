package main

import (
	"os"
	"path/filepath"

	"handrail/bench/wire"
)

// measureTokens measures what the list of tools costs a model: bytes of the
// reply divided by four, every tool switched on, a Taskfile's own tasks
// excepted.
func measureTokens(l *lab) ([]row, error) {
	notes, err := l.emptyWorkspace()
	if err != nil {
		return nil, err
	}
	empty := filepath.Join(l.dir, "no-tasks")
	if err := os.MkdirAll(empty, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(empty, "Taskfile.yml"), []byte("version: '3'\ntasks: {}\n"), 0o644); err != nil {
		return nil, err
	}
	const noteWrites, taskWrites = "notes_write,notes_append", "tasks_add,tasks_complete"
	audit := filepath.Join(l.dir, "audit.db")
	presets := []struct {
		name string
		args []string
		most float64
	}{
		{"tasks", []string{"tasks", "--db", filepath.Join(l.dir, "tokens.db")}, 3000},
		{"workspace, every tool switched on", []string{"workspace", "--root", notes, "--audit-db", audit, "--allow-write", noteWrites + "," + taskWrites}, 3000},
		{"basic", []string{"basic", "--db", filepath.Join(l.dir, "tokens-basic.db")}, 3000},
		{"taskfile, a Taskfile without tasks", []string{"taskfile", "--root", empty, "--audit-db", audit}, 3000},
		{"serve, every toolset and tool switched on", append([]string{"serve", "--db", filepath.Join(l.dir, "tokens-all.db")}, l.serveArgs(notes, empty)...), 5000},
	}
	var rows []row
	for _, p := range presets {
		r := row{what: "tools/list of " + p.name + ", bytes ÷ 4", unit: "tokens", target: figureAtMost(p.most)}
		if !l.has(p.args[0]) {
			r.missing = "this program has no such command"
			rows = append(rows, r)
			continue
		}
		n, err := l.listed(contender{name: p.name, command: l.handrail, args: append(p.args, "--log-level", "error")})
		if err != nil && p.args[0] == "serve" {
			r.missing = "it does not start with everything on"
			rows = append(rows, r)
			continue
		}
		if err != nil {
			return nil, err
		}
		r.ours = series{float64(n) / 4}
		rows = append(rows, r)
	}
	return rows, nil
}

// listed is how many bytes the list of tools has.
func (l *lab) listed(c contender) (n int, err error) {
	client, err := c.start(wire.Modern)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	line, err := client.Request("tools/list", "")
	return len(line), err
}
