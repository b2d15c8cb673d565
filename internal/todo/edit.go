package todo

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"handrail/internal/fault"
)

// nextID is the highest id there is plus one, and never below 1.
func (d *document) nextID() (int64, error) {
	var highest int64
	for _, e := range d.tasks {
		highest = max(highest, e.ID)
	}
	if highest >= maxID {
		return 0, fault.New(fault.InvalidStore, "tasks.json has the id %d, behind which there is no other", highest)
	}
	return highest + 1, nil
}

// layout is how a file writes its tasks.
type layout struct {
	newline string // "" where everything is on one line
	indent  string // before a task
	unit    string // one step further in
	colon   string // between a name and its value
	comma   string // between members on one line
}

// add returns the file with the task behind the last one, written as that one
// is: on one line or on several, as far indented.
func (d *document) add(t Task) []byte {
	if !d.exists {
		lay := layout{newline: "\n", indent: "    ", unit: "  ", colon: ": "}
		return []byte("{\n  \"version\": 1,\n  \"tasks\": [\n    " + lay.task(t) + "\n  ]\n}\n")
	}
	lay := d.layout()
	if len(d.tasks) == 0 {
		outer := lineIndent(d.data, d.list.from)
		text := "[" + lay.newline + lay.indent + lay.task(t) + lay.newline + outer + "]"
		return splice(d.data, patch{d.list, text})
	}
	last := d.tasks[len(d.tasks)-1]
	return splice(d.data, patch{span{last.at.to, last.at.to}, "," + d.between() + lay.task(t)})
}

// between is the white space that stands before the last task.
func (d *document) between() string {
	from := d.list.from + 1
	at := d.tasks[len(d.tasks)-1].at.from
	text := d.data[from:at]
	if len(d.tasks) == 1 {
		return string(text)
	}
	// Behind the comma that ends the task before.
	return string(text[bytes.LastIndexByte(text, ',')+1:])
}

func (d *document) layout() layout {
	newline := "\n"
	if bytes.Contains(d.data, []byte("\r\n")) {
		newline = "\r\n"
	}
	lay := layout{newline: newline, unit: "  ", colon: ": "}
	if len(d.tasks) == 0 {
		lay.indent = lineIndent(d.data, d.list.from) + lay.unit
		return lay
	}
	last := d.tasks[len(d.tasks)-1]
	lay.indent = lineIndent(d.data, last.at.from)
	if colon := string(d.data[last.last.name.to:last.last.value.from]); !strings.Contains(colon, "\n") {
		lay.colon = colon
	}
	before := string(d.whitespaceBefore(last.last.name.from))
	if !strings.Contains(before, "\n") {
		lay.newline, lay.comma = "", lay.colon[strings.IndexByte(lay.colon, ':')+1:]
		return lay
	}
	inner := before[strings.LastIndexByte(before, '\n')+1:]
	if unit, ok := strings.CutPrefix(inner, lay.indent); ok && unit != "" {
		lay.unit = unit
	}
	return lay
}

// whitespaceBefore returns the white space that ends at.
func (d *document) whitespaceBefore(at int) []byte {
	from := at
	for from > 0 && strings.IndexByte(" \t\r\n", d.data[from-1]) >= 0 {
		from--
	}
	return d.data[from:at]
}

// lineIndent returns the white space at the start of the line that at is in.
func lineIndent(data []byte, at int) string {
	from := bytes.LastIndexByte(data[:at], '\n') + 1
	to := from
	for to < at && (data[to] == ' ' || data[to] == '\t') {
		to++
	}
	return string(data[from:to])
}

// task writes one task as an object; its first line is not indented.
func (lay layout) task(t Task) string {
	members := []string{
		lay.member("id", strconv.FormatInt(t.ID, 10)),
		lay.member("title", quote(t.Title)),
		lay.member("status", quote(t.Status)),
	}
	if t.Due != "" {
		members = append(members, lay.member("due", quote(t.Due)))
	}
	tags := make([]string, len(t.Tags))
	for i, tag := range t.Tags {
		tags[i] = quote(tag)
	}
	members = append(members,
		lay.member("tags", lay.group("[", tags, "]", lay.indent+lay.unit)),
		lay.member("createdAt", quote(t.CreatedAt)))
	return lay.group("{", members, "}", lay.indent)
}

func (lay layout) member(name, value string) string { return quote(name) + lay.colon + value }

// group writes items between brackets, one a line where the layout has lines.
func (lay layout) group(open string, items []string, close, indent string) string {
	if len(items) == 0 {
		return open + close
	}
	if lay.newline == "" {
		return open + strings.Join(items, ","+lay.comma) + close
	}
	step := lay.newline + indent + lay.unit
	return open + step + strings.Join(items, ","+step) + lay.newline + indent + close
}

func quote(s string) string {
	b, _ := jsontext.AppendQuote(nil, s) // the text was checked to be Unicode
	return string(b)
}

// complete returns the file with the task e done. Only its status and its
// completedAt are touched; what it lacks of them goes behind its last member, in
// the same layout.
func (d *document) complete(e entry, at string) []byte {
	var patches []patch
	behind := ""
	for _, m := range []struct{ name, value string }{{"status", quote(Done)}, {"completedAt", quote(at)}} {
		if have := *e.places.of(m.name); have != (member{}) {
			patches = append(patches, patch{have.value, m.value})
			continue
		}
		behind += "," + string(d.whitespaceBefore(e.last.name.from)) +
			quote(m.name) + string(d.data[e.last.name.to:e.last.value.from]) + m.value
	}
	patches = append(patches, patch{span{e.last.value.to, e.last.value.to}, behind})
	return splice(d.data, patches...)
}

type patch struct {
	span
	text string
}

// splice returns data with each span replaced by its text.
func splice(data []byte, patches ...patch) []byte {
	slices.SortStableFunc(patches, func(a, b patch) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, p := range patches {
		out = append(out, data[at:p.from]...)
		out = append(out, p.text...)
		at = p.to
	}
	return append(out, data[at:]...)
}
