package mcpserver

import "sync"

// Notice says that something changed that clients can subscribe to.
type Notice struct {
	// Kind is what changed.
	Kind NoticeKind
	// URI is the resource, for ResourceUpdated; empty where any may have changed.
	URI string
}

// NoticeKind is one of the four changes that MCP announces.
type NoticeKind int

// The kinds.
const (
	ToolsChanged NoticeKind = iota
	PromptsChanged
	ResourcesChanged
	ResourceUpdated
)

var noticeMethods = [...]string{
	ToolsChanged:     "notifications/tools/list_changed",
	PromptsChanged:   "notifications/prompts/list_changed",
	ResourcesChanged: "notifications/resources/list_changed",
	ResourceUpdated:  "notifications/resources/updated",
}

// Feed carries the notices of one user to everybody who listens. Announcing
// never waits for a client. Safe for concurrent use; the zero value is ready.
type Feed struct {
	mu        sync.Mutex
	listeners map[int]*mailbox
	next      int
}

// Announce tells every listener.
func (f *Feed) Announce(n Notice) {
	n.URI = canonicalURI(n.URI)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.listeners {
		m.put(n)
	}
}

// listen opens a mailbox that gets every notice that want accepts, until stop.
func (f *Feed) listen(want func(Notice) bool) (m *mailbox, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners == nil {
		f.listeners = map[int]*mailbox{}
	}
	id := f.next
	f.next++
	m = &mailbox{want: want, ready: make(chan struct{}, 1)}
	f.listeners[id] = m
	return m, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, id)
	}
}

// mailbox keeps notices until they are taken, each only once: a slow client
// hears that a thing changed, not how often, and the mailbox stays bounded by
// what the client subscribed to.
type mailbox struct {
	want  func(Notice) bool
	ready chan struct{}

	mu     sync.Mutex
	order  []Notice
	waits  map[Notice]bool
	closed bool
}

func (m *mailbox) put(n Notice) {
	if !m.want(n) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits[n] || m.closed {
		return
	}
	if m.waits == nil {
		m.waits = map[Notice]bool{}
	}
	m.waits[n] = true
	m.order = append(m.order, n)
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take empties the mailbox.
func (m *mailbox) take() []Notice {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.order
	m.order, m.waits = nil, nil
	return taken
}
