// Lesson 2: validation and structured output.
//
// A model makes mistakes, and it can correct them if it is told what was wrong.
// So a tool says three things as exactly as it can: what it takes (the input
// schema), what it gives back (the output schema and structured content), and,
// when a call is no good, what to do instead.
//
// There are two kinds of failure, and they go to different readers:
//
//   - A protocol error (JSON-RPC "error") says that the request made no sense:
//     no such tool, no such method. It is for the programmer of the host, and
//     many hosts never show it to the model.
//   - A tool error (a result with "isError": true) says that the call was
//     understood and refused. It is for the model, which reads it and tries
//     again. Whatever the model could do better belongs here.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bookArgs are the arguments. Lesson 1 let the SDK make the schema from the
// struct; here it is written out, because a struct cannot say "1 to 12".
type bookArgs struct {
	Date   string `json:"date"`
	Guests int    `json:"guests"`
	Area   string `json:"area"`
}

// bookSchema is what a model reads before it calls. Each bound that is written
// here is a mistake that is not made. additionalProperties: false matters most:
// without it a misspelt name is dropped in silence, and the model believes that
// its wish was heard.
var bookSchema = json.RawMessage(`{
	"type": "object",
	"properties": {
		"date":   {"type": "string", "description": "The day, as YYYY-MM-DD."},
		"guests": {"type": "integer", "minimum": 1, "maximum": 12},
		"area":   {"type": "string", "enum": ["inside", "terrace"], "default": "inside"}
	},
	"required": ["date", "guests"],
	"additionalProperties": false
}`)

// booking is what a successful call returns. The SDK makes the output schema
// from it, sends it as structuredContent for programs, and repeats the same JSON
// as a text block for hosts that read only text.
type booking struct {
	Date    string `json:"date" jsonschema:"the day, as YYYY-MM-DD"`
	Weekday string `json:"weekday" jsonschema:"the day of the week, in English"`
	Guests  int    `json:"guests"`
	Area    string `json:"area"`
}

// book runs only for arguments that fit the schema; what a schema cannot say is
// checked here. An error that it returns becomes a tool error, word for word.
// Name the argument, the rule, and the way out.
func book(_ context.Context, _ *mcp.CallToolRequest, args bookArgs) (*mcp.CallToolResult, booking, error) {
	day, err := time.Parse(time.DateOnly, args.Date)
	if err != nil {
		return nil, booking{}, fmt.Errorf("date: %q is not a day of the calendar; write it as YYYY-MM-DD", args.Date)
	}
	if winter := day.Month() <= time.March || day.Month() >= time.November; args.Area == "terrace" && winter {
		return nil, booking{}, errors.New(`area: the terrace is closed from November to March; ask for "inside", or for a day from April to October`)
	}
	// From here on the value is known to be good, and is not checked again.
	return nil, booking{
		Date: args.Date, Weekday: day.Weekday().String(), Guests: args.Guests, Area: args.Area,
	}, nil
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "lesson02", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "book_table",
		Description: "Book a table in the restaurant. The terrace is open from April to October.",
		InputSchema: bookSchema,
	}, book)
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
		err = newServer().Run(ctx, &mcp.StdioTransport{})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "lesson02:", err)
		os.Exit(1)
	}
}
