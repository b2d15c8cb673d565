package course_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page is a page of the course in one language.
type page struct {
	path     string // below the module's root
	text     string
	sections []section
}

// section is what stands below a heading of the second level.
type section struct {
	title  string
	text   string
	blocks []block
	parts  int // headings of the third level
}

// block is a fenced block.
type block struct {
	lang string
	text string
	line int    // of the fence
	note string // the comment right above it, such as "not run: it opens a browser"
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

// readPage reads and takes apart a page. It fails where a fence is not closed.
func readPage(t *testing.T, path string) page {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	p := page{path: path, text: string(b), sections: []section{{}}}
	var open *block
	note := ""
	for i, line := range strings.Split(p.text, "\n") {
		last := &p.sections[len(p.sections)-1]
		if !strings.HasPrefix(line, "## ") {
			last.text += line + "\n"
		}
		switch {
		case open != nil && line == "```":
			last.blocks = append(last.blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &block{lang: line[3:], line: i + 1, note: note}
		case strings.HasPrefix(line, "## "):
			p.sections = append(p.sections, section{title: line[3:]})
		case strings.HasPrefix(line, "### "):
			last.parts++
		}
		note = ""
		if m := comment.FindStringSubmatch(line); m != nil && open == nil {
			note = m[1]
		}
	}
	if open != nil {
		t.Fatalf("%s: the block of line %d is not closed", path, open.line)
	}
	return p
}

// twins are the pages that exist in both languages, English first.
var twins = [][2]string{
	{"docs/learning-path.md", "docs/zh/learning-path.md"},
	{"docs/primitives.md", "docs/zh/primitives.md"},
	{"docs/exercises.md", "docs/zh/exercises.md"},
	{"docs/architecture.md", "docs/zh/architecture.md"},
	{"CONTRIBUTING.md", "docs/zh/contributing.md"},
}

func TestEveryPageSaysTheSameInBothLanguages(t *testing.T) {
	for _, twin := range twins {
		english, chinese := readPage(t, twin[0]), readPage(t, twin[1])
		if len(english.sections) != len(chinese.sections) {
			t.Errorf("%s has %d sections, %s has %d", twin[0], len(english.sections), twin[1], len(chinese.sections))
			continue
		}
		for i, e := range english.sections {
			c := chinese.sections[i]
			if e.parts != c.parts {
				t.Errorf("%q has %d parts, %q has %d", e.title, e.parts, c.title, c.parts)
			}
			sameBlocks(t, english, chinese, ran(e.blocks), ran(c.blocks))
		}
	}
}

// ran are the blocks that must be the same in every language: what is run, what
// it prints, what is changed, and configuration. Pictures have words in them.
func ran(blocks []block) (kept []block) {
	for _, b := range blocks {
		if b.lang != "mermaid" && b.lang != "" {
			kept = append(kept, b)
		}
	}
	return kept
}

// sameBlocks fails unless the Chinese page has the same blocks. Its demos speak
// Chinese: their commands say so, and of what they print only the messages and
// the number of lines are the same. What they print is compared when they run.
func sameBlocks(t *testing.T, english, chinese page, a, b []block) {
	t.Helper()
	demo := false
	for i := range max(len(a), len(b)) {
		if i >= len(a) {
			t.Errorf("%s:%d has a block that %s has not", chinese.path, b[i].line, english.path)
			continue
		}
		want := a[i].text
		switch a[i].lang {
		case "sh":
			demo = strings.Contains(want, " -demo")
			want = strings.ReplaceAll(want, " -demo", " -demo -zh")
		case "diff":
			demo = true
		}
		switch {
		case i >= len(b):
			t.Errorf("%s:%d has a block that %s has not", english.path, a[i].line, chinese.path)
		case a[i].lang != b[i].lang || want != b[i].text && !(demo && a[i].lang == "text" && sameMessages(want, b[i].text)):
			t.Errorf("%s:%d and %s:%d differ:\n%s\n%s", english.path, a[i].line, chinese.path, b[i].line, want, b[i].text)
		case kind(a[i].note) != kind(b[i].note):
			t.Errorf("%s:%d is marked %q, %s:%d %q", english.path, a[i].line, a[i].note, chinese.path, b[i].line, b[i].note)
		}
	}
}

// sameMessages reports whether two outputs of a demo have the same messages in the
// same places, whatever is said around them.
func sameMessages(a, b string) bool {
	english, chinese := strings.Split(a, "\n"), strings.Split(b, "\n")
	if len(english) != len(chinese) {
		return false
	}
	for i, line := range english {
		message := strings.Contains(line, "\"jsonrpc\"") || strings.TrimSpace(line) == ""
		if message && line != chinese[i] {
			return false
		}
	}
	return true
}

// kind is a note without its reason, which is in the page's language.
func kind(note string) string {
	before, _, _ := strings.Cut(note, ": ")
	return before
}

func TestEveryLessonHasItsSectionInBothLanguages(t *testing.T) {
	for _, path := range twins[0] {
		p := readPage(t, path)
		for i, lesson := range lessons {
			s := p.sections[i+2] // after the introduction and the preparations
			if !strings.Contains(s.title, string(rune('1'+i))) {
				t.Errorf("%s: section %q is not the one of %s", path, s.title, lesson)
			}
			commands := ""
			for _, b := range s.blocks {
				commands += b.text
			}
			says(t, commands, "go run ./examples/"+lesson+" -demo", " -wire\n",
				"--- examples/"+lesson+"/main.go\n", "bin/"+lesson)
			if s.parts != 7 {
				t.Errorf("%s: %q has %d parts, want 7: what, run, wire, Inspector, code, experiment, Handrail", path, s.title, s.parts)
			}
		}
	}
}

var (
	// repoPath is a path of the repository as pages write it.
	repoPath = regexp.MustCompile("`((?:internal|examples|docs|cmd|e2e)/[A-Za-z0-9_./-]+)`")
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
)

func TestPagesNameOnlyWhatExists(t *testing.T) {
	var paths []string
	for _, twin := range twins {
		paths = append(paths, twin[:]...)
	}
	for _, path := range paths {
		p := readPage(t, path)
		for _, m := range repoPath.FindAllStringSubmatch(p.text, -1) {
			if strings.Contains(m[1], "NN") || strings.Contains(m[1], "node_modules") {
				continue // stands for each lesson, or is installed
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names %s, which is not there", path, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
	}
}
