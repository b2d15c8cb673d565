package mcpserver

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/actor"
)

// The patience with what is not used.
const (
	// sessionIdle is how long a session of the handshake era may do nothing, with
	// no stream open, before it is ended.
	sessionIdle = 30 * time.Minute
	// userIdle is how long a user without sessions keeps a server in memory.
	userIdle = 10 * time.Minute
	// maxSessions bounds the sessions of one user.
	maxSessions = 4096
)

// users keeps one server and one pair of handlers for each user, so that
// sessions and subscriptions of two users cannot meet.
type users struct {
	make     func(actor.Actor) (*Server, error)
	now      func() time.Time
	stopping context.Context
	logger   *slog.Logger

	mu     sync.Mutex
	byName map[string]*user
	over   chan struct{}
}

// user is what one user has here.
type user struct {
	server         *Server
	modern, legacy http.Handler
	replay         *replay
	leave          func() // ends the forwarding of notices
	vouched        vouchers

	// Guarded by users.mu.
	refs           int
	calls, streams int
	last           time.Time
	sessions       map[string]*sessionUse
}

// sessionUse is how a session of the handshake era is used.
type sessionUse struct {
	refs int
	last time.Time
}

// usage is what all users together hold.
type usage struct{ users, sessions, streams, calls int }

func newUsers(newServer func(actor.Actor) (*Server, error), now func() time.Time, stopping context.Context, logger *slog.Logger) *users {
	u := &users{make: newServer, now: now, stopping: stopping, logger: logger, byName: map[string]*user{}, over: make(chan struct{})}
	go u.tidy()
	return u
}

// acquire is the user's entry, which stays until release.
func (u *users) acquire(who actor.Actor) (*user, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.byName[who.User]
	if e == nil {
		server, err := u.make(who)
		if err != nil {
			return nil, err
		}
		e = u.open(server)
		u.byName[who.User] = e
	}
	e.refs++
	return e, nil
}

func (u *users) open(server *Server) *user {
	server.endListens(u.stopping)
	get := func(*http.Request) *mcp.Server { return server.sdk }
	kept := newReplay()
	options := func(stateless bool) *mcp.StreamableHTTPOptions {
		o := &mcp.StreamableHTTPOptions{
			Stateless: stateless, Logger: slog.New(quiet{u.logger.Handler()}),
			DisableLocalhostProtection:   true, // HTTP.guard does it for every address
			PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody + 1,
		}
		if !stateless {
			o.EventStore = kept
		}
		return o
	}
	return &user{
		server: server, leave: server.forwardToSDK(), replay: kept, sessions: map[string]*sessionUse{},
		modern: mcp.NewStreamableHTTPHandler(get, options(true)),
		legacy: mcp.NewStreamableHTTPHandler(get, options(false)),
	}
}

func (u *users) release(e *user) {
	u.mu.Lock()
	defer u.mu.Unlock()
	e.refs--
	e.last = u.now()
}

// begin counts a call or a stream in, if the user may have one more.
func (u *users) begin(e *user, stream bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	count, most := &e.calls, maxCalls
	if stream {
		count, most = &e.streams, maxStreams
	}
	if *count >= most {
		return false
	}
	*count++
	return true
}

func (u *users) end(e *user, stream bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if stream {
		e.streams--
	} else {
		e.calls--
	}
}

// touch counts a request of a session in; the function that it returns counts
// it out. A session that is not known is left to the SDK, which says so.
func (u *users) touch(e *user, session string) func() {
	u.mu.Lock()
	defer u.mu.Unlock()
	use := e.sessions[session]
	if use == nil {
		return func() {}
	}
	use.refs++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		use.refs--
		use.last = u.now()
	}
}

// mayOpen reports whether the user may have another session.
func (u *users) mayOpen(e *user) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(e.sessions) < maxSessions
}

// opened and closed note what became of a session.
func (u *users) opened(e *user, session string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e.sessions[session] == nil {
		e.sessions[session] = &sessionUse{last: u.now()}
	}
}

func (u *users) closed(e *user, session string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(e.sessions, session)
}

func (u *users) usage() usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := usage{users: len(u.byName)}
	for _, e := range u.byName {
		n.sessions += len(e.sessions)
		n.streams += e.streams
		n.calls += e.calls
	}
	return n
}

// tidy ends what nobody uses any more.
func (u *users) tidy() {
	defer close(u.over)
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			u.sweep()
		case <-u.stopping.Done():
			return
		}
	}
}

// sweep ends idle sessions and forgets idle users.
func (u *users) sweep() {
	type old struct {
		user    *user
		session string
	}
	var idle []old
	now := u.now()
	u.mu.Lock()
	for name, e := range u.byName {
		for id, use := range e.sessions {
			if use.refs == 0 && now.Sub(use.last) > sessionIdle {
				idle = append(idle, old{e, id})
				delete(e.sessions, id)
			}
		}
		if e.refs == 0 && len(e.sessions) == 0 && now.Sub(e.last) > userIdle {
			delete(u.byName, name)
			e.leave()
		}
	}
	u.mu.Unlock()
	for _, o := range idle {
		o.user.end(o.session)
	}
}

// end has the SDK end a session.
func (e *user) end(session string) {
	r, err := http.NewRequest(http.MethodDelete, "/mcp", nil)
	if err != nil { // a constant URL
		panic(err)
	}
	r.Header.Set(sessionHeader, session)
	e.legacy.ServeHTTP(discard{http.Header{}}, r)
}

// close ends every session of every user.
func (u *users) close() {
	<-u.over
	u.mu.Lock()
	all := u.byName
	u.byName = map[string]*user{}
	u.mu.Unlock()
	for _, e := range all {
		for id := range e.sessions {
			e.end(id)
		}
		e.leave()
	}
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
