package mcpserver_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/mcpserver"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// hasty is a client's end of the output: something changes the very moment that
// the client is told of its subscription.
type hasty struct {
	got    bytes.Buffer
	change func()
}

func (h *hasty) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("notifications/subscriptions/acknowledged")) {
		h.change()
	}
	return h.got.Write(p)
}

func TestAChangeAtTheMomentOfTheAcknowledgementIsHeardOf(t *testing.T) {
	s, err := mcpserver.New(actor.LocalUser(), mcpserver.Options{
		Name: "bench", Title: "Bench", Version: "1",
		Door: tool.NewDoor(tool.Options{Log: audit.Nowhere{}}), Sets: []toolset.Set{newBench().set(true)}, Drain: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	in, lines := io.Pipe()
	out := &hasty{change: func() { s.Announce(mcpserver.Notice{Kind: mcpserver.ResourceUpdated, URI: "bench://item/1"}) }}
	over := make(chan error)
	go func() { over <- s.RunStdio(t.Context(), in, out) }()
	io.WriteString(lines, listen("1", `{"resourceSubscriptions":["bench://item/1"]}`)+"\n")
	io.WriteString(lines, call("2", "say", "{}")+"\n")
	lines.Close()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	wire := strings.Split(strings.TrimSpace(out.got.String()), "\n")
	var order []string
	for _, line := range wire {
		for _, word := range []string{"acknowledged", "resources/updated", `"id":2`, `"id":1`} {
			if strings.Contains(line, word) {
				order = append(order, word)
				break
			}
		}
	}
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "acknowledged ") || strings.Count(got, "resources/updated") != 1 {
		t.Errorf("the client saw %s, in\n%s", got, out.got.String())
	}
}
