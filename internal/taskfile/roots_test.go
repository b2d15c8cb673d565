package taskfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// folders makes folders of some names, each with one task that says where it is.
func folders(t *testing.T, names ...string) []string {
	t.Helper()
	var dirs []string
	for i, name := range names {
		dir := filepath.Join(write(t, "\n-- x --\n"), name)
		put(t, filepath.Join(dir, "Taskfile.yml"), fmt.Sprintf("version: '3'\ntasks: {where: {cmd: echo root %d}, shared: {aliases: [s], cmd: 'true'}}\n", i))
		dirs = append(dirs, dir)
	}
	return dirs
}

func TestSwappedRootsOfOneNameRunTheirOwnTasks(t *testing.T) {
	t.Parallel()
	dirs := folders(t, "app", "app")
	p := open(t, taskfile.Options{}, dirs[0])
	old := p.Plan().Tools[slices.IndexFunc(p.Plan().Tools, func(tool taskfile.Tool) bool { return tool.Task == "where" })]
	if r, err := run(t, p, taskfile.Request{Root: old.URI, Task: old.Task}); err != nil || r.Stdout != "root 0\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := p.SetRoots(t.Context(), dirs[1:]); err != nil {
		t.Fatal(err)
	}
	now := p.Plan().Tools[slices.IndexFunc(p.Plan().Tools, func(tool taskfile.Tool) bool { return tool.Task == "where" })]
	if now.Name != old.Name || now.URI == old.URI {
		t.Errorf("%+v after %+v; want the same name of another root", now, old)
	}
	if r, err := run(t, p, taskfile.Request{Root: now.URI, Task: now.Task}); err != nil || r.Stdout != "root 1\n" {
		t.Errorf("the new root: %+v, %v", r, err)
	}
	if r, err := p.Run(t.Context(), taskfile.Request{Root: old.URI, Task: old.Task}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the old root: %+v, %v; want it not to be found", r, err)
	}
}

func TestPrefixesComeAndGoWithTheNumberOfRoots(t *testing.T) {
	t.Parallel()
	dirs := folders(t, "front end", "api", "api")
	p := open(t, taskfile.Options{}, dirs[0])
	becomes(t, p, "shared", "where")
	set := func(dirs ...string) {
		t.Helper()
		if err := p.SetRoots(t.Context(), dirs); err != nil {
			t.Fatal(err)
		}
	}
	set(dirs[:2]...)
	becomes(t, p, "api_shared", "api_where", "front_end_shared", "front_end_where")
	set(dirs...)
	if got := toolNames(p.Plan()); len(got) != 6 || !strings.HasPrefix(got[0], "api_shared_") || slices.Contains(got, "api_where") {
		t.Errorf("two roots of one name: %v", got)
	}
	empty := write(t, "\n-- x --\n")
	set(dirs[0], empty)
	becomes(t, p, "front_end_shared", "front_end_where") // a placeholder counts
	set()
	becomes(t, p)
	set(dirs[1])
	becomes(t, p, "shared", "where")
	for _, same := range []string{dirs[1], dirs[1] + "/", filepath.Join(dirs[1], "..", "api")} {
		set(dirs[1], same)
		becomes(t, p, "shared", "where")
	}
	if err := p.SetRoots(t.Context(), []string{"relative"}); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a relative path: %v", err)
	}
	becomes(t, p, "shared", "where") // and nothing has changed
}

func TestOneBrokenRootDisturbsNoOther(t *testing.T) {
	t.Parallel()
	dirs := folders(t, "good", "bad")
	p := open(t, taskfile.Options{}, dirs...)
	becomes(t, p, "bad_shared", "bad_where", "good_shared", "good_where")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				put(t, filepath.Join(dirs[1], "Taskfile.yml"), strings.Repeat("[", i%50))
			}
		}
	})
	for range 10 {
		if r, err := run(t, p, taskfile.Request{Root: "good", Task: "where"}); err != nil || r.Stdout != "root 0\n" {
			t.Errorf("%+v, %v", r, err)
		}
		if got := toolNames(p.Plan()); !slices.Contains(got, "good_where") {
			t.Errorf("the good root's tools are gone: %v", got)
		}
	}
	close(stop)
	wg.Wait()
	put(t, filepath.Join(dirs[1], "Taskfile.yml"), with("fixed"))
	becomes(t, p, "bad_fixed", "good_shared", "good_where")
}

func TestARunGoesOnWhenItsRootIsTakenAway(t *testing.T) {
	t.Parallel()
	posix(t)
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\ntasks: {t: {cmd: 'touch started; sleep 0.5; echo done'}}\n")
	p := open(t, taskfile.Options{}, dir)
	result := make(chan taskfile.Result)
	go func() {
		r, err := p.Run(t.Context(), taskfile.Request{Task: "t"})
		if err != nil {
			t.Error(err)
		}
		result <- r
	}()
	await(t, func() bool { _, err := os.Stat(filepath.Join(dir, "started")); return err == nil })
	if err := p.SetRoots(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if r := <-result; r.Stdout != "done\n" {
		t.Errorf("%+v", r)
	}
}

func TestRootsThatCannotBeRead(t *testing.T) {
	file := filepath.Join(write(t, "\n-- file --\nx\n"), "file")
	dir := write(t, "\n-- Taskfile.yml/inside --\n")
	big := write(t, "\n-- x --\n")
	if err := os.WriteFile(filepath.Join(big, "Taskfile.yml"), make([]byte, 20<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	good := write(t, simple)
	p := open(t, taskfile.Options{}, file, dir, big, good)
	for i, says := range []string{"not a folder", "no regular file", "no regular file", ""} {
		if got := p.Plan().Roots[i].Error; !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("root %d: %q, want %q", i, got, says)
		}
	}
	if len(p.Plan().Tools) != 1 {
		t.Errorf("tools %v", toolNames(p.Plan()))
	}
}

func TestTheTaskfilesOfParentsAreNotLookedFor(t *testing.T) {
	dir := write(t, "\n-- Taskfile.yml --\n"+with("parent")+"-- sub/Taskfile.yml --\n"+with("own")+"-- empty/x --\n")
	p := open(t, taskfile.Options{Quiet: time.Hour}, filepath.Join(dir, "empty"))
	if got := p.Plan(); len(got.Tools) != 0 || !strings.Contains(got.Roots[0].Error, "no Taskfile in the root") {
		t.Errorf("tools %v, %+v", toolNames(got), got.Roots)
	}
	// Nor when the root's own is gone by the time it is run.
	p = open(t, taskfile.Options{Quiet: time.Hour}, filepath.Join(dir, "sub"))
	put(t, filepath.Join(dir, "Taskfile.yml"), with("own"))
	if err := os.Remove(filepath.Join(dir, "sub", "Taskfile.yml")); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Run(t.Context(), taskfile.Request{Task: "own"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the parent's task was run: %+v, %v", r, err)
	}
}

func TestOpeningEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := taskfile.OpenRoots(ctx, folders(t, "a", "b", "c"), taskfile.Options{Runner: impostor(t, "sleep 30"), Env: environ(), Now: time.Now})
	if err == nil {
		t.Error("it was opened though nobody waits")
	}
	// Nor does a run wait for a runner that says nothing.
	dir := write(t, simple)
	runner := filepath.Join(t.TempDir(), taskfile.RunnerName)
	if err := os.Symlink(testenv.Runner(t), runner); err != nil {
		testenv.LeftOut(t, "this user may not make symbolic links")
	}
	p := open(t, taskfile.Options{Runner: runner}, dir)
	if err := os.Remove(runner); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(impostor(t, "sleep 300"), runner); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if r, err := p.Run(ctx, taskfile.Request{Task: "t"}); fault.CodeOf(err) != fault.Timeout && fault.CodeOf(err) != fault.Cancelled || r.RunID != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFileURIsAreOfLocalFolders(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///repo": "/repo", "file://localhost/repo": "/repo", "file:///a%20b/c": "/a b/c", "file:///repo/": "/repo",
		"file:///repo/../x": "/x", "file:///%E6%9E%84": "/构", "file:///a%2Fb": "/a/b", "file:///a+b": "/a+b", "file:///a%25b": "/a%b",
	} {
		if os.PathSeparator == '\\' {
			continue
		}
		got, err := taskfile.RootDir(uri)
		if err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", uri, got, err, want)
		}
		if again, err := taskfile.RootDir(taskfile.FileURI(got)); err != nil || again != got {
			t.Errorf("%s becomes %q by way of %s, %v", got, again, taskfile.FileURI(got), err)
		}
	}
	for _, uri := range []string{"", "/repo", "http://x/repo", "file://host/repo", "file:repo", "file:", "file://", "file:///a%00b", "file:///%zz", "FILE", "data:,x", "file://user@localhost/x:y"} {
		if got, err := taskfile.RootDir(uri); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%q is %q, %v; want it refused", uri, got, err)
		}
	}
}

func TestLogsOfServersThatWereKilledAreForgotten(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	old, fresh := filepath.Join(temp, "handrail-runs-old"), filepath.Join(temp, "handrail-runs-fresh")
	for _, dir := range []string{old, fresh} {
		put(t, filepath.Join(dir, "x.stdout"), "x")
	}
	past := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	p, err := taskfile.OpenRoots(t.Context(), nil, taskfile.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("old logs are still there")
	}
	p.Close()
	if left, _ := filepath.Glob(filepath.Join(temp, "handrail-runs-*")); len(left) != 1 || left[0] != fresh {
		t.Errorf("left: %v", left)
	}
}
