package main

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long a demo waits for something that should come at once.
const patience = 5 * time.Second

// demo plays a host that shows the list to its user and keeps it fresh.
func demo(ctx context.Context) error {
	updated := make(chan string, 10) // URIs that have changed
	listed := make(chan string, 10)  // a note for every changed list
	begun := make(chan string, 10)   // a note for every subscription that has begun
	session, err := connect(ctx, newServer(), &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			updated <- r.Params.URI
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			listed <- "resources/list"
		},
	}, acknowledged(begun))
	if err != nil {
		return err
	}
	defer session.Close()

	step("1. What can be read: a list of resources, and templates for more")
	if err := list(ctx, session); err != nil {
		return err
	}
	templates, err := session.ListResourceTemplates(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range templates.ResourceTemplates {
		say("template %s: %s", t.URITemplate, t.Title)
	}

	step("2. Read the list, and one item through the template")
	for _, uri := range []string{listURI, itemPrefix + "2"} {
		if err := read(ctx, session, uri); err != nil {
			return err
		}
	}

	step("3. Read what is not there: an error that says only that")
	if err := read(ctx, session, itemPrefix+"99"); err == nil {
		return fail("item 99 was read")
	} else {
		say("%v", err)
	}

	step("4. Subscribe to the list, then let a tool change it")
	if err := session.Subscribe(ctx, &mcp.SubscribeParams{URI: listURI}); err != nil {
		return err
	}
	if !*legacyFlag {
		// There, the reply to resources/subscribe says that it has begun. Here it
		// is a notice, one for each listen: the first was about lists.
		for range 2 {
			if _, err := next(begun); err != nil {
				return err
			}
		}
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "add_item", Arguments: map[string]any{"item": "soap"}}); err != nil {
		return err
	}
	for _, notices := range []chan string{updated, listed} {
		what, err := next(notices)
		if err != nil {
			return err
		}
		say("told: %s has changed", what)
	}

	step("5. The notice did not say how it changed: read again")
	if err := read(ctx, session, listURI); err != nil {
		return err
	}
	if err := list(ctx, session); err != nil {
		return err
	}

	step("6. Unsubscribe: from here on there is silence")
	return session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: listURI})
}

// acknowledged notes when the server says that a subscription has begun. A change
// made before that is not announced.
func acknowledged(begun chan<- string) mcp.Middleware {
	return func(handle mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				begun <- method
			}
			return handle(ctx, method, req)
		}
	}
}

// next waits for the next notice.
func next(notices <-chan string) (string, error) {
	select {
	case what := <-notices:
		return what, nil
	case <-time.After(patience):
		return "", fail("no notice came")
	}
}

func list(ctx context.Context, session *mcp.ClientSession) error {
	resources, err := session.ListResources(ctx, nil)
	if err != nil {
		return err
	}
	for _, r := range resources.Resources {
		say("resource %s (%s)", r.URI, r.Name)
	}
	return nil
}

func read(ctx context.Context, session *mcp.ClientSession, uri string) error {
	result, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return err
	}
	if len(result.Contents) != 1 {
		return fail("%s has %d contents", uri, len(result.Contents))
	}
	say("%s holds %s", uri, result.Contents[0].Text)
	return nil
}
