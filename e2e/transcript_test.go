package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// The transcripts in testdata/wire are sessions as they go over the wire,
// replayed in both eras; testdata/wire/README.md has their notation.
func TestTranscriptsOfTheWire(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "wire", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			eachEra(t, both, func(t *testing.T, e era) { replay(t, e, file, archive) })
		})
	}
}

// player is a transcript that is being replayed.
type player struct {
	t     *testing.T
	e     era
	f     *folder
	w     *wire
	where string    // the file and its line
	heard []message // what came and was not yet looked for
	may   []string  // methods of notices that may come, any number of times
}

func replay(t *testing.T, e era, file string, archive *txtar.Archive) {
	p := &player{t: t, e: e, f: newFolder(t)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("at %s\nwith these messages looked at by nobody: %+v", p.where, p.heard)
		}
	})
	var args, session string
	for _, part := range archive.Files {
		switch text := string(part.Data); part.Name {
		case "args":
			args = text
		case "session":
			session = text
		default:
			p.f.put(part.Name, text)
		}
	}
	words := strings.Fields(args)
	if words[0] == "workspace" {
		p.w = p.f.open(e, words[1:]...)
	} else {
		p.w = e.start(t, command(t, newDB(t), words...))
	}
	for _, line := range strings.Split(session, "\n") {
		p.where = file + ": " + line
		p.line(line)
	}
	rest, status := p.w.end()
	for _, m := range append(p.heard, rest...) {
		if slices.Contains(p.may, m.Method) {
			continue
		}
		t.Errorf("%s: nobody looks for the message %s %s %s%s", file, m.ID, m.Method, m.Params, m.Result)
	}
	if status != 0 {
		t.Errorf("%s: exit status %d", file, status)
	}
}

func (p *player) line(line string) {
	p.t.Helper()
	if rest, only := strings.CutPrefix(line, "modern "); only {
		if !p.e.modern() {
			return
		}
		line = rest
	} else if rest, only := strings.CutPrefix(line, "legacy "); only {
		if p.e.modern() {
			return
		}
		line = rest
	}
	sign, rest, _ := strings.Cut(line, " ")
	first, rest2, _ := strings.Cut(rest, " ")
	switch sign {
	case "", "#":
	case ">":
		method, params, _ := strings.Cut(rest2, " ")
		p.w.send(p.e.request(first, method, strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")))
	case ">>":
		p.w.send(rest)
	case "<":
		m := p.find(func(m message) bool { return m.reply() && string(m.ID) == first })
		if m.Error != nil {
			p.t.Fatalf("%s\nis the error %+v", p.where, m.Error)
		}
		p.match(rest2, m.Result)
	case "<!":
		m := p.find(func(m message) bool { return m.reply() && string(m.ID) == first })
		got, err := json.Marshal(m.Error)
		if m.Error == nil || err != nil {
			p.t.Fatalf("%s\nis the result %s, %v", p.where, m.Result, err)
		}
		p.match(rest2, got)
	case "<-":
		m := p.find(func(m message) bool { return m.Method == first })
		p.match(rest2, m.Params)
	case "~":
		p.may = append(p.may, first)
	case "write":
		p.f.save(first, strings.ReplaceAll(rest2, `\n`, "\n"))
	case "remove":
		if err := os.Remove(p.f.file(first)); err != nil {
			p.t.Fatal(err)
		}
	case "holds":
		if got := strings.ReplaceAll(strings.ReplaceAll(p.f.text(first), "\r", `\r`), "\n", `\n`); got != rest2 {
			p.t.Errorf("%s\nholds %s", p.where, got)
		}
	default:
		p.t.Fatalf("%s\nis no line of a transcript", p.where)
	}
}

// find takes the first message that is looked for, and keeps those before it.
func (p *player) find(is func(message) bool) message {
	p.t.Helper()
	for i, m := range p.heard {
		if is(m) {
			p.heard = append(p.heard[:i:i], p.heard[i+1:]...)
			return m
		}
	}
	for end := time.Now().Add(patience); time.Now().Before(end); {
		m, more := p.w.next()
		if !more {
			break
		}
		if is(m) {
			return m
		}
		p.heard = append(p.heard, m)
	}
	p.t.Fatalf("%s\ndid not come; there came %+v\nstderr: %s", p.where, p.heard, p.w.stderr)
	return message{}
}

func (p *player) match(want string, got json.RawMessage) {
	p.t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		p.t.Fatalf("%s\nis no JSON: %v", p.where, err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		p.t.Fatal(err)
	}
	if why := differs(w, g, true); why != "" {
		p.t.Errorf("%s\n%s in\n%s", p.where, why, got)
	}
}

// differs says where what came is not what was written down: "*" is anything, a
// text that ends in "…" is a beginning, and at the top there may be more keys
// (the era's own, and the text beside the structured content).
func differs(want, got any, top bool) string {
	switch w := want.(type) {
	case string:
		g, text := got.(string)
		begin, open := strings.CutSuffix(w, "…")
		if w == "*" || text && (g == w || open && strings.HasPrefix(g, begin)) {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for key := range g {
			if _, known := w[key]; !known && !top {
				return "there is a " + key
			}
		}
		for key, value := range w {
			there, ok := g[key]
			if !ok {
				return "there is no " + key
			}
			if why := differs(value, there, false); why != "" {
				return key + ": " + why
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if why := differs(w[i], g[i], false); why != "" {
				return why
			}
		}
		return ""
	default:
		if want == got {
			return ""
		}
	}
	b, err := json.Marshal(want)
	if err != nil {
		return err.Error()
	}
	return "it is not " + string(b)
}
