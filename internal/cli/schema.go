package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// schema is what the command line shows of a JSON schema.
type schema struct {
	Type        string     `json:"type"`
	Description string     `json:"description"`
	Properties  properties `json:"properties"`
	Required    []string   `json:"required"`
	Items       *schema    `json:"items"`
	Enum        []any      `json:"enum"`
	Format      string     `json:"format"`
	Default     any        `json:"default"`
	MinLength   int        `json:"minLength"`
	MaxLength   int        `json:"maxLength"`
	MinItems    int        `json:"minItems"`
	MaxItems    int        `json:"maxItems"`
	Minimum     *float64   `json:"minimum"`
	Maximum     *float64   `json:"maximum"`
}

// property is one property of an object.
type property struct {
	name   string
	schema *schema
}

// properties keeps the order in which they stand.
type properties []property

// UnmarshalJSON implements json.Unmarshaler.
func (p *properties) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := property{name: fmt.Sprint(name)}
		if err := dec.Decode(&one.schema); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

// argument is a line about one argument of a tool.
type argument struct {
	// name is its path: "title", "filter.status".
	name string
	// rule says what it may be: "text, 1 to 200 characters".
	rule     string
	doc      string
	required bool
}

// arguments lists the arguments of an input schema, those of an object inside
// behind it.
func arguments(input json.RawMessage) ([]argument, error) {
	var s schema
	if err := json.Unmarshal(input, &s); err != nil {
		return nil, err
	}
	return s.arguments(""), nil
}

func (s *schema) arguments(path string) []argument {
	var list []argument
	for _, p := range s.Properties {
		a := argument{name: path + p.name, rule: p.schema.rule(), doc: p.schema.Description}
		for _, r := range s.Required {
			a.required = a.required || r == p.name
		}
		list = append(list, a)
		list = append(list, p.schema.arguments(path+p.name+".")...)
	}
	return list
}

// rule says in plain English what a value may be.
func (s *schema) rule() string {
	switch {
	case len(s.Enum) == 1:
		return fmt.Sprintf("exactly %v", s.Enum[0])
	case len(s.Enum) > 1:
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			words[i] = fmt.Sprint(v)
		}
		return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	}
	rule := map[string]string{"string": "text", "object": "object", "boolean": "true or false", "integer": "integer", "number": "number"}[s.Type]
	switch {
	case s.Type == "array" && s.Items != nil:
		rule = "list of " + s.Items.rule() + " each"
		if s.MaxItems > 0 {
			rule = fmt.Sprintf("up to %d of: %s", s.MaxItems, s.Items.rule())
		}
	case s.Format == "date":
		rule = "date, YYYY-MM-DD"
	case s.MaxLength > 0:
		rule += fmt.Sprintf(", %d to %d characters", s.MinLength, s.MaxLength)
	case s.Minimum != nil && s.Maximum != nil && *s.Maximum < 1e9:
		rule += fmt.Sprintf(", %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		rule += fmt.Sprintf(", at least %.0f", *s.Minimum)
	}
	if s.Default != nil {
		rule += fmt.Sprintf(", default %v", s.Default)
	}
	return rule
}
