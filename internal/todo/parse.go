package todo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"handrail/internal/fault"
)

// span is a part of the file, by offsets of bytes.
type span struct{ from, to int }

// member is one name and value of a task's object.
type member struct{ name, value span }

// entry is one task and where it stands in the file.
type entry struct {
	Task
	at     span
	places places
	last   member // the object's last member
}

// places is where the members stand that matter; one that is missing is zero.
type places struct{ id, title, status, completedAt member }

// of returns the place of the member name, or nil for one that does not matter.
func (p *places) of(name string) *member {
	switch name {
	case "id":
		return &p.id
	case "title":
		return &p.title
	case "status":
		return &p.status
	case "completedAt":
		return &p.completedAt
	}
	return nil
}

// document is a file that was understood.
type document struct {
	data   []byte
	exists bool
	tasks  []entry
	list   span // the array, with its brackets
}

// parse understands the two forms of tasks.json, {"version":1,"tasks":[…]} and a
// bare array; no file is an empty list. Anything else is invalid_store, and the
// message says where.
func parse(data []byte, exists bool) (*document, error) {
	doc := &document{data: data, exists: exists}
	if !exists {
		return doc, nil
	}
	// A byte order mark, as Windows editors write it, stays where it is.
	skip := len(data) - len(bytes.TrimPrefix(data, []byte("\uFEFF")))
	p := parser{doc: doc, dec: jsontext.NewDecoder(bytes.NewReader(data[skip:])), skip: skip}
	if err := p.top(); err != nil {
		return nil, p.fault(err)
	}
	return doc, nil
}

type parser struct {
	doc  *document
	dec  *jsontext.Decoder
	skip int
}

// problem is a part of the file that is JSON and yet no task list.
type problem string

func (p problem) Error() string { return string(p) }

func problemf(format string, args ...any) error { return problem(fmt.Sprintf(format, args...)) }

func (p *parser) fault(err error) error {
	var syntax *jsontext.SyntacticError
	var what problem
	switch {
	case errors.As(err, &what):
		return fault.Wrap(err, fault.InvalidStore, "tasks.json cannot be understood and is left as it is: %s", what)
	case errors.As(err, &syntax):
		before := p.doc.data[:min(p.skip+int(syntax.ByteOffset), len(p.doc.data))]
		line := bytes.Count(before, []byte("\n")) + 1
		column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
		return fault.Wrap(err, fault.InvalidStore,
			"tasks.json is not valid JSON and is left as it is: %v at line %d, byte %d", syntax.Err, line, column)
	}
	return fault.Wrap(err, fault.InvalidStore, "tasks.json is not valid JSON and is left as it is: it ends too early")
}

func (p *parser) end() int { return p.skip + int(p.dec.InputOffset()) }

// value reads the next value as it is written, and where.
func (p *parser) value() (jsontext.Value, span, error) {
	v, err := p.dec.ReadValue()
	if err != nil {
		return nil, span{}, err
	}
	return v, span{p.end() - len(v), p.end()}, nil
}

func (p *parser) top() error {
	var err error
	switch p.dec.PeekKind() {
	case '[':
		err = p.array()
	case '{':
		err = p.object()
	default:
		if _, err := p.dec.ReadValue(); err != nil {
			return err
		}
		return problem("it is neither an object with tasks nor an array")
	}
	if err != nil {
		return err
	}
	if _, err := p.dec.ReadToken(); err != io.EOF {
		if err == nil {
			err = problem("something follows its end")
		}
		return err
	}
	return nil
}

func (p *parser) object() error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	found := false
	for p.dec.PeekKind() == '"' {
		name, err := p.dec.ReadToken()
		if err != nil {
			return err
		}
		switch name.String() {
		case "tasks":
			if p.dec.PeekKind() != '[' {
				return p.wrong("tasks must be an array")
			}
			found = true
			err = p.array()
		case "version":
			var v jsontext.Value
			if v, _, err = p.value(); err == nil && string(v) != "1" {
				return problemf("its version is %.20s and this program knows version 1", v)
			}
		default:
			err = p.dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	if !found {
		return problem("it has no tasks")
	}
	return nil
}

// wrong reports what, unless the value there is not even JSON.
func (p *parser) wrong(what string) error {
	if _, err := p.dec.ReadValue(); err != nil {
		return err
	}
	return problem(what)
}

func (p *parser) array() error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	p.doc.list.from = p.end() - 1
	ids := map[int64]bool{}
	for k := p.dec.PeekKind(); k != ']'; k = p.dec.PeekKind() {
		n := len(p.doc.tasks)
		if k != '{' {
			return p.wrong(fmt.Sprintf("tasks[%d] must be an object", n))
		}
		e, err := p.task(n)
		if err != nil {
			return err
		}
		if ids[e.ID] {
			return problemf("id %d is there twice", e.ID)
		}
		ids[e.ID] = true
		p.doc.tasks = append(p.doc.tasks, e)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	p.doc.list.to = p.end()
	return nil
}

func (p *parser) task(n int) (e entry, err error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return e, err
	}
	e.at.from = p.end() - 1
	e.Task = Task{Status: Open, Tags: []string{}}
	for p.dec.PeekKind() == '"' {
		raw, at, err := p.value()
		if err != nil {
			return e, err
		}
		name, _ := unquote(raw)
		m := member{name: at}
		var v jsontext.Value
		if v, m.value, err = p.value(); err != nil {
			return e, err
		}
		if err := e.set(name, v); err != nil {
			return e, problemf("tasks[%d].%v", n, err)
		}
		if at := e.places.of(name); at != nil {
			*at = m
		}
		e.last = m
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return e, err
	}
	e.at.to = p.end()
	switch {
	case e.places.id == member{}:
		return e, problemf("tasks[%d] has no id", n)
	case e.places.title == member{}:
		return e, problemf("tasks[%d] has no title", n)
	}
	return e, nil
}

// set takes one member's value into the task. A field that may be left out may
// also be null. Lengths are not checked here: a person may write what they like.
func (e *entry) set(name string, v jsontext.Value) error {
	text := func(into *string) error {
		if v.Kind() == 'n' && name != "title" {
			return nil
		}
		s, ok := unquote(v)
		if !ok {
			return problemf("%s must be a string", name)
		}
		*into = s
		return nil
	}
	switch name {
	case "id":
		id, ok := integer(v)
		if !ok {
			return problem("id must be an integer below 2^53")
		}
		e.ID = id
	case "title":
		return text(&e.Title)
	case "status":
		if err := text(&e.Status); err != nil || e.Status != Open && e.Status != Done {
			return problemf(`status must be "open" or "done"`)
		}
	case "due":
		if err := text(&e.Due); err != nil || e.Due != "" && !isDate(e.Due) {
			return problem("due must be a real calendar date, YYYY-MM-DD")
		}
	case "createdAt":
		return text(&e.CreatedAt)
	case "completedAt":
		return text(&e.CompletedAt)
	case "tags":
		return e.setTags(v)
	}
	return nil
}

func (e *entry) setTags(v jsontext.Value) error {
	if v.Kind() == 'n' {
		return nil
	}
	wrong := problem("tags must be an array of strings")
	if v.Kind() != '[' {
		return wrong
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = dec.ReadToken()
	for dec.PeekKind() != ']' {
		item, err := dec.ReadValue()
		if err != nil {
			return wrong
		}
		tag, ok := unquote(item)
		if !ok {
			return wrong
		}
		e.Tags = append(e.Tags, tag)
	}
	return nil
}

func unquote(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	if plain := v[1 : len(v)-1]; bytes.IndexByte(plain, '\\') < 0 {
		return string(plain), true // the decoder has checked that it is UTF-8
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

// integer reads a JSON number that is an integer, 1.0 and 1e3 included.
func integer(v jsontext.Value) (int64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, -maxID <= n && n <= maxID
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxID {
		return 0, false
	}
	return int64(f), true
}
