package sqlite_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The driver's methods that take SQL, and the place of the SQL among their
// arguments.
var takesSQL = map[string]int{
	"ExecContext": 1, "QueryContext": 1, "QueryRowContext": 1, "PrepareContext": 1,
	"Exec": 0, "Query": 0, "QueryRow": 0, "Prepare": 0,
}

// looksLikeSQL finds the beginning of a statement in a text.
var looksLikeSQL = regexp.MustCompile(`(?i)^\s*(select|insert|update|delete|pragma|create|drop|alter|attach|replace|with)\s+[a-z_*]`)

func TestAllSQLIsAConstant(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range builtSQL(t, f.Name(), string(src)) {
			t.Error(problem)
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("only %d files were looked at", checked)
	}
}

func TestSQLThatIsBuiltAtRunTimeIsFound(t *testing.T) {
	for _, bad := range []string{
		`func f(c *conn, s string) { c.exec(ctx, query(s)) }`,
		`func f(c *conn, s string) { c.exec(ctx, query("SELECT 1 FROM "+s)) }`,
		`func f(c *conn, s string) { c.raw.ExecContext(ctx, s) }`,
		`func f(c *conn, s string) { c.raw.ExecContext(ctx, "DELETE FROM x WHERE id = "+s) }`,
		`func f(c *conn, s string) { q := fmt.Sprintf("SELECT * FROM %s", s); _ = q }`,
		`func f(c *conn, s string) { q := "DROP TABLE " + s; _ = q }`,
		`func f(b *strings.Builder) { b.WriteString("SELECT a FROM b WHERE ") }`,
		`var q = query(os.Getenv("X"))`,
		`func f(c *conn, s string) { q := reads; q += query(s) }`,
		`func f(q query, r query) query { return q + r }`,
	} {
		if len(builtSQL(t, "bad.go", "package p\ntype query string\nconst reads query = `SELECT 1`\n"+bad)) == 0 {
			t.Errorf("not found: %s", bad)
		}
	}
}

// builtSQL lists the places of a source that could build SQL from anything but
// constants. Declared constants are the only texts that may look like SQL; the
// type query accepts nothing else without a conversion, and a conversion of
// anything but a constant is refused, as is putting two of them together.
func builtSQL(t *testing.T, name, src string) (problems []string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	say := func(n ast.Node, what string) {
		problems = append(problems, set.Position(n.Pos()).String()+": "+what)
	}
	inConst := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			ast.Inspect(d, func(n ast.Node) bool { inConst[n] = true; return true })
		}
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && !inConst[n] && looksLikeSQL.MatchString(strings.Trim(n.Value, "\"`")) {
				say(n, "SQL outside of a constant")
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "query" && !inConst[n] {
				say(n, "a conversion to query")
			}
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			if at, ok := takesSQL[sel.Sel.Name]; ok && !preparedBefore(sel) && (len(n.Args) <= at || !fromQuery(n.Args[at])) {
				say(n, sel.Sel.Name+" with a text that is no query")
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD && !inConst[n] && (isQueryName(n.X) || isQueryName(n.Y)) {
				say(n, "queries put together")
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN && len(n.Lhs) == 1 && isQueryName(n.Lhs[0]) {
				say(n, "a query put together")
			}
		}
		return true
	})
	return problems
}

// preparedBefore reports whether the receiver is a prepared statement, whose
// methods take values only.
func preparedBefore(sel *ast.SelectorExpr) bool {
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == "s"
}

// fromQuery reports whether the argument is string(q) of a query.
func fromQuery(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return false
	}
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == "string" && isQueryName(c.Args[0])
}

// isQueryName reports whether the name is one that this package gives to
// queries: its parameters are called q or next, its constants have a type.
func isQueryName(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "q" || id.Name == "r" || id.Name == "next" || id.Name == "useWAL")
}
