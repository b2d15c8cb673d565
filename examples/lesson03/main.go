// Lesson 3: resources, templates and subscriptions.
//
// A tool is something a model does; a resource is something a host can read:
// data with an address (a URI), which the user or the host puts into the
// conversation. Reading changes nothing.
//
//   - A resource with a fixed URI is in resources/list.
//   - A template ("shopping://items/{id}") stands for as many resources as there
//     are values, without listing them.
//   - A client that has read a resource can subscribe to it. The server then says
//     "this URI has changed" — and not what it has become. The client reads again
//     if it still cares. So no notice ever carries what its reader may not see,
//     and ten changes at once need only one reading.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	listURI    = "shopping://list"
	itemPrefix = "shopping://items/"
)

// shopping is the data. Requests run at the same time, so it needs a lock.
type shopping struct {
	mu    sync.Mutex
	items []string // item n has id n+1
}

// read serves both the list and the single items: a resource handler is given
// the URI that was asked for.
func (s *shopping) read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uri := req.Params.URI
	var value any = s.items
	if text, ok := strings.CutPrefix(uri, itemPrefix); ok {
		id, err := strconv.Atoi(text)
		if err != nil || id < 1 || id > len(s.items) {
			return nil, mcp.ResourceNotFoundError(uri) // the same for "no such" and "not yours"
		}
		value = s.items[id-1]
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{
		Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(b)}},
	}, nil
}

type addArgs struct {
	Item string `json:"item" jsonschema:"what to buy"`
}

// newServer ties the data to the protocol.
func newServer() *mcp.Server {
	data := &shopping{items: []string{"tea", "rice"}}

	// With these two handlers the server declares that it can be subscribed to.
	// They could refuse; the SDK itself remembers who has subscribed to what.
	server := mcp.NewServer(&mcp.Implementation{Name: "lesson03", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	server.AddResource(&mcp.Resource{
		URI: listURI, Name: "list", Title: "The shopping list", MIMEType: "application/json",
	}, data.read)
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: itemPrefix + "{id}", Name: "item", Title: "One item by its number", MIMEType: "application/json",
	}, data.read)

	// The tool changes what the resources show, and says so. First the change,
	// then the notice: a client that reads at once must find what is new.
	mcp.AddTool(server, &mcp.Tool{Name: "add_item", Description: "Put something on the shopping list."},
		func(ctx context.Context, _ *mcp.CallToolRequest, args addArgs) (*mcp.CallToolResult, any, error) {
			data.mu.Lock()
			data.items = append(data.items, args.Item)
			uri := itemPrefix + strconv.Itoa(len(data.items))
			data.mu.Unlock()

			// Two different notices. "updated": what this URI holds is different.
			// "list changed": there is a URI that was not there; the SDK sends it
			// by itself when a resource is added.
			if err := server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: listURI}); err != nil {
				return nil, nil, err
			}
			server.AddResource(&mcp.Resource{URI: uri, Name: args.Item, MIMEType: "application/json"}, data.read)

			// A tool can point at a resource instead of repeating it.
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.ResourceLink{URI: uri, Name: args.Item, MIMEType: "application/json"},
			}}, nil, nil
		})
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
		fmt.Fprintln(os.Stderr, "lesson03:", err)
		os.Exit(1)
	}
}
