package main

import (
	"fmt"
	"time"

	"handrail/bench/wire"
)

// rate is the calls a second of a search with one hit, with so many in flight
// on a session of its own that is warm.
func rate(c contender, era wire.Era, during time.Duration, inFlight int, p99 *series) func() (float64, error) {
	return func() (float64, error) {
		client, err := c.start(era)
		if err != nil {
			return 0, err
		}
		defer client.Close()
		params := func(int) string { return searchHit }
		if _, err := client.LoadFor(during/4, inFlight, hitTitle, params); err != nil {
			return 0, fmt.Errorf("%s: %w", c.name, err)
		}
		begun := time.Now()
		took, err := client.LoadFor(during, inFlight, hitTitle, params)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", c.name, err)
		}
		elapsed := time.Since(begun).Seconds()
		if p99 != nil {
			ms := make(series, len(took))
			for i, d := range took {
				ms[i] = d.Seconds() * 1e3
			}
			*p99 = append(*p99, ms.at(0.99))
		}
		return float64(len(took)) / elapsed, nil
	}
}

func measureStdio(l *lab) ([]row, error) {
	ours, err := l.seeded("ours", l.ours)
	if err != nil {
		return nil, err
	}
	var rows []row
	during := time.Duration(l.pick(800, 40)) * time.Millisecond
	for _, era := range []wire.Era{wire.Modern, wire.Legacy} {
		for _, load := range []struct {
			name     string
			inFlight int
			target   target
		}{
			{"one after another", 1, atLeast(1.2)},
			{"16 in flight", 16, atLeast(2)},
		} {
			what := fmt.Sprintf("search_tasks over stdio, %s, %s", load.name, era)
			rounds := l.pick(5, 1)
			var late, bareLate series
			for _, gc := range []string{"", "400"} {
				beside := l.bare(gc)
				got, err := l.turns(rounds, rate(ours, era, during, load.inFlight, &late), rate(beside, era, during, load.inFlight, &bareLate))
				if err != nil {
					return nil, err
				}
				rows = append(rows, row{what: what, beside: beside.name + ", no work", unit: "/s", ours: got[0], base: got[1]})
			}
			rows = append(rows, row{what: what + ", p99", beside: "bare Go SDK, no work", unit: "ms", ours: late, base: bareLate})
			for _, sync := range []string{"FULL", "NORMAL"} {
				r := row{what: what, beside: "TypeScript SDK 2.4, synchronous=" + sync, unit: "/s", missing: or(l.noNode, l.noBaseline)}
				if sync == "FULL" {
					r.target = load.target
				}
				if r.missing == "" {
					ts, err := l.seeded("typescript", func(db string) contender { return l.typescript(db, "FULL") })
					if err != nil {
						return nil, err
					}
					ts.env = append(ts.env[:1:1], "BASELINE_SYNC="+sync)
					got, err := l.turns(rounds, rate(ours, era, during, load.inFlight, nil), rate(ts, era, during, load.inFlight, nil))
					if err != nil {
						return nil, err
					}
					r.ours, r.base = got[0], got[1]
				}
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}
