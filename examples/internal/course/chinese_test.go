package course_test

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	// verb is a verb of a format.
	verb = regexp.MustCompile(`%[.0-9]*[a-z]`)
	// sameEverywhere are verbs, and names of the protocol and of the lessons.
	sameEverywhere = regexp.MustCompile(verb.String() + `|book_table|isError|structuredContent`)
)

func TestADemoSaysEverythingInChineseToo(t *testing.T) {
	for _, lesson := range lessons {
		files := sources(t, lesson)
		table := translations(t, files["chinese.go"])
		said := spoken(t, files["demo.go"])
		if len(said) < 5 {
			t.Errorf("%s says only %q", lesson, said)
		}
		for _, english := range said {
			chinese, there := table[english]
			switch {
			case !there && strings.ContainsFunc(sameEverywhere.ReplaceAllString(english, ""), unicode.IsLetter):
				t.Errorf("%s says %q, and not in Chinese", lesson, english)
			case there && !strings.ContainsFunc(chinese, func(r rune) bool { return r > unicode.MaxLatin1 }):
				t.Errorf("%s: %q is no Chinese for %q", lesson, chinese, english)
			case there && !slices.Equal(verb.FindAllString(chinese, -1), verb.FindAllString(english, -1)):
				t.Errorf("%s: %q has other verbs than %q", lesson, chinese, english)
			}
		}
		for english := range table {
			if !slices.Contains(said, english) {
				t.Errorf("chinese.go of %s has %q, which its demo does not say", lesson, english)
			}
		}
	}
}

// parse parses the source of a file.
func parse(t *testing.T, source string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// translations are the pairs of the map in chinese.go.
func translations(t *testing.T, source string) map[string]string {
	t.Helper()
	found := map[string]string{}
	ast.Inspect(parse(t, source), func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			found[unquote(t, pair.Key)] = unquote(t, pair.Value)
		}
		return true
	})
	return found
}

// spoken are the formats that a demo says something with. It has no other way to
// say something: that would not be translated.
func spoken(t *testing.T, source string) (said []string) {
	t.Helper()
	ast.Inspect(parse(t, source), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			if f.Name == "step" || f.Name == "say" || f.Name == "fail" {
				said = append(said, unquote(t, call.Args[0]))
			}
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok && (x.Name == "fmt" || x.Name == "errors" && f.Sel.Name == "New") {
				t.Errorf("a demo says something with %s.%s: use step, say or fail, which are translated", x.Name, f.Sel.Name)
			}
		}
		return true
	})
	return said
}

func unquote(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("what is said must be a constant, so that it can be translated: %v", e)
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheCodeOfEveryLessonIsExplainedInChinese(t *testing.T) {
	for _, lesson := range lessons {
		p := readPage(t, "docs/zh/lessons/"+lesson+".md")
		files := sources(t, lesson)
		explained := map[string]bool{}
		for _, s := range p.sections[1:] {
			if len(s.blocks) != 1 || s.blocks[0].lang != "go" {
				t.Fatalf("%s: the section %q is no file", p.path, s.title)
			}
			explained[s.title] = true
			code, comments := tokens(t, files[s.title])
			translated, chinese := tokens(t, s.blocks[0].text)
			if i := firstDifference(code, translated); i >= 0 {
				t.Errorf("%s: %s is not as in %s, from %q on", p.path, s.title, lesson, code[max(0, i-3):min(len(code), i+5)])
			}
			if len(comments) != len(chinese) {
				t.Errorf("%s: %s has %d comments, and %d in Chinese", p.path, s.title, len(comments), len(chinese))
			}
			for _, c := range chinese {
				if !strings.ContainsFunc(c, han) {
					t.Errorf("%s: %s has a comment that is no Chinese: %s", p.path, s.title, c)
				}
			}
		}
		if !explained["main.go"] || !explained["demo.go"] {
			t.Errorf("%s has only %v", p.path, explained)
		}
	}
}

func han(r rune) bool { return unicode.Is(unicode.Han, r) }

// tokens are the tokens of a source, and its comments: lines of comment that
// follow each other are one.
func tokens(t *testing.T, source string) (code, comments []string) {
	t.Helper()
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), func(_ token.Position, msg string) { t.Error(msg) }, scanner.ScanComments)
	last := -1
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return code, comments
		case tok == token.COMMENT:
			line := file.Line(pos)
			if last >= 0 && line == last+1 {
				comments[len(comments)-1] += "\n" + lit
			} else {
				comments = append(comments, lit)
			}
			last = line
		case tok == token.SEMICOLON && lit == "\n": // put in by the scanner
		default:
			code = append(code, tok.String()+" "+lit)
		}
	}
}

// firstDifference is the first index at which two lists differ, or -1.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// widePunctuation are the marks that Chinese text has in another form.
var widePunctuation = regexp.MustCompile(`\p{Han}[,;:?!(]|[,;:?!)]\p{Han}`)

func TestChineseIsWrittenWithItsOwnPunctuation(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "zh", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	lessonPages, err := filepath.Glob(filepath.Join(root, "docs", "zh", "lessons", "*.md"))
	if err != nil || len(paths) < 5 || len(lessonPages) != len(lessons) {
		t.Fatalf("found %q and %q: %v", paths, lessonPages, err)
	}
	paths = append(append(paths, lessonPages...), filepath.Join(root, "README.zh-CN.md"))
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(prose(string(b)), "\n") {
			if bad := widePunctuation.FindString(line); bad != "" {
				t.Errorf("%s:%d: %q is narrow", path, i+1, bad)
			}
		}
	}
	for _, lesson := range lessons {
		for _, c := range translations(t, sources(t, lesson)["chinese.go"]) {
			if bad := widePunctuation.FindString(c); bad != "" {
				t.Errorf("chinese.go of %s: %q is narrow", lesson, bad)
			}
		}
	}
}

var (
	notProse = regexp.MustCompile("`[^`\n]*`|\\]\\([^)\n]*\\)|<!--[^\n]*-->")
	fenced   = regexp.MustCompile("(?ms)^```(?:sh|json|toml|text|diff|http|yaml)?\n.*?^```$")
)

// prose is a page without its code, with as many lines as before.
func prose(page string) string {
	page = fenced.ReplaceAllStringFunc(page, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	return notProse.ReplaceAllString(page, "x")
}
