package tool

import (
	"context"
	"time"

	"handrail/internal/actor"
)

// Resource is something a client can read by its URI. With Template set, URI
// is an RFC 6570 template and Read serves every URI that matches it.
type Resource struct {
	URI         string
	Template    bool
	Name        string
	Title       string
	Description string
	MIMEType    string
	// TTL is how long a client may keep what it read; zero: not at all.
	TTL time.Duration
	// Read returns the content. Faults: NotFound where there is no such thing for
	// this user.
	Read func(ctx context.Context, who actor.Actor, uri string) (Content, error)
	// Complete proposes values for the variables of a template; nil for none.
	Complete map[string]Completer
}

// Content is what a resource holds: Text, or Blob where Blob is not nil.
type Content struct {
	MIMEType string
	Text     string
	Blob     []byte
}

// Listed is an entry of a resource list that a toolset makes from its data.
type Listed struct {
	URI, Name, Title, Description, MIMEType string
}

// Prompt is a text that a person can choose, with its arguments filled in.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Args        []PromptArg
	// Render makes the messages. Every required argument is there.
	Render func(ctx context.Context, who actor.Actor, args map[string]string) ([]Message, error)
}

// PromptArg is an argument of a prompt.
type PromptArg struct {
	Name, Title, Description string
	Required                 bool
	// Complete proposes values; nil for none.
	Complete Completer
}

// Message is one message of a prompt: Role is "user" or "assistant".
type Message struct {
	Role string
	Text string
}

// MaxCompletions is the largest number of values in one completion.
const MaxCompletions = 100

// Completer proposes values that begin with prefix, best first; a transport
// cuts the list at MaxCompletions and says how many there were.
type Completer func(ctx context.Context, who actor.Actor, prefix string) ([]string, error)
