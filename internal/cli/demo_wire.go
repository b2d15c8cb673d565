package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/internal/mcpclient"
)

// wire shows what goes over the wire, and remembers it, so that a step can be
// held against what was really said. Safe for concurrent use.
type wire struct {
	d *stage

	mu      sync.Mutex
	seen    []said
	arrived chan struct{}   // closed when something is added
	whole   bool            // whether what every message repeats is shown
	headers map[string]bool // those that were shown
}

// said is one message, read as far as the course needs it.
type said struct {
	mcpclient.Message
	Method string
	ID     json.RawMessage
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// is reports whether the message is a request or a notice of this method whose
// parameters have this text in them.
func (s said) is(method, text string) bool {
	return s.Method == method && strings.Contains(string(s.Params), text)
}

func newWire(d *stage) *wire {
	return &wire{d: d, arrived: make(chan struct{}), headers: map[string]bool{}}
}

// begin forgets what was said. With whole, messages are shown with what each of
// them repeats.
func (w *wire) begin(whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.whole = nil, whole
}

// tap is told of every message.
func (w *wire) tap(m mcpclient.Message) {
	s := said{Message: m}
	if len(m.JSON) > 0 {
		var fields struct {
			Method string          `json:"method"`
			ID     json.RawMessage `json:"id"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal(m.JSON, &fields) == nil {
			s.Method, s.ID, s.Params, s.Result, s.Error = fields.Method, fields.ID, fields.Params, fields.Result, fields.Error
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.show(s)
	w.seen = append(w.seen, s)
	close(w.arrived)
	w.arrived = make(chan struct{})
}

func (w *wire) show(s said) {
	arrow := w.d.paint.faint("←")
	if s.Sent {
		arrow = w.d.paint.faint("→")
	}
	if s.HTTP != "" {
		w.d.say("   %s %s", arrow, s.HTTP)
		for _, h := range s.Headers {
			if w.whole || !w.headers[h] {
				w.d.say("       %s", w.d.paint.faint(visible(shortened(h))))
			}
			w.headers[h] = true
		}
		arrow = " "
	}
	if len(s.JSON) == 0 {
		return
	}
	text := ""
	switch {
	case s.Method != "" && s.ID != nil:
		text = fmt.Sprintf("%s, id %s  %s", w.d.paint.strong(s.Method), s.ID, w.text(s.Params))
	case s.Method != "":
		text = fmt.Sprintf("%s  %s", w.d.paint.strong(s.Method), w.text(s.Params))
	case s.Error != nil && s.ID != nil:
		text = w.d.paint.bad(fmt.Sprintf("error of %s  %s", s.ID, w.text(s.Error)))
	case s.Result != nil:
		text = fmt.Sprintf("result of %s  %s", s.ID, w.text(s.Result))
	default:
		text = w.text(s.JSON)
	}
	w.d.say("   %s %s", arrow, text)
}

// repeated are the members of _meta that every message of the modern era has.
var repeated = []string{
	"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo",
	"io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/serverInfo",
}

// withoutRepeated leaves them out of parameters or a result.
func withoutRepeated(params []byte) []byte {
	var kept []member
	for _, m := range members(params) {
		if m.name == "_meta" {
			meta := slices.DeleteFunc(members(m.value), func(m member) bool { return slices.Contains(repeated, m.name) })
			if len(meta) == 0 {
				continue
			}
			m.value = object(meta)
		}
		kept = append(kept, m)
	}
	return object(kept)
}

// member is one member of a JSON object, in the order in which they stand.
type member struct {
	name  string
	value json.RawMessage
}

func members(b []byte) (list []member) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		m := member{name: fmt.Sprint(name)}
		if err != nil || dec.Decode(&m.value) != nil {
			return nil
		}
		list = append(list, m)
	}
	return list
}

func object(list []member) []byte {
	parts := make([]string, len(list))
	for i, m := range list {
		parts[i] = fmt.Sprintf("%q:%s", m.name, m.value)
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// opaque are long strings that mean nothing to a person: cursors, seals, ids.
var opaque = regexp.MustCompile(`([A-Za-z0-9_-]{24})[A-Za-z0-9_=-]{16,}`)

// shownJSON is how many characters of a message are shown.
const shownJSON = 420

// text is JSON as it is shown.
func (w *wire) text(b []byte) string {
	if !w.whole {
		b = withoutRepeated(b)
	}
	return clip(visibleJSON([]byte(shortened(times.ReplaceAllString(strings.TrimSpace(string(b)), "")))), shownJSON)
}

func shortened(s string) string { return opaque.ReplaceAllString(s, "$1…") }

// patience is how long the course waits for a message that must come. A change
// by another process is announced within a second; the rest is for busy
// machines.
const patience = 15 * time.Second

// await waits until such a message has been seen since the step began.
func (w *wire) await(ctx context.Context, what string, match func(said) bool) (said, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		w.mu.Lock()
		arrived := w.arrived
		for _, s := range w.seen {
			if match(s) {
				w.mu.Unlock()
				return s, nil
			}
		}
		w.mu.Unlock()
		select {
		case <-arrived:
		case <-ctx.Done():
			return said{}, fmt.Errorf("%s did not come within %v", what, patience)
		}
	}
}

// all are the messages since the step began that match, in their order.
func (w *wire) all(match func(said) bool) (list []said) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if match(s) {
			list = append(list, s)
		}
	}
	return list
}
