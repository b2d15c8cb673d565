package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"handrail/bench/wire"
)

const (
	// hitTitle stands once in the database of the stdio rows, and is what the
	// bare baseline answers with.
	hitTitle = "water the zygomorphic orchid"
	hit      = "zygomorphic"
	// smallList is how many tasks that database has, hitAt where the hit stands.
	smallList, hitAt = 1000, 777
)

var searchHit = wire.Call("search_tasks", `{"query":"`+hit+`"}`)

// seed fills a contender's database with the small list, through its own tools.
func seed(c contender) error {
	client, err := c.start(wire.Modern)
	if err != nil {
		return err
	}
	defer client.Close()
	// One in flight keeps the ids of all contenders the same.
	_, err = client.Load(smallList, 1, `ok\":true`, func(i int) string {
		title := fmt.Sprintf("call the plumber about order %d", i)
		if i == hitAt-1 {
			title = hitTitle
		}
		return wire.Call("add_task", `{"title":"`+title+`","tags":["home"]}`)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

func (l *lab) seeded(name string, of func(db string) contender) (contender, error) {
	c := of(filepath.Join(l.dir, name+".db"))
	if _, err := os.Stat(filepath.Join(l.dir, name+".db")); err == nil {
		return c, nil
	}
	return c, seed(c)
}

// firstResult is the time from the start of the process to the first result of
// a tool, in milliseconds.
func firstResult(c contender, era wire.Era) func() (float64, error) {
	return func() (float64, error) {
		begun := time.Now()
		client, err := c.start(era)
		if err != nil {
			return 0, err
		}
		defer client.Close()
		line, err := client.Request("tools/call", searchHit)
		took := time.Since(begun)
		if err == nil && !bytes.Contains(line, []byte(hitTitle)) {
			err = fmt.Errorf("%s: no hit: %s", c.name, line)
		}
		return took.Seconds() * 1e3, err
	}
}

func measureStart(l *lab) ([]row, error) {
	ours, err := l.seeded("ours", l.ours)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, era := range []wire.Era{wire.Modern, wire.Legacy} {
		what := "start to the first result, " + string(era)
		got, err := l.turns(l.pick(40, 3), firstResult(ours, era), firstResult(l.bare(""), era))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{what: what, beside: "bare Go SDK", unit: "ms", ours: got[0], base: got[1], target: atMost(2)})
		slow := row{what: what, beside: "TypeScript SDK 2.4", unit: "ms", target: atMost(0.05), missing: or(l.noNode, l.noBaseline)}
		if slow.missing == "" {
			ts, err := l.seeded("typescript", func(db string) contender { return l.typescript(db, "FULL") })
			if err != nil {
				return nil, err
			}
			got, err := l.turns(l.pick(15, 1), firstResult(ours, era), firstResult(ts, era))
			if err != nil {
				return nil, err
			}
			slow.ours, slow.base = got[0], got[1]
		}
		rows = append(rows, slow)
	}
	return rows, nil
}

func measureSize(l *lab) ([]row, error) {
	info, err := os.Stat(l.handrail)
	if err != nil {
		return nil, err
	}
	rows := []row{{what: "handrail, stripped", unit: "MB", ours: series{float64(info.Size()) / 1e6}, target: figureAtMost(20)}}
	ours, err := l.seeded("ours", l.ours)
	if err != nil {
		return nil, err
	}
	idle := row{what: "resident memory, idle after one call, SQLite open", beside: "bare Go SDK", unit: "MB", target: figureAtMost(25)}
	got, err := l.turns(l.pick(5, 1), l.resident(ours), l.resident(l.bare("")))
	if err != nil {
		idle.missing = err.Error()
		return append(rows, idle), nil
	}
	idle.ours, idle.base = got[0], got[1]
	rows = append(rows, idle)
	if l.noNode == "" && l.noBaseline == "" {
		ts, err := l.seeded("typescript", func(db string) contender { return l.typescript(db, "FULL") })
		if err != nil {
			return nil, err
		}
		got, err := l.turns(l.pick(3, 1), l.resident(ours), l.resident(ts))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{what: idle.what, beside: "TypeScript SDK 2.4", unit: "MB", ours: got[0], base: got[1]})
	}
	return rows, nil
}

var rssLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident is the memory of a server that answered one call and then waited.
func (l *lab) resident(c contender) func() (float64, error) {
	return func() (float64, error) {
		client, err := c.start(wire.Modern)
		if err != nil {
			return 0, err
		}
		defer client.Close()
		if _, err := client.Request("tools/call", searchHit); err != nil {
			return 0, err
		}
		time.Sleep(time.Duration(l.pick(1000, 50)) * time.Millisecond)
		return residentOf(client.PID())
	}
}

var errNoProc = errors.New("resident memory is read from /proc, which is not here")

// residentOf is the resident memory of a process, in MB.
func residentOf(pid int) (float64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, errors.Join(errNoProc, err)
	}
	m := rssLine.FindSubmatch(status)
	if m == nil {
		return 0, fmt.Errorf("no VmRSS in %s", strings.TrimSpace(string(status)))
	}
	kb, err := strconv.ParseFloat(string(m[1]), 64)
	return kb * 1024 / 1e6, err
}
