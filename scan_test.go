package handrail_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the path of this module.
const module = "handrail"

// pkg is a folder with Go files. Files for every platform are in it, since the
// rules hold on all of them.
type pkg struct {
	dir   string // below the module's root, with slashes; "." for the root
	files []*file
}

// file is one parsed Go file.
type file struct {
	path      string // below the module's root, with slashes
	test      bool
	generated bool
	source    []byte
	set       *token.FileSet
	tree      *ast.File
}

// imports is every import path of the file.
func (f *file) imports() []string {
	var all []string
	for _, spec := range f.tree.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			all = append(all, p)
		}
	}
	return all
}

// line is the line of a position in the file.
func (f *file) line(pos token.Pos) int { return f.set.Position(pos).Line }

// scan parses the module once for all tests. It leaves out testdata, hidden
// folders, what npm installed, and modules of their own such as tools.
func scan(t *testing.T) []pkg {
	t.Helper()
	pkgs, err := scanned()
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) == 0 {
		t.Fatal("no Go files were found, so no rule was checked")
	}
	return pkgs
}

var scanned = sync.OnceValues(func() ([]pkg, error) {
	var pkgs []pkg
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case name != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")),
			d.Name() == "testdata", d.Name() == "node_modules":
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != "." {
			return fs.SkipDir
		}
		p, err := parseDir(filepath.ToSlash(name))
		if err == nil && len(p.files) > 0 {
			pkgs = append(pkgs, p)
		}
		return err
	})
	return pkgs, err
})

func parseDir(dir string) (pkg, error) {
	p := pkg{dir: dir}
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	if err != nil {
		return p, err
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f := &file{path: path.Join(dir, e.Name()), test: strings.HasSuffix(e.Name(), "_test.go"), set: token.NewFileSet()}
		if f.source, err = os.ReadFile(filepath.FromSlash(f.path)); err != nil {
			return p, err
		}
		if f.tree, err = parser.ParseFile(f.set, f.path, f.source, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return p, err
		}
		f.generated = ast.IsGenerated(f.tree)
		p.files = append(p.files, f)
	}
	return p, nil
}
