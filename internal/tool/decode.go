package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"handrail/internal/fault"
)

// maxDepth bounds the nesting of arguments, far above what any schema needs.
const maxDepth = 64

// maxExact is the largest integer that every JSON reader keeps exact.
const maxExact = 1<<53 - 1

// arguments checks raw against the schema that clients see under policy p and
// returns it in a plain form: no optional nulls, integers as integers. given
// says whether the confirmation argument was there and true; it is left out of
// the result. Absent arguments and null are {}.
func (t Tool) arguments(raw []byte, p Policy) (canonical []byte, given bool, err error) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) {
		trimmed = []byte("{}")
	}
	c := checker{dec: jsontext.NewDecoder(bytes.NewReader(trimmed), jsontext.AllowDuplicateNames(true))}
	c.strip = t.confirm && p != Ask
	if trimmed[0] != '{' {
		return nil, false, fault.New(fault.InvalidInput, "arguments: must be an object with %s", keys(t.inputs[p].s))
	}
	if err := c.value(t.inputs[p].s, ""); err != nil {
		return nil, false, readable(err)
	}
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, false, fault.New(fault.InvalidInput, "arguments: text after the end of the object")
	}
	return c.out, c.given, nil
}

// readable makes a fault of a decoder's error and says where it is.
func readable(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		where := strings.ReplaceAll(strings.TrimPrefix(string(syn.JSONPointer), "/"), "/", ".")
		if where == "" {
			where = "arguments"
		}
		why := "not valid JSON"
		if strings.Contains(syn.Err.Error(), "UTF-8") || strings.Contains(syn.Err.Error(), "surrogate") {
			why = "not valid Unicode text"
		}
		return fault.Wrap(err, fault.InvalidInput, "%s: %s", where, why)
	}
	return fault.Wrap(err, fault.InvalidInput, "arguments: not valid JSON")
}

// checker reads one value and writes its plain form.
type checker struct {
	dec   *jsontext.Decoder
	out   []byte
	strip bool // leave the top-level confirm out
	given bool
	depth int
}

func (c *checker) value(s *jsonschema.Schema, path string) error {
	kind := c.dec.PeekKind()
	if kind == 0 {
		_, err := c.dec.ReadToken()
		return err
	}
	if want := s.Type; want != "" && !fits(kind, want) {
		return fault.New(fault.InvalidInput, "%s: must be %s, not %s", path, article(want), article(kindName(kind)))
	}
	switch kind {
	case '{':
		return c.object(s, path)
	case '[':
		return c.array(s, path)
	case '"':
		return c.text(s, path)
	case '0':
		return c.number(s, path)
	}
	tok, err := c.dec.ReadToken()
	if err != nil {
		return err
	}
	if kind == 'n' {
		c.out = append(c.out, "null"...)
		return nil
	}
	if len(s.Enum) == 1 && tok.Kind() != 't' { // the confirmation
		return fault.New(fault.InvalidInput, "%s: must be true, which means that the user agreed", path)
	}
	c.out = strconv.AppendBool(c.out, tok.Kind() == 't')
	return nil
}

func (c *checker) object(s *jsonschema.Schema, path string) error {
	if c.depth++; c.depth > maxDepth {
		return fault.New(fault.InvalidInput, "%s: nested too deep", path)
	}
	defer func() { c.depth-- }()
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	c.out = append(c.out, '{')
	empty := len(c.out)
	var seen []string
	for c.dec.PeekKind() != '}' {
		tok, err := c.dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		arg := s.Properties[name]
		if arg == nil && isOpen(s) {
			arg = anything
		}
		switch at := join(path, name); {
		case arg == nil && path == "":
			return fault.New(fault.InvalidInput, "%q is no argument of this tool; there are: %s", clip(name), keys(s))
		case arg == nil:
			return fault.New(fault.InvalidInput, "%q is no key of %s; there are: %s", clip(name), path, keys(s))
		case slices.Contains(seen, name):
			return fault.New(fault.InvalidInput, "%s: given twice", at)
		}
		seen = append(seen, name)
		if err := c.member(s, arg, path, name, empty); err != nil {
			return err
		}
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	c.out = append(c.out, '}')
	for _, name := range s.Required {
		if !slices.Contains(seen, name) {
			return missing(s.Properties[name], join(path, name))
		}
	}
	return nil
}

// member reads one value of an object. A null counts as absent where the
// property is optional.
func (c *checker) member(s, arg *jsonschema.Schema, path, name string, empty int) error {
	required := slices.Contains(s.Required, name)
	if c.dec.PeekKind() == 'n' && !required {
		_, err := c.dec.ReadToken()
		return err
	}
	mark := len(c.out)
	if mark > empty {
		c.out = append(c.out, ',')
	}
	var err error
	if c.out, err = jsontext.AppendQuote(c.out, name); err != nil {
		return err
	}
	c.out = append(c.out, ':')
	if err := c.value(arg, join(path, name)); err != nil {
		return err
	}
	if c.strip && path == "" && name == "confirm" {
		c.given = true // value() lets nothing but true pass
		c.out = c.out[:mark]
	}
	return nil
}

func missing(arg *jsonschema.Schema, path string) error {
	if arg == confirmNode {
		return fault.New(fault.InvalidInput, "confirm: is required and must be true, because this is permanent; get the user's explicit consent first")
	}
	return fault.New(fault.InvalidInput, "%s: is required", path)
}

func (c *checker) array(s *jsonschema.Schema, path string) error {
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	c.out = append(c.out, '[')
	n := 0
	for ; c.dec.PeekKind() != ']'; n++ {
		if s.MaxItems != nil && n >= *s.MaxItems {
			return fault.New(fault.InvalidInput, "%s: at most %d items", path, *s.MaxItems)
		}
		if n > 0 {
			c.out = append(c.out, ',')
		}
		items := s.Items
		if items == nil {
			items = anything
		}
		if err := c.value(items, fmt.Sprintf("%s[%d]", path, n)); err != nil {
			return err
		}
	}
	if s.MinItems != nil && n < *s.MinItems {
		return fault.New(fault.InvalidInput, "%s: at least %d items, not %d", path, *s.MinItems, n)
	}
	c.out = append(c.out, ']')
	_, err := c.dec.ReadToken()
	return err
}

func (c *checker) text(s *jsonschema.Schema, path string) error {
	tok, err := c.dec.ReadToken()
	if err != nil {
		return err
	}
	text := tok.String()
	n := length(text)
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return fault.New(fault.InvalidInput, "%s: must not contain a NUL character", path)
	case s.MinLength != nil && n == 0:
		return fault.New(fault.InvalidInput, "%s: must not be empty", path)
	case s.MinLength != nil && n < *s.MinLength:
		return fault.New(fault.InvalidInput, "%s: at least %d characters (UTF-16 code units), not %d", path, *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fault.New(fault.InvalidInput, "%s: at most %d characters (UTF-16 code units), not %d", path, *s.MaxLength, n)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		return fault.New(fault.InvalidInput, "%s: must be one of %s", path, list(s.Enum))
	}
	c.out, err = jsontext.AppendQuote(c.out, text)
	return err
}

func (c *checker) number(s *jsonschema.Schema, path string) error {
	v, err := c.dec.ReadValue()
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if s.Type != "integer" {
		if err != nil {
			return fault.New(fault.InvalidInput, "%s: out of range", path)
		}
		c.out = append(c.out, v...)
		return bounds(s, path, f)
	}
	n, exact := integer(string(v))
	if !exact && err == nil && f == float64(int64(f)) && f >= -maxExact && f <= maxExact {
		n, exact = int64(f), true
	}
	switch {
	case exact && n >= -maxExact && n <= maxExact:
		c.out = strconv.AppendInt(c.out, n, 10)
		return bounds(s, path, float64(n))
	case exact || err != nil || f > maxExact || f < -maxExact:
		if err := bounds(s, path, f); err != nil {
			return err
		}
		return fault.New(fault.InvalidInput, "%s: must be between %d and %d", path, -maxExact, maxExact)
	}
	return fault.New(fault.InvalidInput, "%s: must be an integer", path)
}

func integer(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func bounds(s *jsonschema.Schema, path string, f float64) error {
	switch {
	case s.Minimum != nil && f < *s.Minimum:
		return fault.New(fault.InvalidInput, "%s: must be at least %s", path, plain(*s.Minimum))
	case s.Maximum != nil && f > *s.Maximum:
		return fault.New(fault.InvalidInput, "%s: must be at most %s", path, plain(*s.Maximum))
	}
	return nil
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// length counts UTF-16 code units, the unit of every limit of the contract.
func length(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

func fits(kind jsontext.Kind, want string) bool {
	switch want {
	case "object":
		return kind == '{'
	case "array":
		return kind == '['
	case "string":
		return kind == '"'
	case "integer", "number":
		return kind == '0'
	case "boolean":
		return kind == 't' || kind == 'f'
	}
	return false
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case '0':
		return "number"
	case 'n':
		return "null"
	}
	return "boolean"
}

func article(name string) string {
	switch name {
	case "object", "array", "integer":
		return "an " + name
	case "null":
		return name
	}
	return "a " + name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func keys(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

func list(values []any) string {
	b, err := json.Marshal(values)
	if err != nil {
		return fmt.Sprint(values...)
	}
	return strings.Trim(strings.ReplaceAll(string(b), ",", ", "), "[]")
}

// clip keeps a caller's own text short in a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
