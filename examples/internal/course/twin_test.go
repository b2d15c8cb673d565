package course_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// translatedPages are the pages that a reader of Chinese must not miss, in
// English. Pages that are generated, and the decisions, are in English alone.
var translatedPages = []string{
	"README.md", "CONTRIBUTING.md", "docs/tasks.md", "docs/workspace.md", "docs/basic.md", "docs/taskfile.md",
	"docs/security.md", "docs/clients.md", "docs/architecture.md", "docs/learning-path.md", "docs/primitives.md", "docs/exercises.md",
}

// inChinese is where the Chinese form of a page is.
func inChinese(page string) string {
	switch page {
	case "README.md":
		return "README.zh-CN.md"
	case "CONTRIBUTING.md":
		return "docs/zh/contributing.md"
	}
	return "docs/zh/" + path.Base(page)
}

// A shape is what a page looks like from afar.
type shape struct {
	parts, rows, items int
	blocks             string // their languages, in order
	config             string // blocks of configuration, which are the same in every language
}

var (
	row  = regexp.MustCompile(`(?m)^ *\|`)
	item = regexp.MustCompile(`(?m)^ *(-|\d+\.) `)
)

func shapeOf(s section) shape {
	got := shape{parts: s.parts}
	for _, b := range s.blocks {
		got.blocks += b.lang + " " + kind(b.note) + "; "
		switch b.lang {
		case "json", "toml", "nginx", "http", "yaml":
			got.config += b.text
		}
	}
	text := prose(s.text)
	got.rows, got.items = len(row.FindAllString(text, -1)), len(item.FindAllString(text, -1))
	return got
}

// A page that says more in one language than in the other is found by its shape:
// sections, rows of tables, items of lists, blocks.
func TestEveryChinesePageSaysAsMuchAsItsTwin(t *testing.T) {
	for _, name := range translatedPages {
		chineseName := inChinese(name)
		if !exists(t, name) {
			if exists(t, chineseName) {
				t.Errorf("%s has no English twin", chineseName)
			}
			continue
		}
		if !exists(t, chineseName) {
			t.Errorf("%s has no Chinese twin: write %s", name, chineseName)
			continue
		}
		english, chinese := readPage(t, name), readPage(t, chineseName)
		if len(english.sections) != len(chinese.sections) {
			t.Errorf("%s has %d sections, %s has %d", name, len(english.sections), chineseName, len(chinese.sections))
			continue
		}
		for i, e := range english.sections {
			want, got := shapeOf(e), shapeOf(chinese.sections[i])
			if got.config != want.config {
				t.Errorf("%s, %q, and %s, %q, have different configurations: copy what is new", name, e.title, chineseName, chinese.sections[i].title)
			}
			got.config, want.config = "", ""
			if got != want {
				t.Errorf("%s, %q:\n%+v\n%s, %q:\n%+v\ntranslate what is missing", name, e.title, want, chineseName, chinese.sections[i].title, got)
			}
		}
		for _, both := range [][2]page{{english, chinese}, {chinese, english}} {
			to, err := filepath.Rel(path.Dir(both[0].path), both[1].path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(both[0].sections[0].text, "]("+filepath.ToSlash(to)+")") {
				t.Errorf("%s does not begin with a link to %s", both[0].path, to)
			}
		}
	}
}

func exists(t *testing.T, page string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(page)))
	return err == nil
}

var (
	// arrow is a message in a sequence diagram of mermaid.
	arrow       = regexp.MustCompile(`^(\w+)(?:-->>|->>|--\)|-\))(\w+): \S[^;#]*$`)
	participant = regexp.MustCompile(`^(?:participant|actor) (\w+) as \S[^;#]*$`)
	remark      = regexp.MustCompile(`^Note over (\w+)(?:,(\w+))?: \S[^;#]*$`)
)

// Mermaid draws nothing where one line is wrong; a semicolon ends a line for it.
func TestSequenceDiagramsAreWhatMermaidReads(t *testing.T) {
	seen := 0
	for _, name := range translatedPages {
		for _, page := range []string{name, inChinese(name)} {
			if !exists(t, page) {
				continue
			}
			for _, s := range readPage(t, page).sections {
				for _, b := range s.blocks {
					first, rest, _ := strings.Cut(b.text, "\n")
					if b.lang != "mermaid" || first != "sequenceDiagram" {
						continue
					}
					seen++
					known := map[string]bool{"": true}
					for line := range strings.Lines(rest) {
						line = strings.TrimSpace(line)
						m := arrow.FindStringSubmatch(line)
						if m == nil {
							m = remark.FindStringSubmatch(line)
						}
						if p := participant.FindStringSubmatch(line); p != nil {
							known[p[1]] = true
						} else if m == nil || !known[m[1]] || !known[m[2]] {
							t.Errorf("%s:%d: %q is no line of a sequence diagram, or names nobody", page, b.line, line)
						}
					}
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d diagrams were found", seen)
	}
}
