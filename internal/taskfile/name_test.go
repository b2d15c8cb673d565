package taskfile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/internal/taskfile"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:8]
}

// nameRows are the rule for names, case by case: with one root.
var nameRows = []struct{ task, tool string }{
	{"build", "build"},
	{"uv:run:dev:lint-imports", "uv_run_dev_lint-imports"},
	{"deploy:*:*", "deploy"},
	{"start:*", "start"},
	{"a:*:b", "a_b"},
	{"*:a", "_a"},
	{"build-*", "build-"},
	{"build/dev", "build_dev"},
	{"release prod", "release_prod"},
	{"a.b-c_d", "a.b-c_d"},
	{"CamelCase9", "CamelCase9"},
	{"trailing_", "trailing"},
	{"trailing:", "trailing"},
	{"trailing:__", "trailing"},
	{"_leading", "_leading"},
	{"a::b", "a__b"},
	{"it's", "it_s"},
	{"c++", "c__"},
	{"build!", "build_"}, // trimmed before, as the original does
	{"构建", "__"},
	{"🚀", "_"},
	{"é", "_"},
	{"*", "task_" + hash("*")},
	{":", "task_" + hash(":")},
	{"_", "task_" + hash("_")},
	{"*:*", "task_" + hash("*:*")},
	{strings.Repeat("a", 128), strings.Repeat("a", 128)},
	{strings.Repeat("a", 129), strings.Repeat("a", 119) + "_" + hash(strings.Repeat("a", 129))},
	{strings.Repeat("a:", 64) + "bc", strings.Repeat("a_", 59) + "a_" + hash(strings.Repeat("a:", 64)+"bc")},
	{strings.Repeat("构", 129), strings.Repeat("_", 119) + "_" + hash(strings.Repeat("构", 129))},
}

func TestToolsAreNamedAsTheContractSays(t *testing.T) {
	for _, row := range nameRows {
		if got := taskfile.ToolName("", row.task); got != row.tool {
			t.Errorf("%.40q is called %q, want %q", row.task, got, row.tool)
		}
	}
	for _, row := range []struct{ prefix, task, tool string }{
		{"frontend", "build", "frontend_build"},
		{"frontend", "deploy:*", "frontend_deploy"},
		{"api", "*", "api_task_" + hash("api_*")},
		{"api", strings.Repeat("a", 124), "api_" + strings.Repeat("a", 124)},
		{"api", strings.Repeat("a", 125), "api_" + strings.Repeat("a", 115) + "_" + hash("api_"+strings.Repeat("a", 125))},
	} {
		if got := taskfile.ToolName(row.prefix, row.task); got != row.tool {
			t.Errorf("%q below %q is called %q, want %q", row.task, row.prefix, got, row.tool)
		}
	}
	for base, want := range map[string]string{
		"frontend": "frontend", "my app": "my_app", "_x_": "x", "a.b-c_d": "a.b-c_d", "构建": "root", "": "root", "___": "root", "é": "root", "v1.0": "v1.0",
	} {
		if got := taskfile.RootPrefix(base); got != want {
			t.Errorf("a root in %q has the prefix %q, want %q", base, got, want)
		}
	}
}

// plan makes a plan of roots that are given as "dir: task task".
func plan(o taskfile.PlanOptions, roots ...string) *taskfile.Plan {
	var loaded []taskfile.Loaded
	for _, r := range roots {
		dir, tasks, _ := strings.Cut(r, "=")
		l := taskfile.Loaded{Dir: dir, URI: taskfile.FileURI(dir)}
		if tasks == "!" {
			l.Listing.Error = "there is no Taskfile in the root"
			tasks = ""
		}
		for _, task := range strings.Fields(tasks) {
			l.Listing.Tasks = append(l.Listing.Tasks, taskfile.Decl{Task: task})
		}
		loaded = append(loaded, l)
	}
	return taskfile.NewPlan(loaded, o)
}

func TestTasksOfOneNameAreToldApartAndNoneIsLost(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	for _, c := range []struct {
		name  string
		roots []string
		want  map[string]string // tool → task; those with a suffix by suffix
	}{
		{"separators", []string{"/r=build:dev build_dev build/dev other"}, map[string]string{
			"build_dev_" + hash("file:///r\x00build:dev"): "build:dev", "build_dev_" + hash("file:///r\x00build_dev"): "build_dev",
			"build_dev_" + hash("file:///r\x00build/dev"): "build/dev", "other": "other",
		}},
		{"wildcard", []string{"/r=foo foo:*"}, map[string]string{
			"foo_" + hash("file:///r\x00foo"): "foo", "foo_" + hash("file:///r\x00foo:*"): "foo:*",
		}},
		{"scripts of equal length", []string{"/r=构建 测试 部署"}, map[string]string{
			"___" + hash("file:///r\x00构建"): "构建", "___" + hash("file:///r\x00测试"): "测试", "___" + hash("file:///r\x00部署"): "部署",
		}},
		{"one script alone", []string{"/r=构建"}, map[string]string{"__": "构建"}},
		{"folders of one name", []string{"/a/app=build", "/b/app=build test"}, map[string]string{
			"app_build_" + hash("file:///a/app\x00build"): "build", "app_build_" + hash("file:///b/app\x00build"): "build", "app_test": "test",
		}},
		{"prefix and name", []string{"/a/x=y_z", "/b/x_y=z"}, map[string]string{
			"x_y_z_" + hash("file:///a/x\x00y_z"): "y_z", "x_y_z_" + hash("file:///b/x_y\x00z"): "z",
		}},
		{"a placeholder counts", []string{"/a/x=y", "/b/z=!"}, map[string]string{"x_y": "y"}},
		{"a name that looks like a suffix", []string{"/r=foo foo:* foo_" + hash("file:///r\x00foo")}, nil},
		{"very long twins", []string{"/r=" + strings.Repeat("a", 127) + ":b " + strings.Repeat("a", 127) + "/b"}, nil},
	} {
		got := map[string]string{}
		p := plan(taskfile.PlanOptions{}, c.roots...)
		for _, tool := range p.Tools {
			if !valid.MatchString(tool.Name) || got[tool.Name] != "" {
				t.Errorf("%s: %q is no valid name, or given twice", c.name, tool.Name)
			}
			got[tool.Name] = tool.Task
			if tool.Name != tool.Task && !strings.Contains(tool.Description, "(task: "+tool.Task+")") {
				t.Errorf("%s: the description of %s does not name its task: %q", c.name, tool.Name, tool.Description)
			}
		}
		if len(p.Tools) != len(p.Tasks) {
			t.Errorf("%s: %d tools for %d tasks", c.name, len(p.Tools), len(p.Tasks))
		}
		if c.want != nil && fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestATakenNameGetsASuffixAndCollisionsAreTold(t *testing.T) {
	told := map[string][]string{}
	p := plan(taskfile.PlanOptions{
		Taken:       []string{"taskfile_list", "taskfile_run"},
		OnCollision: func(name string, tasks []string) { told[name] = tasks },
	}, "/r=taskfile:list taskfile_run a:b a_b c")
	if got := toolNames(p); slices.Contains(got, "taskfile_list") || slices.Contains(got, "taskfile_run") || len(got) != 5 {
		t.Errorf("tools %v", got)
	}
	if len(told) != 1 || len(told["a_b"]) != 2 {
		t.Errorf("told of %v, want only of a_b", told)
	}
}

func TestOnlyAllowedTasksAreOffered(t *testing.T) {
	p := plan(taskfile.PlanOptions{Allow: []string{"b", "x:*", "nothing"}}, "/r=a b x:*")
	if got := fmt.Sprint(toolNames(p)); got != "[b x]" {
		t.Errorf("tools %s", got)
	}
	if i := info(t, p, "a"); i.Tool != "" || !strings.Contains(i.Reason, "--allow-run") {
		t.Errorf("%+v", i)
	}
	if _, err := p.Find("", "a"); err == nil {
		t.Error("a task that is not allowed can be run")
	}
	if p := plan(taskfile.PlanOptions{Allow: []string{}}, "/r=a b"); len(p.Tools) != 0 {
		t.Errorf("an empty list allows %v", toolNames(p))
	}
}

func TestATaskIsFoundByNameAliasAndRoot(t *testing.T) {
	loaded := []taskfile.Loaded{
		{Dir: "/a/x", URI: "file:///a/x", Listing: taskfile.Listing{Tasks: []taskfile.Decl{{Task: "build", Aliases: []string{"b"}}, {Task: "only"}}}},
		{Dir: "/b/x", URI: "file:///b/x", Listing: taskfile.Listing{Tasks: []taskfile.Decl{{Task: "build"}, {Task: "b"}}}},
	}
	p := taskfile.NewPlan(loaded, taskfile.PlanOptions{})
	if p.Roots[0].Name == p.Roots[1].Name {
		t.Errorf("two roots are called %q", p.Roots[0].Name)
	}
	for _, c := range []struct{ root, task, uri, found string }{
		{"", "only", "file:///a/x", "only"},
		{"file:///a/x", "build", "file:///a/x", "build"},
		{p.Roots[1].Name, "build", "file:///b/x", "build"},
		{"file:///a/x", "b", "file:///a/x", "build"},
		{"", "b", "file:///b/x", "b"}, // a name before an alias
	} {
		if got, err := p.Find(c.root, c.task); err != nil || got.URI != c.uri || got.Decl.Task != c.found {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	for _, c := range []struct{ root, task, says string }{
		{"", "build", "say which root"}, {"", "zzz", `no task "zzz"`}, {"file:///c", "build", `no root "file:///c"`}, {"", "", `no task ""`},
	} {
		if _, err := p.Find(c.root, c.task); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestThePlanOfTheSameRootsIsTheSame(t *testing.T) {
	a := plan(taskfile.PlanOptions{}, "/r=b a c:* c d:e d_e", "/s=a")
	b := plan(taskfile.PlanOptions{}, "/r=d_e c a b d:e c:*", "/s=a")
	if fmt.Sprint(a.Tools) != fmt.Sprint(b.Tools) {
		t.Errorf("%v and %v", toolNames(a), toolNames(b))
	}
	if !slices.IsSorted(toolNames(a)) {
		t.Errorf("not sorted: %v", toolNames(a))
	}
}

func FuzzToolName(f *testing.F) {
	for _, row := range nameRows {
		f.Add("", row.task, "other")
	}
	f.Fuzz(func(t *testing.T, base, one, two string) {
		valid := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
		if name := taskfile.ToolName(taskfile.RootPrefix(base), one); !valid.MatchString(name) {
			t.Errorf("%q", name)
		}
		if one == two {
			return
		}
		p := taskfile.NewPlan([]taskfile.Loaded{{Dir: "/r", URI: "file:///r", Listing: taskfile.Listing{
			Tasks: []taskfile.Decl{{Task: one}, {Task: two}, {Task: "foo"}}}}}, taskfile.PlanOptions{})
		seen := map[string]bool{}
		for _, tool := range p.Tools {
			if !valid.MatchString(tool.Name) || seen[tool.Name] && one != "foo" && two != "foo" {
				t.Errorf("%q and %q are %v", one, two, toolNames(p))
			}
			seen[tool.Name] = true
		}
	})
}
