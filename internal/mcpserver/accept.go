package mcpserver

import (
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// accept takes in one line: requests are numbered and queued, what is wrong is
// answered, and cancellations and answers go through at once.
func (c *conn) accept(l line) {
	if l.tooLong {
		f := parseMessage(l.text) // the id, if it stands before the cut
		f.malformed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", MaxLine)}
		c.refuse(&f, nil)
		return
	}
	frames, isBatch := parseLine(l.text)
	if !isBatch {
		c.acceptFrame(&frames[0], nil)
		return
	}
	v := c.negotiated()
	for i := range frames {
		v = max(v, frames[i].version) // dates, which compare as text
	}
	if v >= firstWithoutBatches {
		c.refuse(&frame{malformed: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "protocol " + v + " has no batches"}}, nil)
		return
	}
	b := &batch{}
	for i := range frames {
		if frames[i].malformed != nil || frames[i].isCall() {
			b.waits++
		}
	}
	for i := range frames {
		c.acceptFrame(&frames[i], b)
	}
}

// firstWithoutBatches is the protocol version that took batches away.
const firstWithoutBatches = "2025-06-18"

func (c *conn) acceptFrame(f *frame, b *batch) {
	switch {
	case f.malformed != nil:
		c.refuse(f, b)
	case f.isResponse():
		c.acceptAnswer(f)
	case f.method == notificationCancelled && f.id == nil:
		c.cancel(f)
	case f.isCall():
		c.acceptCall(f, b)
	default:
		if f.method == notificationReady {
			c.setReady()
		}
		c.deliver(&jsonrpc.Request{Method: f.method, Params: f.params})
	}
}

func (c *conn) deliver(msg jsonrpc.Message) {
	c.mu.Lock()
	c.ready = append(c.ready, msg)
	c.mu.Unlock()
}

// refuse answers a message that never reaches the SDK.
func (c *conn) refuse(f *frame, b *batch) {
	id := f.id
	if id == nil {
		id = []byte("null")
	}
	c.reply(errorReply(id, f.malformed), b)
}

func (c *conn) acceptCall(f *frame, b *batch) {
	c.mu.Lock()
	if c.ids[f.key] != nil {
		c.mu.Unlock()
		f.malformed = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is still running"}
		c.refuse(f, b)
		return
	}
	c.next++
	k := &call{number: c.next, id: f.id, key: f.key, batch: b, init: f.method == methodInitialize, direct: c.shortcutOf(f)}
	switch f.method {
	case methodInitialize:
		k.kind = change
	case methodCallTool:
		k.kind = c.kind(f.tool)
	default:
		k.kind = short
	}
	id, err := jsonrpc.MakeID(float64(k.number))
	if err != nil {
		panic(fmt.Sprintf("number %d is no id: %v", k.number, err))
	}
	k.req = &jsonrpc.Request{ID: id, Method: f.method, Params: f.params}
	c.calls[k.number], c.ids[k.key] = k, k
	if k.init {
		c.opening++
	}
	c.mu.Unlock()

	if c.acceptSubscription(f, k) {
		return
	}
	c.mu.Lock()
	c.held = append(c.held, k)
	c.mu.Unlock()
}

// acceptAnswer passes the answer to a request of ours on, once.
func (c *conn) acceptAnswer(f *frame) {
	number, err := strconv.ParseInt(string(f.id), 10, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || !c.asked[number] {
		return // nobody asked
	}
	delete(c.asked, number)
	res := failed(number)
	if res.Error = nil; f.errobj != nil {
		res.Error = wireError(f.errobj)
	}
	res.Result = f.result
	c.ready = append(c.ready, res)
}

// cancel stops a request: one that waits is dropped, one that runs is told.
// Neither gets a reply, as the protocol has it.
func (c *conn) cancel(f *frame) {
	c.mu.Lock()
	k := c.ids[f.cancels]
	if k == nil || k.cancelled || k.init {
		c.mu.Unlock()
		return
	}
	k.cancelled = true
	if k.begun && k.direct != nil && k.direct.stop != nil {
		k.direct.stop()
		c.mu.Unlock()
		return
	}
	if k.begun {
		params := []byte(`{"requestId":` + strconv.FormatInt(k.number, 10) + `}`)
		c.ready = append(c.ready, &jsonrpc.Request{Method: notificationCancelled, Params: params})
		c.mu.Unlock()
		return
	}
	for i, h := range c.held {
		if h == k {
			c.held = append(c.held[:i:i], c.held[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	if k.listen != nil {
		k.listen.stop()
	}
	c.finish(k, nil)
}

// finish forgets a request and sends its reply, if it gets one.
func (c *conn) finish(k *call, reply []byte) {
	c.mu.Lock()
	if c.calls[k.number] != k {
		c.mu.Unlock()
		return
	}
	delete(c.calls, k.number)
	delete(c.ids, k.key)
	if k.init {
		c.opening--
	}
	if k.begun {
		c.running[k.kind]--
	}
	if k.cancelled {
		reply = nil
	}
	c.mu.Unlock()
	c.reply(reply, k.batch)
	c.poke()
}

// reply writes a reply, or puts it with the others of its batch.
func (c *conn) reply(reply []byte, b *batch) {
	if b == nil {
		if reply != nil {
			c.writeLine(reply)
		}
		return
	}
	c.mu.Lock()
	b.waits--
	if reply != nil {
		b.replies = append(b.replies, reply)
	}
	whole := b.waits == 0 && len(b.replies) > 0
	c.mu.Unlock()
	if whole {
		c.writeLine(joinBatch(b.replies))
	}
}
