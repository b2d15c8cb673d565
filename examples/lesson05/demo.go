package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long a demo waits for something that should come at once.
const patience = 5 * time.Second

// demo plays a host that shows a progress bar, and a user who loses patience.
func demo(ctx context.Context) error {
	log := make(lines, 10)
	progress := make(chan *mcp.ProgressNotificationParams, 200)
	session, err := connect(ctx, newServer(log), &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress <- r.Params
		},
	})
	if err != nil {
		return err
	}
	defer session.Close()

	step("1. A call without a token: no progress, only the answer")
	result, err := session.CallTool(ctx, call(3, 0, nil))
	if err != nil {
		return err
	}
	say("answer: %v, notices: %d", result.StructuredContent, len(progress))

	step("2. The same call with a token")
	if _, err = session.CallTool(ctx, call(3, 20, "bar-1")); err != nil {
		return err
	}
	for range 3 {
		p := <-progress
		say("%v: %.0f of %.0f (%s)", p.ProgressToken, p.Progress, p.Total, p.Message)
	}

	step("3. A long call, given up after its second step")
	patient, giveUp := context.WithCancel(ctx)
	defer giveUp()
	failed := make(chan error, 1)
	go func() {
		_, err := session.CallTool(patient, call(100, 200, "bar-2"))
		failed <- err
	}()
	for range 2 {
		say("%.0f of %.0f", (<-progress).Progress, 100.0)
	}
	giveUp()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		return fail("the call ended with %v", err)
	}
	say("the client waits no more")
	deadline := time.After(patience)
	for {
		select {
		case line := <-log:
			if strings.HasPrefix(line, "cancelled") {
				say("the server's log says: %s", line)
				return nil
			}
		case <-deadline:
			return fail("the server did not stop working")
		}
	}
}

// call makes the parameters of a call. The token may be any string or number
// that is not in use; the client finds the call's notices by it.
func call(steps, delayMs int, token any) *mcp.CallToolParams {
	params := &mcp.CallToolParams{
		Name:      "process_steps",
		Arguments: map[string]any{"steps": steps, "delayMs": delayMs},
	}
	if token != nil {
		params.SetProgressToken(token)
	}
	return params
}

// lines hands a log on line by line.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- strings.TrimSpace(string(b))
	return len(b), nil
}
