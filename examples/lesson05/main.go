// Lesson 5: progress and cancellation.
//
// Some calls take long. Two courtesies make that bearable:
//
//   - Progress. A client that wants to hear of it puts a token into the request.
//     The server may then send notices with that token, each with a larger number
//     than the one before, until it answers. Without a token it sends none.
//   - Cancellation. A client that gives up says so with a notice that names the
//     request. Nobody waits any more: a reply that comes all the same (the SDK
//     sends one) is dropped unread. What counts is that the work stops.
//
// In Go, cancellation arrives as the end of the handler's context. So every wait
// in a handler is a select with ctx.Done(), and whatever it calls gets ctx.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type stepsArgs struct {
	Steps   int `json:"steps" jsonschema:"how many steps to work through, 1 to 100"`
	DelayMs int `json:"delayMs,omitempty" jsonschema:"how long each step takes, in milliseconds, 0 to 10000"`
}

type stepsDone struct {
	Completed int `json:"completed" jsonschema:"how many steps were done"`
}

// worker does the slow work; log is where it says what nobody else would see.
type worker struct{ log io.Writer }

func (w worker) process(ctx context.Context, req *mcp.CallToolRequest, args stepsArgs) (*mcp.CallToolResult, stepsDone, error) {
	// Bounds are not only for good form: each step holds a goroutine, and a caller
	// who may ask for a million of them has a way to stop the server.
	if args.Steps < 1 || args.Steps > 100 || args.DelayMs < 0 || args.DelayMs > 10_000 {
		return nil, stepsDone{}, errors.New("steps must be 1 to 100, and delayMs 0 to 10000")
	}
	token := req.Params.GetProgressToken() // nil: the client does not want to know
	for done := 1; done <= args.Steps; done++ {
		select {
		case <-time.After(time.Duration(args.DelayMs) * time.Millisecond):
		case <-ctx.Done():
			fmt.Fprintf(w.log, "cancelled: stopped after %d of %d steps\n", done-1, args.Steps)
			return nil, stepsDone{}, ctx.Err()
		}
		if token == nil {
			continue
		}
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token,
			Progress:      float64(done),
			Total:         float64(args.Steps), // left out where nobody knows
			Message:       fmt.Sprintf("step %d", done),
		})
		if err != nil {
			// Progress is a courtesy: that it cannot be delivered is no reason to
			// stop the work. If the client is gone, ctx will say so.
			fmt.Fprintln(w.log, "progress:", err)
		}
	}
	return nil, stepsDone{Completed: args.Steps}, nil
}

// newServer takes the place where the worker writes its log, since that must
// never be standard output.
func newServer(log io.Writer) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "lesson05", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "process_steps",
		Description: "Work through a number of steps, slowly, and report progress.",
	}, worker{log}.process)
	return server
}

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *demoFlag {
		err = demo(ctx)
	} else {
		err = newServer(os.Stderr).Run(ctx, &mcp.StdioTransport{})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "lesson05:", err)
		os.Exit(1)
	}
}
