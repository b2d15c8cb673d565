package taskfile_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
)

// tempting has a command in every place where listing could run one. Each leaves
// a file whose name begins with "ran-".
const tempting = `
-- Taskfile.yml --
version: '3'
dotenv: ['.env', '{{.DYNAMIC}}/.env']
env:
  E: {sh: 'touch ran-env; echo e'}
vars:
  DYNAMIC: {sh: 'touch ran-vars; echo d'}
  SECOND: {sh: 'touch ran-{{.DYNAMIC}}-second; echo s'}
  REF: {ref: .DYNAMIC}
includes:
  inc:
    taskfile: ./inc.yml
    vars: {GIVEN: {sh: 'touch ran-include-vars; echo g'}}
  '{{.NAMESPACE}}': {taskfile: './{{.DYNAMIC}}.yml', optional: true}
tasks:
  t:
    desc: 'Says {{.DYNAMIC}} and {{.LOCAL}}'
    summary: 'Says {{.SECOND}}'
    label: '{{.DYNAMIC}}'
    dir: '{{.DYNAMIC}}'
    dotenv: ['{{.DYNAMIC}}.env']
    vars: {LOCAL: {sh: 'touch ran-task-vars; echo l'}}
    env: {T: {sh: 'touch ran-task-env; echo t'}}
    status: ['touch ran-status; false']
    preconditions: [{sh: 'touch ran-precondition'}]
    if: touch ran-if
    prompt: 'Really {{.DYNAMIC}}?'
    sources: ['*.txt', '{{.DYNAMIC}}/*.go']
    generates: ['out-{{.DYNAMIC}}']
    requires: {vars: [{name: R, enum: {ref: .DYNAMIC}}]}
    deps: [{task: u, vars: {A: {sh: 'touch ran-dep-vars; echo a'}}}]
    cmds:
      - touch ran-cmd
      - {defer: touch ran-defer}
      - {for: {var: DYNAMIC}, cmd: 'touch ran-for'}
      - {task: u, vars: {A: {sh: 'touch ran-call-vars; echo a'}}}
  u: {cmd: touch ran-u}
  w:*: {vars: {M: {sh: 'touch ran-wildcard; echo m'}}, cmds: ['echo {{.M}}']}
-- inc.yml --
version: '3'
vars: {INC: {sh: 'touch ran-inc-vars; echo i'}}
tasks: {x: {desc: 'With {{.INC}}', vars: {Y: {sh: 'touch ran-inc-task-vars; echo y'}}, cmd: echo}}
-- .env --
FROM_ENV=$(touch ran-dotenv)
-- a.txt --
`

func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestListingRunsNothingAndWritesNothing(t *testing.T) {
	t.Parallel()
	dir := write(t, tempting)
	before := files(t, dir)
	p := open(t, taskfile.Options{}, dir)
	if root := p.Plan().Roots[0]; root.Error != "" {
		t.Fatalf("the root cannot be loaded: %s", root.Error)
	}
	if got := strings.Join(toolNames(p.Plan()), " "); got != "inc_x t u w" {
		t.Errorf("tools %s", got)
	}
	if _, err := p.Status(t.Context(), p.Plan().Roots[0].Name); err != nil {
		t.Errorf("status: %v", err)
	}
	put(t, filepath.Join(dir, "inc.yml"), "version: '3'\ntasks: {again: {vars: {Y: {sh: 'touch ran-again; echo y'}}, cmd: echo}}\n")
	await(t, func() bool { return slices.Contains(toolNames(p.Plan()), "inc_again") })
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Errorf("files before %q\nafter %q", before, after)
	}
	for _, tool := range p.Plan().Tools {
		if strings.Contains(tool.Description, "touch") {
			t.Errorf("a description has a command in it: %q", tool.Description)
		}
	}
}

func TestARemoteIncludeIsRefusedFastAndFetchedByNobody(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = conn.Close()
		}
	}()
	host := listener.Addr().String()
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\nincludes: {far: 'http://"+host+"/Taskfile.yml'}\ntasks: {near: {cmd: echo near}}\n")
	git := write(t, "\n-- Taskfile.yml --\nversion: '3'\nincludes: {far: 'https://"+host+"/repo.git//Taskfile.yml?ref=main'}\ntasks: {near: {cmd: echo near}}\n")
	other := write(t, simple)
	for _, allow := range [][]string{nil, {"elsewhere.test"}, {host}} {
		began := time.Now()
		p := open(t, taskfile.Options{AllowRemote: allow, Env: append(environ(), "TASK_X_REMOTE_TASKFILES=1", "TASK_REMOTE_DIR=")}, dir, git, other)
		for i, r := range p.Plan().Roots[:2] {
			want := "not allowed (--allow-remote " + host
			if slices.Contains(allow, host) {
				want = map[bool]string{true: "not on this machine yet", false: "over http"}[i == 1]
			}
			if !strings.Contains(r.Error, want) || strings.Contains(r.Error, "\n") {
				t.Errorf("root %d, allowing %v: %q; want it to say %q", i, allow, r.Error, want)
			}
		}
		if got := p.Plan().Roots[2]; got.Error != "" || len(p.Plan().Tools) != 1 {
			t.Errorf("the other root: %+v, tools %v", got, toolNames(p.Plan()))
		}
		if r, err := p.Run(t.Context(), taskfile.Request{Task: "t"}); err != nil || r.Stdout != "fine\n" {
			t.Errorf("a run in the other root: %+v, %v", r, err)
		}
		if _, err := p.Run(t.Context(), taskfile.Request{Task: "near"}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a run in the refused root: %v", err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("the other machine was called %d times", n)
	}
}

func TestStatusSaysWhatIsUpToDateByFilesAlone(t *testing.T) {
	t.Parallel()
	posix(t)
	dir := write(t, `
-- Taskfile.yml --
version: '3'
vars: {DYN: {sh: touch ran-dyn}}
tasks:
  sums: {sources: [in.txt], generates: [out.txt], cmd: cp in.txt out.txt}
  times: {method: timestamp, sources: [in.txt], generates: [stamp], cmd: touch stamp}
  always: {cmd: echo}
  none: {method: none, sources: [in.txt], cmd: echo}
  status: {status: ['touch ran-status'], cmd: echo}
  both: {sources: [in.txt], status: ['touch ran-both'], cmd: echo}
  dynamic: {sources: ['{{.DYN}}/*.txt'], cmd: echo}
  w:*: {sources: [in.txt], cmds: [echo]}
  hidden: {internal: true, sources: [in.txt], cmd: echo}
-- in.txt --
one
`)
	p := open(t, taskfile.Options{}, dir)
	root := p.Plan().Roots[0]
	look := func(want string) {
		t.Helper()
		before := files(t, dir)
		for _, name := range []string{root.Name, root.URI} {
			got, err := p.Status(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for task, ok := range got {
				text := "?"
				if ok != nil && *ok {
					text = "yes"
				} else if ok != nil {
					text = "no"
				}
				all = append(all, task+"="+text)
			}
			slices.Sort(all)
			if text := strings.Join(all, " "); text != want {
				t.Errorf("%s\nwant %s", text, want)
			}
		}
		if after := files(t, dir); !slices.Equal(before, after) {
			t.Errorf("it wrote: %q, before %q", after, before)
		}
	}
	look("always=no both=no dynamic=? none=no status=? sums=no times=no w:*=?")
	for _, task := range []string{"sums", "times", "both"} {
		if _, err := run(t, p, taskfile.Request{Task: task}); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Remove(filepath.Join(dir, "ran-both"))
	_ = os.Remove(filepath.Join(dir, "ran-dyn"))
	look("always=no both=? dynamic=? none=no status=? sums=yes times=yes w:*=?")
	put(t, filepath.Join(dir, "in.txt"), "two\n")
	look("always=no both=no dynamic=? none=no status=? sums=no times=no w:*=?")
	if _, err := p.Status(t.Context(), "elsewhere"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Status(ctx, root.Name); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSecretsAreShownNowhere(t *testing.T) {
	p := project(t, `
-- Taskfile.yml --
version: '3'
dotenv: [.env]
vars:
  TOKEN: {value: hunter2-token, secret: true}
  PASSWORD: {sh: 'echo hunter2-dynamic', secret: true}
tasks:
  t: {desc: 'With {{.TOKEN}} and {{.PASSWORD}} and {{.API_KEY}}', summary: '{{.TOKEN}}', cmd: 'true'}
  u: {vars: {TOKEN: '{{.TOKEN | default "hunter2-default"}}'}, cmd: 'true {{.TOKEN}}'}
-- .env --
API_KEY=hunter2-env
`)
	for _, tool := range p.Plan().Tools {
		if text := tool.Description + string(tool.Schema); strings.Contains(text, "hunter2-t") || strings.Contains(text, "hunter2-e") || strings.Contains(text, "hunter2-dy") {
			t.Errorf("%s shows a secret: %s", tool.Name, text)
		}
		for _, v := range tool.Decl.Vars {
			if v.Name == "TOKEN" && tool.Task == "t" && (!v.Secret || v.Default != nil) {
				t.Errorf("%s: %+v", tool.Name, v)
			}
		}
	}
}

func TestMessagesHaveNoPathOutsideOfTheRoot(t *testing.T) {
	t.Parallel()
	outside := write(t, "\n-- other.yml --\nversion: '3'\ntasks: [\n")
	for _, archive := range []string{
		"\n-- Taskfile.yml --\nversion: '3'\nincludes: {a: ./missing.yml}\n",
		"\n-- Taskfile.yml --\nversion: '3'\nincludes: {a: " + filepath.Join(outside, "other.yml") + "}\n",
		"\n-- Taskfile.yml --\nversion: '3'\nincludes: {a: ../../../etc/missing.yml}\n",
		"\n-- Taskfile.yml --\nversion: '3'\nincludes: {a: ./sub}\n-- sub/Taskfile.yml --\nversion: '3'\ntasks: {x: 3, y: [}\n",
		"\n-- Taskfile.yml --\n\x00\x01\x02\n",
		"\n-- Taskfile.yml --\n- a\n- b\n",
		"\n-- Taskfile.yml --\nversion: '3'\ntasks: {a: {deps: 7}}\n",
	} {
		dir := write(t, archive)
		p := open(t, taskfile.Options{}, dir)
		text := p.Plan().Roots[0].Error
		if text == "" || strings.Contains(text, dir) || strings.Contains(text, outside) || strings.Contains(text, os.TempDir()+"/") || strings.ContainsAny(text, "\n\x1b") {
			t.Errorf("%q says %q", archive, text)
		}
	}
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {a: {dir: sub, cmds: [{task: nothing}]}, b: {dotenv: [.env], cmd: echo}}\n-- .env --\n\"unterminated\n")
	p := open(t, taskfile.Options{}, dir)
	for _, task := range []string{"a", "b"} {
		r, err := p.Run(t.Context(), taskfile.Request{Task: task})
		if err == nil || strings.Contains(r.Err+fault.Of(err).Message+r.Status(), dir) || strings.Contains(r.Status(), "\n") {
			t.Errorf("%s: %q, %v", task, r.Status(), err)
		}
	}
}

func TestControlCharactersOfATaskfileReachNobody(t *testing.T) {
	p := project(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks:\n  \"a\\nb\\e[31m\": {desc: \"x\\e[2Jy\", aliases: [\"q\\nr\"], prompt: \"sure\\e[1m?\", cmd: echo fine}\n  bad: {cmds: [{task: \"no\\e[31m\"}]}\n")
	for _, i := range p.Plan().Tasks {
		if text := i.Description + strings.Join(i.Decl.Prompts, ""); strings.ContainsAny(text, "\x1b\n") {
			t.Errorf("%q", text)
		}
	}
	r, err := run(t, p, taskfile.Request{Task: "a\nb\x1b[31m", Yes: true})
	if err != nil || r.Stdout != "fine\n" || strings.ContainsAny(r.Status(), "\x1b\n") {
		t.Errorf("%+v, %q, %v", r, r.Status(), err)
	}
	if r, err := run(t, p, taskfile.Request{Task: "bad"}); err == nil || strings.ContainsAny(r.Err+r.Status(), "\x1b\n") {
		t.Errorf("%q, %v", r.Err, err)
	}
}
