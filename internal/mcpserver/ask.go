package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"handrail/internal/tool"
)

// questionKey names the one question of a call in its input requests.
const questionKey = "confirm"

// confirmForm is the form that a person fills in where nothing but a yes is
// asked for.
var confirmForm = json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, do it","description":"This cannot be undone."}},"required":["confirm"]}`)

// form is what a person fills in for a question.
func form(q tool.Question) json.RawMessage {
	if len(q.Fields) == 0 {
		return confirmForm
	}
	type field struct {
		Type        string   `json:"type"`
		Title       string   `json:"title,omitempty"`
		Description string   `json:"description,omitempty"`
		Enum        []string `json:"enum,omitempty"`
	}
	properties, required := map[string]field{}, []string{}
	for _, f := range q.Fields {
		properties[f.Name] = field{Type: "string", Title: f.Name, Description: f.Doc, Enum: f.Enum}
		required = append(required, f.Name)
	}
	if !q.OnlyFields {
		properties[questionKey] = field{Type: "boolean", Title: "Yes, do it"}
		required = append(required, questionKey)
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil { // strings
		panic(err)
	}
	return b
}

// asker puts the question of one call to the person behind its client. In the
// modern era the client gets the question as the result and calls again with
// the answer; for a client of the handshake era the SDK asks and calls again
// in the client's place.
type asker struct {
	seal  *Seal
	user  string
	req   *mcp.CallToolRequest
	state string // the sealed state of a question that is pending
}

// asker is nil where the client cannot ask a person.
func (s *Server) asker(req *mcp.CallToolRequest) *asker {
	if s.seal == nil {
		return nil
	}
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return nil
	}
	if e := caps.Elicitation; e.Form == nil && e.URL != nil {
		return nil // it can only open a page
	}
	return &asker{seal: s.seal, user: s.who.User, req: req}
}

// Ask implements tool.Asker.
func (a *asker) Ask(ctx context.Context, t tool.Tool, canonical []byte, q *tool.Question) (tool.Answer, string, error) {
	p := a.req.Params
	if p.RequestState == "" {
		state, err := a.seal.close(a.user, t.Spec.Name, canonical, q.Target)
		a.state = state
		return tool.Pending, "", err
	}
	st, err := a.seal.open(p.RequestState, a.user, t.Spec.Name, canonical, q.Target)
	if err != nil {
		return tool.No, err.Error(), nil
	}
	answer, _ := p.InputResponses[questionKey].(*mcp.ElicitResult)
	if answer == nil {
		return tool.No, "the answer to the question is missing; nothing was changed", nil
	}
	if err := a.seal.spend(ctx, st); errors.Is(err, errStateSpent) {
		return tool.No, err.Error(), nil
	} else if err != nil {
		return tool.No, "", err // it cannot be told whether it was used
	}
	yes, _ := answer.Content[questionKey].(bool)
	switch {
	case answer.Action == "accept" && (yes || q.OnlyFields):
		q.Given = map[string]string{}
		for _, f := range q.Fields {
			if text, ok := answer.Content[f.Name].(string); ok {
				q.Given[f.Name] = text
			}
		}
		return tool.Yes, "", nil
	case answer.Action == "cancel":
		return tool.No, "the person closed the question without an answer; nothing was changed", nil
	}
	return tool.No, "the person said no; nothing was changed", nil
}

// question is the result that asks.
func (a *asker) question(q tool.Question) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{questionKey: &mcp.ElicitParams{
			Mode: "form", Message: q.Message, RequestedSchema: form(q),
		}},
		RequestState: a.state,
	}
}
