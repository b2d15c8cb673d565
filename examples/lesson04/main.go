// Lesson 4: prompts and completions.
//
// A prompt is a text that a person chooses: hosts show prompts as slash commands
// or in a menu, with a form for the arguments. It is the third of the three
// things a server offers, and who decides is what tells them apart: a tool is
// chosen by the model, a resource by the host or its user, a prompt by the user.
//
// A prompt returns messages, ready to be put into the conversation. It does
// nothing else: it runs no model and changes nothing.
//
// A completion helps the person fill the form in. The host sends what has been
// typed so far, and the server proposes values. It may send the other arguments
// as well, so that the proposals for a city can depend on the country.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// cities are what can be completed: by country, the best known first. The order
// counts: a host shows them as they come.
var cities = map[string][]string{
	"China": {"Beijing", "Shanghai", "Nanjing", "Hangzhou", "Chengdu"},
	"Italy": {"Rome", "Milan", "Naples", "Turin", "Trieste"},
}

var countries = []string{"China", "Italy"}

// planDay is the prompt. All arguments are strings, whatever they mean: they
// come from a form. The SDK does not check that a required one is there.
func planDay(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	country, city := req.Params.Arguments["country"], req.Params.Arguments["city"]
	if country == "" || city == "" {
		// There is no model to read this, only a form: so it is a protocol error.
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "plan-day needs the arguments country and city"}
	}
	return &mcp.GetPromptResult{
		Description: "A day in " + city,
		Messages: []*mcp.PromptMessage{{
			Role: "user",
			// What a person typed goes into a text that a model will obey. Here
			// they are the same person's words; with a stranger's data you would
			// have to say where it begins and ends, and that it is data.
			Content: &mcp.TextContent{Text: fmt.Sprintf(
				"Plan one day in %s, %s: morning, afternoon and evening, one sentence each.", city, country)},
		}},
	}, nil
}

// complete proposes values. One handler serves every prompt and every resource
// template, so it first looks which argument of what is meant.
func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref, argument := req.Params.Ref, req.Params.Argument
	if ref.Type != "ref/prompt" || ref.Name != "plan-day" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is nothing to complete for that"}
	}
	var known []string
	switch argument.Name {
	case "country":
		known = countries
	case "city":
		// What has been filled in already, where the client sends it. One that
		// does not know a country yet gets the cities of all of them.
		if req.Params.Context != nil {
			known = cities[req.Params.Context.Arguments["country"]]
		}
		if known == nil {
			for _, country := range countries {
				known = append(known, cities[country]...)
			}
		}
	}
	values := []string{} // "no proposals" is an empty list, and not null
	for _, v := range known {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(argument.Value)) {
			values = append(values, v)
		}
	}
	// At most 100 values may be sent; Total and HasMore say if there are more.
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "lesson04", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: complete, // declares the capability "completions"
	})
	server.AddPrompt(&mcp.Prompt{
		Name:        "plan-day",
		Title:       "Plan a day",
		Description: "Ask for a plan of one day in a city.",
		Arguments: []*mcp.PromptArgument{
			{Name: "country", Description: "The country.", Required: true},
			{Name: "city", Description: "A city in it.", Required: true},
		},
	}, planDay)
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
		fmt.Fprintln(os.Stderr, "lesson04:", err)
		os.Exit(1)
	}
}
