package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"handrail/bench/wire"
)

const (
	// token is the one user's; benchUser has it.
	token     = "a-token-for-the-bench-and-for-nothing-else"
	benchUser = "local"
	// httpClients is how many connections call at once.
	httpClients = 16
)

// site is a server that runs and listens on loopback.
type site struct {
	cmd            *exec.Cmd
	addr           string
	modern, legacy string // paths
}

// ourSite starts a preset of ours over HTTP.
func (l *lab) ourSite(env []string, args ...string) (*site, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	args = append(args, "--http", "--listen", addr, "--rate-limit", "0", "--log-level", "error")
	cmd := exec.Command(l.handrail, args...)
	cmd.Env = append(append(os.Environ(), env...), `MCP_AUTH_TOKENS_JSON={"`+benchUser+`":"`+token+`"}`)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &site{cmd: cmd, addr: addr, modern: "/mcp", legacy: "/mcp"}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return s, conn.Close()
		}
		if time.Now().After(end) {
			s.stop()
			return nil, fmt.Errorf("handrail %s does not listen: %w\n%s", strings.Join(args, " "), err, said.String())
		}
	}
}

// bareSite starts the bare SDK over HTTP.
func (l *lab) bareSite(env ...string) (*site, error) {
	cmd := exec.Command(l.sdk, "-http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &site{cmd: cmd, modern: "/modern", legacy: "/legacy"}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("the bare SDK does not listen: %w", err)
	}
	s.addr = strings.TrimSpace(said)
	return s, nil
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// stop ends the server. What it was doing is of no interest any more.
func (s *site) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *site) dial(era wire.Era) (*wire.HTTP, error) {
	if era == wire.Modern {
		return wire.Dial(s.addr, s.modern, token, era)
	}
	return wire.Dial(s.addr, s.legacy, token, era)
}

// work is a call that clients make over and over.
type work struct{ tool, params, must string }

var (
	searching = work{"search_tasks", searchHit, hitTitle}
	adding    = work{"add_task", wire.Call("add_task", `{"title":"call the plumber about the order","tags":["home"]}`), `"id":`}
)

// load has clients make calls one after another for a while, and returns how
// long each took, in milliseconds.
func (s *site) load(w work, clients int, during time.Duration) (series, error) {
	var (
		mu   sync.Mutex
		all  series
		errs error
		wg   sync.WaitGroup
	)
	end := time.Now().Add(during)
	for range clients {
		wg.Go(func() {
			took, err := s.caller(w, end)
			mu.Lock()
			defer mu.Unlock()
			all, errs = append(all, took...), errors.Join(errs, err)
		})
	}
	wg.Wait()
	return all, errs
}

func (s *site) caller(w work, end time.Time) (took series, err error) {
	c, err := s.dial(wire.Modern)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for time.Now().Before(end) {
		begun := time.Now()
		reply, err := c.Request("tools/call", w.tool, w.params)
		if err == nil && !bytes.Contains(reply, []byte(w.must)) {
			err = fmt.Errorf("a reply without %q: %s", w.must, reply)
		}
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun).Seconds()*1e3)
	}
	return took, nil
}

// everything starts ours with every toolset on, on the database of the stdio
// rows. name says what that is.
func (l *lab) everything(env ...string) (s *site, name string, err error) {
	ours, err := l.seeded("ours", l.ours)
	if err != nil {
		return nil, "", err
	}
	db := strings.TrimPrefix(ours.env[0], "TASKS_DB_PATH=")
	if l.has("serve") {
		notes, err := l.emptyWorkspace()
		if err != nil {
			return nil, "", err
		}
		s, err = l.ourSite(env, append([]string{"serve", "--db", db}, l.serveArgs(notes, notes)...)...)
		if err == nil {
			return s, "all toolsets", nil
		}
		fmt.Fprintln(os.Stderr, "bench: LEFT OUT: all toolsets together:", err)
	}
	s, err = l.ourSite(append(env, "TASKS_DB_PATH="+db), "tasks")
	return s, "the tasks preset", err
}

// serveArgs switch everything on, as far as this program has options for it.
func (l *lab) serveArgs(notes, project string) (args []string) {
	help, err := exec.Command(l.handrail, "help", "serve").CombinedOutput()
	if err != nil {
		return nil
	}
	for _, o := range [][2]string{
		{"--toolsets", "tasks,notes,todo,taskfile,demo"}, {"--root", notes}, {"--taskfile-root", project},
		{"--allow-write", "add_task,complete_task,delete_task,notes_write,notes_append,tasks_add,tasks_complete"},
	} {
		if bytes.Contains(help, []byte(o[0]+" ")) {
			args = append(args, o[0], o[1])
		}
	}
	return args
}

// has reports whether the program has a command.
func (l *lab) has(command string) bool {
	out, err := exec.Command(l.handrail, "help", command).CombinedOutput()
	return err == nil && bytes.Contains(out, []byte("handrail "+command))
}

func measureHTTP(l *lab) ([]row, error) {
	ours, name, err := l.everything("GOGC=400")
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	bare, err := l.bareSite("GOGC=400")
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	var late [2]series
	var middle [2]series
	rate := func(i int, s *site) func() (float64, error) {
		during := time.Duration(l.pick(1500, 60)) * time.Millisecond
		return func() (float64, error) {
			if _, err := s.load(searching, httpClients, during/5); err != nil {
				return 0, err
			}
			begun := time.Now()
			took, err := s.load(searching, httpClients, during)
			late[i], middle[i] = append(late[i], took.at(0.99)), append(middle[i], took.median())
			return float64(len(took)) / time.Since(begun).Seconds(), err
		}
	}
	got, err := l.turns(l.pick(7, 1), rate(0, ours), rate(1, bare))
	if err != nil {
		return nil, err
	}
	var added series
	for range l.pick(5, 1) {
		during := time.Duration(l.pick(1000, 60)) * time.Millisecond
		begun := time.Now()
		took, err := ours.load(adding, httpClients, during)
		if err != nil {
			return nil, err
		}
		added = append(added, float64(len(took))/time.Since(begun).Seconds())
	}
	what := fmt.Sprintf("search_tasks with one hit over HTTP, %d clients, %s, %s", httpClients, name, wire.Modern)
	beside := "bare Go SDK, GOGC=400, no work"
	return []row{
		{what: what, beside: beside, unit: "/s", ours: got[0], base: got[1], target: atLeast(0.85)},
		{what: what + ", p99", beside: beside, unit: "ms", ours: late[0], base: late[1], target: atMost(1.5)},
		{what: what + ", median", beside: beside, unit: "ms", ours: middle[0], base: middle[1]},
		{what: fmt.Sprintf("durable add_task over HTTP, %d clients, %s", httpClients, name), unit: "/s", ours: added},
	}, nil
}

// sessions are so many connections of one server, kept open.
type sessions []*wire.HTTP

func (all sessions) close() {
	for _, c := range all {
		_ = c.Close()
	}
}

// open makes n of them, eight at a time.
func (s *site) open(era wire.Era, n int) (sessions, error) {
	all := make(sessions, n)
	var wg sync.WaitGroup
	var errs error
	var mu sync.Mutex
	for k := range 8 {
		wg.Go(func() {
			for i := k; i < n; i += 8 {
				c, err := s.dial(era)
				if err != nil {
					mu.Lock()
					errs = errors.Join(errs, err)
					mu.Unlock()
					return
				}
				all[i] = c
			}
		})
	}
	wg.Wait()
	return all, errs
}
