package handrail_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"path"
	"slices"
	"strings"
	"testing"
)

// longestFile is the most lines that a file which is neither a test nor
// generated may have: a room should be seen whole.
const longestFile = 400

// eachFile calls check for every file that keep wants.
func eachFile(t *testing.T, keep func(*file) bool, check func(p pkg, f *file)) {
	t.Helper()
	for _, p := range scan(t) {
		for _, f := range p.files {
			if keep(f) {
				check(p, f)
			}
		}
	}
}

// shipped keeps what is built into a program; every keeps all; tests what tests it.
func shipped(f *file) bool { return !f.test && !f.generated }
func every(*file) bool     { return true }
func tests(f *file) bool   { return f.test }

func TestEveryFileIsFormatted(t *testing.T) {
	eachFile(t, every, func(_ pkg, f *file) {
		if want, err := format.Source(f.source); err != nil || !bytes.Equal(f.source, want) {
			t.Errorf("%s is not as gofmt writes it: run `go tool task fmt`", f.path)
		}
	})
}

func TestNoFileIsTooLongToSeeWhole(t *testing.T) {
	eachFile(t, shipped, func(_ pkg, f *file) {
		if n := bytes.Count(f.source, []byte("\n")); n > longestFile {
			t.Errorf("%s has %d lines, more than %d: split it by its nouns", f.path, n, longestFile)
		}
	})
}

func TestEveryPackageHasExactlyOneComment(t *testing.T) {
	for _, p := range scan(t) {
		var said []string
		shipped := 0
		for _, f := range p.files {
			if !f.test {
				shipped++
			}
			if f.tree.Doc != nil && (!f.test || p.dir == ".") {
				said = append(said, f.path)
			}
		}
		if (shipped > 0 || p.dir == ".") && len(said) != 1 {
			t.Errorf("%s has package comments in %v: it needs exactly one, that says what it owns and what it refuses to know", p.dir, said)
		}
	}
}

func TestNoPackageIsNamedAfterNothing(t *testing.T) {
	for _, p := range scan(t) {
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "manager", "misc"}, path.Base(p.dir)) {
			t.Errorf("%s: name a package after what it owns; anything can end up in one called %q", p.dir, path.Base(p.dir))
		}
	}
}

func TestEveryExportedNameIsExplained(t *testing.T) {
	eachFile(t, shipped, func(_ pkg, f *file) {
		for _, decl := range f.tree.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
					t.Errorf("%s:%d: %s has no comment: say what it does, in which units and bounds, and with which fault codes", f.path, f.line(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				unexplained(d, func(name *ast.Ident) {
					t.Errorf("%s:%d: %s has no comment", f.path, f.line(name.Pos()), name.Name)
				})
			}
		}
	})
}

// exportedReceiver reports whether d is a function, or a method of a type that
// other packages can name.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// unexplained calls report for every exported name of d without a comment of its
// own, beside it, or on its group.
func unexplained(d *ast.GenDecl, report func(*ast.Ident)) {
	for _, spec := range d.Specs {
		var names []*ast.Ident
		doc := d.Doc
		switch s := spec.(type) {
		case *ast.TypeSpec:
			names = []*ast.Ident{s.Name}
			if s.Doc != nil {
				doc = s.Doc
			}
		case *ast.ValueSpec:
			names = s.Names
			if s.Doc != nil {
				doc = s.Doc
			} else if s.Comment != nil {
				doc = s.Comment
			}
		}
		for _, name := range names {
			if name.IsExported() && doc == nil {
				report(name)
			}
		}
	}
}

// A word is a name of another package that only some packages may say.
type word struct {
	name    string   // as written: package.Name
	allowed []string // packages, as in boundaries
	tests   bool
	why     string
}

// outermost are the packages that meet the real process: programs, the code that
// starts and watches them, and the runner, which is a process for one run and
// hands its own streams and environment to the task.
var outermost = []string{"cmd/", "bench/", "e2e", "examples/", "internal/testenv/", "internal/runner", "internal/conformance"}

var words = []word{
	{"os.Stdout", append([]string{"internal/cli"}, outermost...), true, "stdout belongs to the protocol: one stray line there ends a session"},
	{"os.Stderr", append([]string{"internal/cli"}, outermost...), true, "stderr is reached through the logger that was handed in"},
	{"os.Stdin", append([]string{"internal/cli"}, outermost...), true, "stdin belongs to the protocol"},
	{"os.Exit", outermost, true, "only main ends the process, after everything is closed"},
	{"os.Args", outermost, true, "arguments are handed to cli.Main"},
	{"os.Getenv", outermost, true, "the environment is an argument (cli.Env), so that tests can say what it is"},
	{"os.LookupEnv", outermost, true, "the environment is an argument (cli.Env), so that tests can say what it is"},
	{"os.Environ", append([]string{"internal/mcpclient", "internal/runner"}, outermost...), true, "the environment is an argument (cli.Env), so that tests can say what it is"},
	{"os.StartProcess", []string{"internal/runner"}, true, "handrail itself must not be able to run a command"},
	{"syscall.Exec", []string{"internal/runner"}, true, "handrail itself must not be able to run a command"},
	{"syscall.ForkExec", []string{"internal/runner"}, true, "handrail itself must not be able to run a command"},
	{"fmt.Print", outermost, true, "stdout belongs to the protocol: one stray line there ends a session"},
	{"fmt.Printf", outermost, true, "stdout belongs to the protocol: one stray line there ends a session"},
	{"fmt.Println", outermost, true, "stdout belongs to the protocol: one stray line there ends a session"},
	{"slog.Default", outermost, true, "the logger is handed in"},
	{"slog.SetDefault", outermost, true, "the logger is handed in"},
}

func TestEachWordStaysInItsPlace(t *testing.T) {
	eachFile(t, every, func(p pkg, f *file) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				said(t, p, f, sel)
			}
			if call, ok := n.(*ast.CallExpr); ok && !f.test {
				if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "println" || id.Name == "print") {
					t.Errorf("%s:%d: %s is for debugging", f.path, f.line(n.Pos()), id.Name)
				}
			}
			return true
		})
	})
}

func said(t *testing.T, p pkg, f *file, sel *ast.SelectorExpr) {
	t.Helper()
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return
	}
	name := id.Name + "." + sel.Sel.Name
	for _, w := range words {
		if w.name != name || f.test && w.tests || slices.ContainsFunc(w.allowed, func(a string) bool { return allows(a, p.dir) }) {
			continue
		}
		t.Errorf("%s:%d: %s says %s: %s", f.path, f.line(sel.Pos()), p.dir, name, w.why)
	}
}

func TestDomainsAreToldTheTime(t *testing.T) {
	eachFile(t, shipped, func(p pkg, f *file) {
		if floor, ok := floorOf(p.dir); !ok || floor != domains {
			return
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
					t.Errorf("%s:%d: %s reads the clock: the time is an argument, so that tests can say what it is", f.path, f.line(n.Pos()), p.dir)
				}
			}
			return true
		})
	})
}

func TestNothingHappensBeforeMain(t *testing.T) {
	eachFile(t, shipped, func(p pkg, f *file) {
		for _, decl := range f.tree.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
				t.Errorf("%s:%d: %s has an init function: wiring is in internal/app, where it can be read in order and tested", f.path, f.line(d.Pos()), p.dir)
			}
		}
	})
}

func TestTestsStandOutsideTheirPackage(t *testing.T) {
	eachFile(t, tests, func(_ pkg, f *file) {
		if !strings.HasSuffix(f.tree.Name.Name, "_test") && path.Base(f.path) != "export_test.go" && f.tree.Name.Name != "main" {
			t.Errorf("%s is in package %s: tests use a package as its users do; what they must see besides goes into export_test.go", f.path, f.tree.Name.Name)
		}
	})
}

func TestWhatIsSkippedIsLoud(t *testing.T) {
	eachFile(t, every, func(p pkg, f *file) {
		if p.dir == "internal/testenv" {
			return
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
				t.Errorf("%s:%d: skip through testenv.LeftOut, which says what is missing and fails where nothing may be left out", f.path, f.line(n.Pos()))
			}
			return true
		})
	})
}
