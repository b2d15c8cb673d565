package taskfile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
)

func TestValuesBecomeTheirVariablesKind(t *testing.T) {
	d := taskfile.Decl{Task: "t", Vars: []taskfile.Var{
		{Name: "S", Kind: taskfile.Text}, {Name: "N", Kind: taskfile.Number, Places: []taskfile.Place{taskfile.Free}}, {Name: "B", Kind: taskfile.Bool},
		{Name: "E", Kind: taskfile.Text, Enum: []string{"a b", "c;d"}}, {Name: "D", Kind: taskfile.Text, Default: "x; y"},
	}}
	for _, c := range []struct {
		name  string
		value any
		want  any // nil: refused
	}{
		{"S", "text", "text"}, {"S", "", ""}, {"S", json.Number("1"), nil}, {"S", true, nil}, {"S", 1.5, nil}, {"S", []any{"x"}, nil}, {"S", map[string]any{}, nil},
		{"N", json.Number("3"), 3}, {"N", json.Number("3.0"), 3}, {"N", json.Number("-2"), -2}, {"N", json.Number("2.5"), 2.5}, {"N", "7", 7}, {"N", " 7 ", 7}, {"N", "2.5", 2.5},
		{"N", 3.0, 3}, {"N", 3, 3}, {"N", json.Number("1e3"), 1000}, {"N", json.Number("1e400"), nil}, {"N", "x", nil}, {"N", "", nil}, {"N", "0x10", nil}, {"N", "1_000", nil},
		{"N", "NaN", nil}, {"N", "Inf", nil}, {"N", math.Inf(1), nil}, {"N", math.NaN(), nil}, {"N", true, nil}, {"N", "1;id", nil}, {"N", "+1", nil}, {"N", ".5", nil},
		{"B", true, true}, {"B", false, false}, {"B", "true", true}, {"B", "false", false}, {"B", "yes", nil}, {"B", json.Number("1"), nil}, {"B", "", nil},
		{"E", "a b", "a b"}, {"E", "c;d", "c;d"}, {"E", "a", nil}, {"E", "", nil}, {"E", "A B", nil},
		{"D", "x; y", "x; y"}, {"D", "x; z", nil}, {"D", "z", "z"},
	} {
		got, err := taskfile.Check(d, map[string]any{c.name: c.value}, nil, nil)
		switch {
		case c.want == nil && fault.CodeOf(err) != fault.InvalidInput:
			t.Errorf("%s=%#v is %#v, %v; want it refused", c.name, c.value, got[c.name], err)
		case c.want == nil && !strings.HasPrefix(fault.Of(err).Message, c.name+": "):
			t.Errorf("%s=%#v: the message does not begin with the variable: %q", c.name, c.value, fault.Of(err).Message)
		case c.want != nil && (err != nil || got[c.name] != c.want):
			t.Errorf("%s=%#v is %#v, %v; want %#v", c.name, c.value, got[c.name], err, c.want)
		}
	}
	if got, err := taskfile.Check(d, map[string]any{"S": nil}, nil, nil); err != nil || len(got) != 0 {
		t.Errorf("null counts as absent: %v, %v", got, err)
	}
}

func TestNobodySetsAReservedName(t *testing.T) {
	for _, name := range strings.Fields("TASK ROOT_DIR BASH_ENV LD_PRELOAD LD_LIBRARY_PATH PATH HOME IFS task Path ld_preload DYLD_INSERT_LIBRARIES MATCH ITEM CLI_ARGS USER_WORKING_DIR EXIT_CODE GIT_SSH_COMMAND NODE_OPTIONS PYTHONPATH HANDRAIL_RUN") {
		if !taskfile.Reserved(name) {
			t.Errorf("%s can be set", name)
		}
		_, err := taskfile.Check(taskfile.Decl{Task: "t"}, map[string]any{name: "x"}, nil, nil)
		if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), "the name has a meaning of its own") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range strings.Fields("ENV NAME VERSION TAG PKG LDFLAGS ROOT TASKS DIR GOOS CGO_ENABLED IMAGE MODE") {
		if taskfile.Reserved(name) {
			t.Errorf("%s cannot be set", name)
		}
	}
}

func TestTheSchemaOffersWhatIsDeclaredAndNothingBesides(t *testing.T) {
	d := taskfile.Decl{Task: "deploy:*:*", Vars: []taskfile.Var{
		{Name: "R", Kind: taskfile.Text, Required: true, Enum: []string{"<a>", "b&c"}},
		{Name: "S", Kind: taskfile.Text, Default: "x"}, {Name: "N", Kind: taskfile.Number, Default: 2.0}, {Name: "B", Kind: taskfile.Bool, Default: false},
		{Name: "P", Kind: taskfile.Text, Secret: true}, {Name: "É\"", Kind: taskfile.Text},
	}}
	want := `{"type":"object","properties":{` +
		`"MATCH":{"type":"array","description":"What stands for each * in deploy:*:*, in order.","items":{"type":"string","minLength":1},"minItems":2,"maxItems":2},` +
		`"R":{"type":"string","enum":["<a>","b&c"]},` +
		`"S":{"type":"string","default":"x"},"N":{"type":"number","default":2},"B":{"type":"boolean","default":false},` +
		`"P":{"type":"string","description":"A secret."},"É\"":{"type":"string"}},"required":["MATCH","R"],"additionalProperties":false}`
	if got := string(d.Schema()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := string(taskfile.Decl{Task: "t"}.Schema()); got != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("without variables: %s", got)
	}
}

func TestWildcardsMatchAsGoTaskMatchesThem(t *testing.T) {
	tasks := []taskfile.Decl{{Task: "start:*"}, {Task: "start:web"}, {Task: "deploy:*:*"}, {Task: "a.b"}, {Task: "x", Aliases: []string{"y", "z:*"}}, {Task: "c++"}, {Task: "twin1", Aliases: []string{"tw"}}, {Task: "twin2", Aliases: []string{"tw"}}}
	for called, want := range map[string]string{
		"start:web": "start:web", "start:db": "start:*", "start:": "start:*", "deploy:a:b": "deploy:*:*", "deploy:a:b:c": "deploy:*:*",
		"a.b": "a.b", "axb": "a.b", "y": "x", "z:1": "x", "c++": "c++", "deploy:a": "", "nothing": "", "start:a\nb": "", "tw": "",
	} {
		got, err := taskfile.Hit(tasks, called)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q reaches %q, %v; want %q", called, got, err, want)
		}
	}
	if got := taskfile.Fill("deploy:*:*", []string{"a", "b"}); got != "deploy:a:b" {
		t.Errorf("filled: %q", got)
	}
	d := taskfile.Decl{Task: "w:*:*", Match: []taskfile.Place{taskfile.Double}}
	for _, c := range []struct {
		match []string
		ok    bool
	}{
		{[]string{"a", "b"}, true}, {[]string{"a b", "c"}, true}, {[]string{"a:b", "c"}, true}, {[]string{"a", "b:c"}, false}, // read as "a:b" and "c"
		{[]string{"a,b", "c"}, true}, {[]string{"$x", "c"}, false}, {[]string{"{{.X}}", "c"}, false}, {[]string{"a*", "c"}, false}, {[]string{"a\n", "c"}, false},
		{[]string{"", "c"}, false}, {[]string{"a"}, false}, {[]string{"a", "b", "c"}, false}, {nil, false}, {[]string{"\xff", "c"}, false},
	} {
		if _, err := taskfile.Check(d, nil, c.match, nil); (err == nil) != c.ok {
			t.Errorf("MATCH %q: %v", c.match, err)
		}
	}
}

func TestStatusLinesAreOneLine(t *testing.T) {
	seven, zero := 7, 0
	for _, c := range []struct {
		r    taskfile.Result
		want string
	}{
		{taskfile.Result{Task: "build", ExitCode: &zero}, "Task `build` exited with status 0"},
		{taskfile.Result{Task: "build", ExitCode: &zero, Skipped: "it is up to date"}, "Task `build` exited with status 0 (skipped: it is up to date)"},
		{taskfile.Result{Task: "start:web", ExitCode: &seven, Err: "it failed"}, "Task `start:web` exited with status 7: it failed"},
		{taskfile.Result{Task: "t", Err: "a\nb\x1b[31m"}, "Task `t` failed: a b"},
		{taskfile.Result{Task: "two  spaces\n\x1b[31m", ExitCode: &zero}, "Task `two  spaces ` exited with status 0"},
	} {
		if got := c.r.Status(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := taskfile.RefusedStatus("a\nb", fault.New(fault.InvalidInput, "no\nway")); got != "Task `a b` failed: no way" {
		t.Errorf("%q", got)
	}
	if got := taskfile.RefusedStatus("t", fmt.Errorf("secret cause")); strings.Contains(got, "secret") {
		t.Errorf("a cause is shown: %q", got)
	}
}
