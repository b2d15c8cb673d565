package tool

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// node is what the arguments of a tool are checked against. It wraps the
// schema that clients see, so that the two cannot differ.
type node struct {
	s *jsonschema.Schema
	// shown is what clients see instead, where the tool checks its arguments itself.
	shown json.RawMessage
}

// confirmNode is the argument that stands for a person's consent.
var confirmNode = &jsonschema.Schema{
	Type:        "boolean",
	Enum:        []any{true},
	Description: "Exactly true, and only after the user agreed.",
}

func inputNode[In any](spec Spec) (*node, error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("must be a struct, so that the schema is an object")
	}
	simplifyAll(s)
	for _, path := range slices.Sorted(maps.Keys(spec.Args)) {
		target := find(s, path)
		if target == nil {
			return nil, fmt.Errorf("a rule for %q, which is no argument", path)
		}
		if isOpen(target) && target.Type == "object" && !spec.Args[path].Open {
			return nil, fmt.Errorf("%s: an object is closed unless its rule says Open", path)
		}
		spec.Args[path].apply(target)
	}
	if err := lint(s, ""); err != nil {
		return nil, err
	}
	return &node{s: s}, nil
}

// with is the node and one more argument.
func (n *node) with(name string, arg *jsonschema.Schema, required bool) *node {
	s := *n.s
	s.Properties = maps.Clone(n.s.Properties)
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	s.Properties[name] = arg
	s.PropertyOrder = append(slices.Clone(n.s.PropertyOrder), name)
	if required {
		s.Required = append(slices.Clone(n.s.Required), name)
	}
	return &node{s: &s}
}

func (n *node) schema() json.RawMessage {
	if n.shown != nil {
		return n.shown
	}
	b, err := json.Marshal(n.s)
	if err != nil { // made from types that marshal
		panic(err)
	}
	return b
}

// simplify takes out of an inferred schema what some hosts do not accept: a
// list of types (null beside the real one), which optional properties do not
// need because a null counts as absent.
func simplify(s *jsonschema.Schema) {
	if len(s.Types) > 0 {
		rest := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
		if len(rest) == 1 {
			s.Type, s.Types = rest[0], nil
		}
	}
	if s.Items != nil {
		simplify(s.Items)
	}
}

// simplifyAll does so at every depth.
func simplifyAll(s *jsonschema.Schema) {
	simplify(s)
	if s.Items != nil {
		simplifyAll(s.Items)
	}
	for _, p := range s.Properties {
		simplifyAll(p)
	}
}

// find is the schema at a path: "title", "filter.status", "tags[]".
func find(s *jsonschema.Schema, path string) *jsonschema.Schema {
	for _, part := range strings.Split(path, ".") {
		name, elem := strings.CutSuffix(part, "[]")
		if s = s.Properties[name]; s == nil {
			return nil
		}
		if elem {
			if s = s.Items; s == nil {
				return nil
			}
		}
	}
	return s
}

func (r Rule) apply(s *jsonschema.Schema) {
	s.Description = r.Doc
	s.Format = r.Format
	s.MinLength, s.MaxLength = bound(r.MinLength), bound(r.MaxLength)
	s.MinItems, s.MaxItems = bound(r.MinItems), bound(r.MaxItems)
	if r.HasMin || r.Max != 0 {
		least := float64(r.Min)
		s.Minimum = &least
	}
	if r.Max != 0 {
		most := float64(r.Max)
		s.Maximum = &most
	}
	for _, v := range r.Enum {
		s.Enum = append(s.Enum, v)
	}
	if r.Default != nil {
		b, err := json.Marshal(r.Default)
		if err != nil {
			panic(err)
		}
		s.Default = b
	}
}

func bound(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// lint refuses what some host does not accept in an input schema.
func lint(s *jsonschema.Schema, path string) error {
	at := func(why string) error { return fmt.Errorf("%s: %s", strings.TrimPrefix(path+" ", " "), why) }
	switch {
	case len(s.Types) > 0, s.Type == "":
		return at("needs exactly one type")
	case s.Ref != "", s.DynamicRef != "", len(s.AnyOf)+len(s.OneOf)+len(s.AllOf) > 0, s.Not != nil && path == "":
		return at("must not use $ref, anyOf, oneOf, allOf or not")
	case s.ExclusiveMinimum != nil, s.ExclusiveMaximum != nil:
		return at("must use minimum and maximum")
	case s.Type == "array" && s.Items == nil:
		return at("an array needs items")
	case s.Type == "object" && s.AdditionalProperties == nil:
		return at("an object must be closed")
	}
	if s.Items != nil {
		if err := lint(s.Items, path+"[]"); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := lint(s.Properties[name], strings.TrimPrefix(path+"."+name, ".")); err != nil {
			return err
		}
	}
	return nil
}

// outputSchema describes both arms of the envelope with plain properties.
func outputSchema[Out any]() (json.RawMessage, error) {
	data, err := jsonschema.For[Out](&jsonschema.ForOptions{TypeSchemas: texts(reflect.TypeFor[Out](), nil)})
	if err != nil {
		return nil, err
	}
	nullable(data)
	open(data)
	text := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	s := &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"ok":   {Type: "boolean"},
			"data": data,
			"error": {
				Type:          "object",
				Properties:    map[string]*jsonschema.Schema{"code": text(), "message": text()},
				PropertyOrder: []string{"code", "message"},
			},
		},
		PropertyOrder: []string{"ok", "data", "error"},
		Required:      []string{"ok"},
	}
	b, err := json.Marshal(s)
	return b, err
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// texts maps every type within t that writes itself as text to the schema of a
// string.
func texts(t reflect.Type, found map[reflect.Type]*jsonschema.Schema) map[reflect.Type]*jsonschema.Schema {
	if found == nil {
		found = map[reflect.Type]*jsonschema.Schema{}
	}
	switch {
	case found[t] != nil || t == reflect.TypeFor[time.Time]():
	case t.Implements(textMarshaler):
		found[t] = &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice:
		texts(t.Elem(), found)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			texts(t.Field(i).Type, found)
		}
	}
	return found
}

// nullable keeps null beside the type of what is always there, and takes it away
// from what is left out instead. A schema that says nothing would be written as
// true, which some clients do not take for a schema.
func nullable(s *jsonschema.Schema) {
	for name, p := range s.Properties {
		always := slices.Contains(s.Required, name) && slices.Contains(p.Types, "null") && !slices.Contains(p.Types, "array")
		types := p.Types
		nullable(p)
		switch {
		case always:
			p.Type, p.Types = "", types
		case p.Type == "" && len(p.Types) == 0:
			p.Description = "Any JSON value."
		}
	}
	if s.Items != nil {
		nullable(s.Items)
	}
	simplify(s)
}

// open lets a result grow: clients must not refuse a field that a later
// version adds.
func open(s *jsonschema.Schema) {
	s.AdditionalProperties = nil
	if s.Items != nil {
		open(s.Items)
	}
	for _, p := range s.Properties {
		open(p)
	}
}
