package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"handrail/bench/wire"
)

// boardChanged is what the params of a subscription to the task board say.
const boardChanged = `"notifications":{"resourceSubscriptions":["tasks://board"]}`

// measureSessions measures what a session, an open subscription and a change
// cost. Both sides run with the collector's usual setting, so that what is
// resident is mostly what lives.
func measureSessions(l *lab) ([]row, error) {
	n := l.pick(1000, 30)
	rounds := l.pick(3, 1)
	starts := []func() (*site, error){
		func() (*site, error) {
			db := filepath.Join(l.dir, fmt.Sprintf("sessions-%d.db", time.Now().UnixNano()))
			return l.ourSite([]string{"GOGC=100", "MCP_DB_PATH=" + db}, "basic")
		},
		func() (*site, error) { return l.bareSite("GOGC=100") },
	}
	var sessions, listens, each, all [2]series
	for range rounds {
		for i, start := range starts {
			s, err := start()
			if err != nil {
				return nil, err
			}
			kb, err := s.sessionCost(n)
			sessions[i] = append(sessions[i], kb)
			s.stop()
			if err != nil {
				return nil, err
			}
			if s, err = start(); err != nil {
				return nil, err
			}
			cost, err := s.listenCost(n, l.pick(20, 2))
			s.stop()
			if err != nil {
				return nil, err
			}
			listens[i], all[i], each[i] = append(listens[i], cost.memory), append(all[i], cost.last), append(each[i], cost.one)
		}
	}
	beside := "bare Go SDK"
	many := number(float64(n))
	return []row{
		{what: "memory of a session of the handshake era, of " + many, beside: beside, unit: "KB", ours: sessions[0], base: sessions[1], target: atMost(1.3)},
		{what: "memory of an open subscriptions/listen, of " + many, beside: beside, unit: "KB", ours: listens[0], base: listens[1], target: atMost(1.3)},
		{what: "a change, until the last of " + many + " subscribers has it", beside: beside, unit: "ms", ours: all[0], base: all[1]},
		{what: "a change, until its caller and one subscriber have it", beside: beside, unit: "ms", ours: each[0], base: each[1]},
	}, nil
}

// sessionCost is the memory of a session, in KB.
func (s *site) sessionCost(n int) (float64, error) {
	first, err := s.open(wire.Legacy, 16)
	defer first.close()
	if err != nil {
		return 0, err
	}
	before, err := residentOf(s.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	all, err := s.open(wire.Legacy, n)
	defer all.close()
	if err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond)
	after, err := residentOf(s.cmd.Process.Pid)
	return (after - before) / float64(n) * 1e3, err
}

// listenCost is what open subscriptions cost.
type listenCost struct {
	memory float64 // KB each
	last   float64 // ms until the last of all heard of a change
	one    float64 // ms with one subscriber
}

func (s *site) listenCost(n, changes int) (cost listenCost, err error) {
	caller, err := s.dial(wire.Modern)
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, caller.Close()) }()
	// The first also warms up.
	first, streams, err := s.listen(1)
	defer first.close()
	if err != nil {
		return cost, err
	}
	if cost.one, err = announce(caller, streams, changes); err != nil {
		return cost, err
	}
	before, err := residentOf(s.cmd.Process.Pid)
	if err != nil {
		return cost, err
	}
	all, more, err := s.listen(n - 1)
	defer all.close()
	if err != nil {
		return cost, err
	}
	time.Sleep(200 * time.Millisecond)
	after, err := residentOf(s.cmd.Process.Pid)
	if err != nil {
		return cost, err
	}
	cost.memory = (after - before) / float64(n-1) * 1e3
	cost.last, err = announce(caller, append(streams, more...), changes)
	return cost, err
}

// listen opens subscriptions to the board, and waits until each is confirmed.
func (s *site) listen(n int) (sessions, []*wire.Stream, error) {
	all, err := s.open(wire.Modern, n)
	if err != nil {
		return all, nil, err
	}
	streams := make([]*wire.Stream, n)
	for i, c := range all {
		if streams[i], err = c.Stream(boardChanged); err != nil {
			return all, nil, err
		}
		if err := streams[i].Until("acknowledged", 10*time.Second); err != nil {
			return all, nil, err
		}
	}
	return all, streams, nil
}

// announce makes changes one after another, and returns the median of the times
// until the caller and all subscribers had one.
func announce(caller *wire.HTTP, streams []*wire.Stream, changes int) (float64, error) {
	var took series
	for i := range changes {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var errs error
		for _, s := range streams {
			wg.Go(func() {
				if err := s.Until("notifications/resources/updated", 20*time.Second); err != nil {
					mu.Lock()
					errs = errors.Join(errs, err)
					mu.Unlock()
				}
			})
		}
		begun := time.Now()
		_, err := caller.Request("tools/call", "create_task", wire.Call("create_task", fmt.Sprintf(`{"title":"change %d"}`, i)))
		wg.Wait()
		if err := errors.Join(err, errs); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begun).Seconds()*1e3)
	}
	return took.median(), nil
}
