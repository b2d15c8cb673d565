package mcpserver

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of what one session may subscribe to.
const (
	maxListens = 64
	maxURIs    = 1000
)

// subscribable is what a server announces changes of.
type subscribable struct {
	tools, prompts, resources, updates bool
	// versions are the modern protocol versions that are served.
	versions []string
	// info names the server in a subscription's last word.
	info *mcp.Implementation
}

// allowed is the part of want that the server can keep.
func (s subscribable) allowed(want *mcp.NotificationSubscriptions) mcp.NotificationSubscriptions {
	got := mcp.NotificationSubscriptions{
		ToolsListChanged:     want.ToolsListChanged && s.tools,
		PromptsListChanged:   want.PromptsListChanged && s.prompts,
		ResourcesListChanged: want.ResourcesListChanged && s.resources,
	}
	if s.updates {
		got.ResourceSubscriptions = slices.Clone(want.ResourceSubscriptions)
	}
	return got
}

// legacySession is what a session of the handshake era has told.
type legacySession struct {
	version string // negotiated; empty before
	ready   bool   // the client said that it is initialized
	uris    uriSet
	stop    func()
}

// listen is one subscriptions/listen that is open.
type listen struct {
	stop func() // stops the notices and waits for the last one
}

func (c *conn) negotiated() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.legacy.version
}

// noteVersion reads what the SDK negotiated from its reply.
func (c *conn) noteVersion(result []byte) {
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &r) == nil {
		c.mu.Lock()
		c.legacy.version = r.ProtocolVersion
		c.mu.Unlock()
	}
}

// setReady begins to announce changes to a client of the handshake era.
func (c *conn) setReady() {
	c.mu.Lock()
	begin := c.legacy.version != "" && !c.legacy.ready
	c.legacy.ready = c.legacy.ready || begin
	c.mu.Unlock()
	if !begin {
		return
	}
	stop := c.forward(func(n Notice) bool {
		switch n.Kind {
		case ToolsChanged:
			return c.subscribe.tools
		case PromptsChanged:
			return c.subscribe.prompts
		case ResourcesChanged:
			return c.subscribe.resources
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return n.URI == "" || c.legacy.uris.has(n.URI)
	}, func(n Notice) []Notice {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.legacy.uris.named(n)
	}, nil, func() {})
	c.mu.Lock()
	c.legacy.stop = stop
	c.mu.Unlock()
}

// forward writes the notices that want accepts, as named names them, until stop.
// A subscription's id goes with each; nil for a client of the handshake era.
// Notices are kept from the moment before acknowledge, and written after it: the
// client hears of every change since it was told that it would.
func (c *conn) forward(want func(Notice) bool, named func(Notice) []Notice, id []byte, acknowledge func()) (stop func()) {
	box, leave := c.feed.listen(want)
	acknowledge()
	end, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		write := func() {
			for _, n := range box.take() {
				for _, n := range named(n) {
					c.writeLine(noticeLine(n, id))
				}
			}
		}
		for {
			select {
			case <-box.ready:
				write()
			case <-end:
				write() // what came before the end
				return
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			leave()
			close(end)
			<-over
		})
	}
}

func noticeLine(n Notice, id []byte) []byte {
	params := map[string]any{}
	if id != nil {
		params["_meta"] = map[string]any{mcp.MetaKeySubscriptionID: json.RawMessage(id)}
	}
	if n.Kind == ResourceUpdated {
		params["uri"] = n.URI
	}
	return notification(noticeMethods[n.Kind], params)
}

func notification(method string, params any) []byte {
	b, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	if err != nil { // strings, and raw JSON that parsed
		panic(err)
	}
	return b
}

// acceptSubscription answers the requests that are about subscriptions. Those
// it cannot judge, and all others, are the SDK's.
func (c *conn) acceptSubscription(f *frame, k *call) bool {
	switch {
	case f.method == methodListen && f.modern() && f.hasCaps && slices.Contains(c.subscribe.versions, f.version):
		return c.acceptListen(f, k)
	case (f.method == methodSubscribe || f.method == methodUnsubscribe) && !f.modern() && c.subscribe.updates && c.negotiated() != "":
		return c.acceptLegacy(f, k)
	}
	return false
}

func (c *conn) acceptListen(f *frame, k *call) bool {
	var p mcp.SubscriptionsListenParams
	if err := json.Unmarshal(f.params, &p); err != nil || p.Notifications == nil {
		c.finish(k, errorReply(k.id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `"notifications" must be an object that says what to listen to`}))
		return true
	}
	got := c.subscribe.allowed(p.Notifications)
	if len(got.ResourceSubscriptions) > maxURIs || c.openListens() >= maxListens {
		c.finish(k, errorReply(k.id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "too many subscriptions in one session"}))
		return true
	}
	uris := uriSet{}
	for _, uri := range got.ResourceSubscriptions {
		uris.add(uri)
	}
	if len(uris) > 0 || got.ResourcesListChanged {
		c.demand()
	}
	meta := map[string]any{mcp.MetaKeySubscriptionID: json.RawMessage(k.id)}
	acknowledge := func() {
		c.writeLine(notification(notificationAck, map[string]any{"_meta": meta, "notifications": got}))
	}
	if !got.ToolsListChanged && !got.PromptsListChanged && !got.ResourcesListChanged && len(uris) == 0 {
		acknowledge()
		c.finish(k, c.listenEnd(k.id))
		return true
	}
	l := &listen{}
	l.stop = c.forward(func(n Notice) bool {
		switch n.Kind {
		case ToolsChanged:
			return got.ToolsListChanged
		case PromptsChanged:
			return got.PromptsListChanged
		case ResourcesChanged:
			return got.ResourcesListChanged
		}
		return n.URI == "" && len(uris) > 0 || uris.has(n.URI)
	}, uris.named, k.id, acknowledge)
	c.mu.Lock()
	k.listen = l
	ended := c.ended
	c.mu.Unlock()
	if ended {
		c.endSubscriptions()
	}
	return true
}

func (c *conn) openListens() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, k := range c.calls {
		if k.listen != nil {
			n++
		}
	}
	return n
}

// listenEnd is the reply that ends a subscription in order.
func (c *conn) listenEnd(id []byte) []byte {
	b, err := json.Marshal(map[string]any{
		"resultType": "complete",
		"_meta":      map[string]any{mcp.MetaKeySubscriptionID: json.RawMessage(id), mcp.MetaKeyServerInfo: c.subscribe.info},
	})
	if err != nil { // names, and raw JSON that parsed
		panic(err)
	}
	return resultReply(id, b)
}

func (c *conn) acceptLegacy(f *frame, k *call) bool {
	var p mcp.SubscribeParams
	if err := json.Unmarshal(f.params, &p); err != nil || p.URI == "" {
		c.finish(k, errorReply(k.id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: `"uri" must name a resource`}))
		return true
	}
	c.mu.Lock()
	if c.legacy.uris == nil {
		c.legacy.uris = uriSet{}
	}
	full := f.method == methodSubscribe && len(c.legacy.uris) >= maxURIs
	switch {
	case f.method == methodUnsubscribe:
		c.legacy.uris.remove(p.URI)
	case !full:
		c.legacy.uris.add(p.URI)
	}
	c.mu.Unlock()
	c.demand()
	if full {
		c.finish(k, errorReply(k.id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "too many subscriptions in one session"}))
		return true
	}
	c.finish(k, resultReply(k.id, []byte("{}")))
	return true
}

// endSubscriptions ends every open subscription with its reply.
func (c *conn) endSubscriptions() {
	c.mu.Lock()
	var open []*call
	for _, k := range c.calls {
		if k.listen != nil {
			open = append(open, k)
		}
	}
	stop := c.legacy.stop
	c.legacy.stop = nil
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
	for _, k := range open {
		k.listen.stop()
		c.finish(k, c.listenEnd(k.id))
	}
}
