package taskfile_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// The corpus has Taskfiles of the kinds that projects have. Each archive in
// testdata/corpus holds the files of one root, and besides them:
//
//	calls    what is run, a line each: a task's name and its arguments as a client
//	         sends them; "yes" before it says that a person agreed to the prompts
//	tools    what is listed (written by -update, read by a person)
//	results  how each call ended (likewise)
//
// Programs such as go, npm or docker are stood in for by one that prints how it
// was called.
var update = flag.Bool("update", false, "write the corpus's expectations anew")

// stoodIn are the programs of which the corpus has only the names.
var stoodIn = strings.Fields(`go gofmt golangci-lint goreleaser npm npx node pnpm yarn python3 python pip uv ruff
	pytest mypy docker docker-compose kubectl helm terraform aws gcloud git make cargo rustup mvn gradle dotnet
	bundle rails php composer ansible-playbook buf protoc sqlc migrate air hugo mkdocs pre-commit trivy cosign
	gh psql redis-cli curl ssh rsync tar ffmpeg zig cmake ninja flutter elixir mix ghc swift latexmk pandoc`)

func TestCorpus(t *testing.T) {
	archives, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(archives) < 60 {
		t.Errorf("the corpus has %d Taskfiles; 60 is the least that shows variety", len(archives))
	}
	path := programs(t)
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			corpus(t, file, path)
		})
	}
}

// programs is a folder with the programs that are stood in for.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if runtime.GOOS == "windows" {
		return dir
	}
	for _, name := range stoodIn {
		script := "#!/bin/sh\nprintf '%s' " + name + "\nfor a; do printf ' <%s>' \"$a\"; done\necho\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func corpus(t *testing.T, file, path string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	var files []txtar.File
	own := map[string]string{}
	for _, f := range archive.Files {
		switch f.Name {
		case "calls", "tools", "results":
			own[f.Name] = string(f.Data)
		default:
			files = append(files, f)
		}
	}
	dir := write(t, string(txtar.Format(&txtar.Archive{Files: files})))
	env := append(environ(), "USER=corpus", "REGION=eu-west-1")
	env[slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "PATH=") })] = "PATH=" + path + string(os.PathListSeparator) + os.Getenv("PATH")
	p := open(t, taskfile.Options{Env: env}, dir)

	got := map[string]string{"tools": described(p.Plan())}
	for _, tool := range p.Plan().Tools {
		if !json.Valid(tool.Schema) {
			t.Errorf("the schema of %s is no JSON: %s", tool.Name, tool.Schema)
		}
	}
	if runtime.GOOS == "windows" {
		check(t, "tools", own["tools"], got["tools"])
		testenv.LeftOut(t, "the corpus's commands are a Unix shell's")
	}
	var results strings.Builder
	for line := range strings.Lines(own["calls"]) {
		fmt.Fprintf(&results, "$ %s%s", line, called(t, p, line))
	}
	got["results"] = results.String()
	if *update {
		archive.Files = append(files, txtar.File{Name: "calls", Data: []byte(own["calls"])},
			txtar.File{Name: "tools", Data: []byte(got["tools"])}, txtar.File{Name: "results", Data: []byte(got["results"])})
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	check(t, "tools", own["tools"], got["tools"])
	check(t, "results", own["results"], got["results"])
}

func check(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// described is a plan as the archives have it.
func described(p *taskfile.Plan) string {
	var b strings.Builder
	for _, r := range p.Roots {
		if r.Error != "" {
			fmt.Fprintf(&b, "error: %s\n", r.Error)
		}
	}
	for _, i := range p.Tasks {
		name := i.Tool
		if name == "" {
			name = "(none)"
		}
		fmt.Fprintf(&b, "%s: %s\n", name, oneLine(i.Description))
		if n := i.Decl.Wildcards(); n > 0 {
			fmt.Fprintf(&b, "\tMATCH has %d, %v\n", n, i.Decl.Match)
		}
		for _, v := range i.Decl.Vars {
			fmt.Fprintf(&b, "\t%s %s", v.Name, v.Kind)
			if v.Required {
				b.WriteString(" required")
			}
			if v.Default != nil {
				fmt.Fprintf(&b, " default %q", fmt.Sprint(v.Default))
			}
			if v.Enum != nil {
				fmt.Fprintf(&b, " enum %q", v.Enum)
			}
			if v.Secret {
				b.WriteString(" secret")
			}
			fmt.Fprintf(&b, " %v\n", v.Places)
		}
		if len(i.Decl.Prompts) > 0 {
			fmt.Fprintf(&b, "\tasks %q\n", i.Decl.Prompts)
		}
		if i.Reason != "" {
			fmt.Fprintf(&b, "\thas no tool: %s\n", i.Reason)
		}
	}
	// The hash that tells twins apart is of the root's path too, which differs.
	return suffix.ReplaceAllString(b.String(), "${1}_########:")
}

var suffix = regexp.MustCompile(`(?m)^((?:build_dev|foo|_+))_[0-9a-f]{8}:`)

// called runs one line of calls and tells how it ended.
func called(t *testing.T, p *taskfile.Project, line string) string {
	t.Helper()
	line, yes := strings.CutPrefix(strings.TrimSpace(line), "yes ")
	task, arguments, _ := strings.Cut(line, " {")
	req := taskfile.Request{Task: task, Yes: yes}
	if arguments != "" {
		d := json.NewDecoder(strings.NewReader("{" + arguments))
		d.UseNumber()
		if err := d.Decode(&req.Vars); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if match, ok := req.Vars["MATCH"].([]any); ok {
			for _, m := range match {
				req.Match = append(req.Match, m.(string))
			}
			delete(req.Vars, "MATCH")
		}
	}
	r, err := p.Run(t.Context(), req)
	if r.RunID == "" && err != nil {
		return fmt.Sprintf("refused, %s: %s\n", fault.CodeOf(err), fault.Of(err).Message)
	}
	if failed := r.Err != ""; failed != (err != nil) {
		t.Errorf("%s: the result says %q, the error %v", line, r.Err, err)
	}
	var b strings.Builder
	b.WriteString(r.Status() + "\n")
	for _, s := range []struct{ name, text string }{{"out", r.Stdout}, {"err", r.Stderr}} {
		for l := range strings.Lines(s.text) {
			fmt.Fprintf(&b, "%s| %s\n", s.name, strings.TrimSuffix(l, "\n"))
		}
	}
	return b.String()
}
