package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"handrail/bench/wire"
)

// lab is where contenders are built and run: a temporary folder, the programs,
// and how long to measure.
type lab struct {
	ctx   context.Context
	short bool
	root  string // of the module
	dir   string // temporary
	// handrail and sdk are the programs, both stripped.
	handrail, sdk string
	// node and script start the TypeScript baseline; noNode says why they cannot.
	node, script, noNode string
	// noBaseline says why that baseline in particular cannot.
	noBaseline string
	// loadBefore is how busy the machine was before anything was measured.
	loadBefore string
}

func newLab(ctx context.Context, short bool, program string) (*lab, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "handrail-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{ctx: ctx, short: short, root: root, dir: dir, loadBefore: loadAverage()}
	if l.handrail = program; program == "" {
		l.handrail, err = l.build("./cmd/handrail")
	}
	if err == nil {
		l.sdk, err = l.build("./bench/baseline/sdk")
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.findNode()
	return l, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(mod) != "go.mod" {
		return "", errors.New("run it inside the module: go run ./bench")
	}
	return filepath.Dir(mod), nil
}

// build makes a stripped program without cgo, as releases are.
func (l *lab) build(pkg string) (string, error) {
	out := filepath.Join(l.dir, filepath.Base(pkg))
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = l.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return out, nil
}

func (l *lab) findNode() {
	l.script = filepath.Join(l.root, "e2e", "baseline", "tasks.mjs")
	node, err := exec.LookPath("node")
	if err != nil {
		l.noNode = "no Node on PATH"
		return
	}
	if _, err := os.Stat(filepath.Join(l.root, "e2e", "node_modules")); err != nil {
		l.noNode = "npm's packages are not installed (go tool task bench:install)"
		return
	}
	try := exec.CommandContext(l.ctx, node, "-e", "new (require('better-sqlite3'))(':memory:')")
	try.Dir = filepath.Join(l.root, "e2e")
	if err := try.Run(); err != nil {
		l.noBaseline = "better-sqlite3 is not built (go tool task bench:install)"
	}
	l.node = node
}

// pick is the size of a measurement: the whole, or that of a short run.
func (l *lab) pick(whole, short int) int {
	if l.short {
		return short
	}
	return whole
}

// emptyWorkspace is a folder with nothing in it that needs work.
func (l *lab) emptyWorkspace() (string, error) {
	dir := filepath.Join(l.dir, "workspace")
	return dir, os.MkdirAll(dir, 0o755)
}

// contender is a program that serves tasks over stdio.
type contender struct {
	name    string
	command string
	args    []string
	env     []string
}

func (l *lab) ours(db string) contender {
	return contender{name: "handrail tasks", command: l.handrail, args: []string{"tasks"}, env: []string{"TASKS_DB_PATH=" + db}}
}

func (l *lab) bare(gc string) contender {
	c := contender{name: "bare Go SDK", command: l.sdk}
	if gc != "" {
		c.name += ", GOGC=" + gc
		c.env = []string{"GOGC=" + gc}
	}
	return c
}

func (l *lab) typescript(db, sync string) contender {
	return contender{name: "TypeScript SDK 2.4, better-sqlite3, synchronous=" + sync, command: l.node, args: []string{l.script}, env: []string{"TASKS_DB_PATH=" + db, "BASELINE_SYNC=" + sync}}
}

func (c contender) start(era wire.Era) (*wire.Client, error) {
	client, err := wire.Start(era, c.env, c.command, c.args...)
	if err == nil {
		err = client.Hello()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return client, nil
}

// turns runs every measurement once a round, beginning each round with the
// next one, and returns a series for each.
func (l *lab) turns(rounds int, measure ...func() (float64, error)) ([]series, error) {
	all := make([]series, len(measure))
	for i := range all {
		all[i] = make(series, rounds)
	}
	for n := range rounds {
		for k := range measure {
			i := (n + k) % len(measure)
			if err := l.ctx.Err(); err != nil {
				return nil, err
			}
			got, err := measure[i]()
			if err != nil {
				return nil, err
			}
			all[i][n] = got
		}
	}
	return all, nil
}
