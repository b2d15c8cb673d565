package taskfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// MatchName is the argument that fills the asterisks of a wildcard's name.
const MatchName = "MATCH"

// Schema is the JSON Schema of a tool's arguments: what a caller may set, and
// nothing besides.
func (d Decl) Schema() json.RawMessage {
	type property struct {
		Type        string          `json:"type"`
		Description string          `json:"description,omitempty"`
		Default     any             `json:"default,omitempty"`
		Enum        []string        `json:"enum,omitempty"`
		Items       json.RawMessage `json:"items,omitempty"`
		MinItems    int             `json:"minItems,omitempty"`
		MaxItems    int             `json:"maxItems,omitempty"`
	}
	var properties bytes.Buffer
	required := []string{}
	put := func(name string, p property) {
		if properties.Len() > 0 {
			properties.WriteByte(',')
		}
		properties.Write(encode(name))
		properties.WriteByte(':')
		properties.Write(encode(p))
	}
	if n := d.Wildcards(); n > 0 {
		put(MatchName, property{
			Type: "array", MinItems: n, MaxItems: n,
			Items:       json.RawMessage(`{"type":"string","minLength":1}`),
			Description: fmt.Sprintf("What stands for each * in %s, in order.", d.Task),
		})
		required = append(required, MatchName)
	}
	for _, v := range d.Vars {
		put(v.Name, property{Type: string(v.Kind), Default: v.Default, Enum: v.Enum, Description: v.about()})
		if v.Required {
			required = append(required, v.Name)
		}
	}
	text := []byte(`{"type":"object","properties":{` + properties.String() + `}`)
	if len(required) > 0 {
		text = append(append(text, `,"required":`...), encode(required)...)
	}
	return append(text, `,"additionalProperties":false}`...)
}

// about says in few words what a schema cannot.
func (v Var) about() string {
	switch {
	case len(v.Enum) > 0:
		return ""
	case slices.Contains(v.Places, Fixed) && v.Default != nil:
		return "It decides what runs: only the default is accepted."
	case slices.Contains(v.Places, Fixed):
		return "It decides what runs: no value is accepted, unless --raw-var allows any."
	case v.Secret:
		return "A secret."
	}
	return ""
}

// encode is v as JSON, with <, > and & as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return []byte("null") // no value here can fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
