package taskfile_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
)

// with is a Taskfile with some tasks.
func with(tasks ...string) string {
	text := "version: '3'\ntasks:\n"
	for _, task := range tasks {
		text += "  " + task + ": {cmd: echo " + task + "}\n"
	}
	return text
}

// becomes waits until the plan has exactly these tools.
func becomes(t *testing.T, p *taskfile.Project, tools ...string) {
	t.Helper()
	end := time.Now().Add(60 * time.Second)
	for ; time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if slices.Equal(toolNames(p.Plan()), tools) {
			return
		}
	}
	t.Fatalf("tools %v, want %v; roots %+v", toolNames(p.Plan()), tools, p.Plan().Roots)
}

func TestChangesAreFollowed(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- Taskfile.yml --\n"+with("a"))
	path := filepath.Join(dir, "Taskfile.yml")
	p := open(t, taskfile.Options{}, dir)
	becomes(t, p, "a")

	put(t, path, with("a", "b")) // replaced, as editors do
	becomes(t, p, "a", "b")
	if err := os.WriteFile(path, []byte(with("c")), 0o644); err != nil { // written over
		t.Fatal(err)
	}
	becomes(t, p, "c")
	put(t, path, "version: '3'\ntasks: [\n") // broken
	becomes(t, p)
	if p.Plan().Roots[0].Error == "" {
		t.Error("a broken Taskfile has no error")
	}
	put(t, path, with("d")) // right again
	becomes(t, p, "d")
	if err := os.Remove(path); err != nil { // gone
		t.Fatal(err)
	}
	becomes(t, p)
	put(t, filepath.Join(dir, "taskfile.yaml"), with("e")) // under another name
	becomes(t, p, "e")
	put(t, path, with("f")) // which an earlier name hides
	becomes(t, p, "f")
	if err := os.Rename(dir, dir+"-moved"); err != nil { // the whole root
		t.Fatal(err)
	}
	becomes(t, p)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, path, with("g")) // and back, as another folder
	becomes(t, p, "g")
	if got := p.Plan().Generation; got < 10 {
		t.Errorf("the plan is of generation %d after ten changes", got)
	}
}

func TestAFileCreatedLaterIsNoticed(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- readme.txt --\n")
	p := open(t, taskfile.Options{}, dir)
	if got := p.Plan().Roots; len(got) != 1 || !strings.Contains(got[0].Error, "no Taskfile in the root") {
		t.Fatalf("%+v", got)
	}
	put(t, filepath.Join(dir, "Taskfile.yml"), "version: '3'\nincludes: {sub: {taskfile: ./sub/deep/x.yml, optional: true}, must: ./must}\n")
	await(t, func() bool { return strings.Contains(p.Plan().Roots[0].Error, "must") })
	put(t, filepath.Join(dir, "must", "Taskfile.yml"), with("m"))
	becomes(t, p, "must_m")
	put(t, filepath.Join(dir, "sub", "deep", "x.yml"), with("s"))
	becomes(t, p, "must_m", "sub_s")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	becomes(t, p, "must_m")
	put(t, filepath.Join(dir, "sub", "deep", "x.yml"), with("again"))
	becomes(t, p, "must_m", "sub_again")
}

func TestARootThatIsMadeLaterIsNoticed(t *testing.T) {
	dir := filepath.Join(write(t, "\n-- x --\n"), "not", "yet")
	p := open(t, taskfile.Options{}, dir)
	if got := p.Plan().Roots[0].Error; got != "the root's folder is not there" {
		t.Errorf("%q", got)
	}
	put(t, filepath.Join(dir, "Taskfile.yml"), with("late"))
	becomes(t, p, "late")
}

func TestABrokenIncludeIsWatchedUntilItIsRight(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\nincludes: {a: ./a.yml}\ntasks: {top: {cmd: echo}}\n-- a.yml --\nversion: '3'\nincludes: {b: ./b.yml}\n-- b.yml --\n"+with("x"))
	p := open(t, taskfile.Options{}, dir)
	becomes(t, p, "a_b_x", "top")
	put(t, filepath.Join(dir, "b.yml"), "version: '3'\ntasks: [")
	becomes(t, p)
	put(t, filepath.Join(dir, "b.yml"), "version: '3'\nincludes: {c: ./c.yml}\n") // broken in another way
	await(t, func() bool { return strings.Contains(p.Plan().Roots[0].Error, "c.yml") })
	put(t, filepath.Join(dir, "c.yml"), "version: '3'\ntasks: [")
	await(t, func() bool { return !strings.Contains(p.Plan().Roots[0].Error, "No Taskfile") })
	put(t, filepath.Join(dir, "c.yml"), with("y"))
	becomes(t, p, "a_b_c_y", "top")
}

func TestLinksAreFollowedAndWatched(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\ndotenv: [.env]\nincludes: {a: ./a.yml, d: ./d}\n-- real/one.yml --\n"+with("one")+"-- real/two.yml --\n"+with("two")+
		"-- real/d1/Taskfile.yml --\n"+with("d1")+"-- real/d2/Taskfile.yml --\n"+with("d2")+"-- real/env --\nA=1\n")
	link := func(target, name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		_ = os.Remove(path)
		if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
			testenv.LeftOut(t, "this user may not make symbolic links")
		}
	}
	link("hop", "a.yml")
	link("real/one.yml", "hop")
	link("real/d1", "d")
	link("real/env", ".env")
	p := open(t, taskfile.Options{}, dir)
	becomes(t, p, "a_one", "d_d1")
	put(t, filepath.Join(dir, "real", "one.yml"), with("uno")) // the file itself
	becomes(t, p, "a_uno", "d_d1")
	link("real/two.yml", "hop") // a link on the way
	becomes(t, p, "a_two", "d_d1")
	link("real/d2", "d") // a folder
	becomes(t, p, "a_two", "d_d2")
	link("real/one.yml", "a.yml") // the link itself
	becomes(t, p, "a_uno", "d_d2")

	// The Taskfile itself is a link, and the root is one.
	put(t, filepath.Join(dir, "elsewhere.yml"), with("l"))
	link("elsewhere.yml", "Taskfile.yml")
	becomes(t, p, "l")
	put(t, filepath.Join(dir, "elsewhere.yml"), with("m"))
	becomes(t, p, "m")
	other := write(t, "\n-- Taskfile.yml --\n"+with("n"))
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Symlink(dir, root); err != nil {
		t.Fatal(err)
	}
	q := open(t, taskfile.Options{}, root)
	becomes(t, q, "m")
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, root); err != nil {
		t.Fatal(err)
	}
	becomes(t, q, "n")
	if r, err := run(t, q, taskfile.Request{Task: "n"}); err != nil || r.Stdout != "n\n" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestADotenvFileIsWatched(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- Taskfile.yml --\nversion: '3'\ndotenv: [.env]\ntasks: {t: {cmd: 'echo {{.A}}'}}\n")
	log := &events{}
	p := open(t, taskfile.Options{Log: slog.New(log)}, dir)
	loads := log.count("root.loaded")
	put(t, filepath.Join(dir, ".env"), "A=1\n")
	await(t, func() bool { return log.count("root.loaded") > loads })
	loads = log.count("root.loaded")
	put(t, filepath.Join(dir, ".env"), "A=2\n")
	await(t, func() bool { return log.count("root.loaded") > loads })
	if r, err := run(t, p, taskfile.Request{Task: "t"}); err != nil || r.Stdout != "2\n" {
		t.Errorf("%+v, %v", r, err)
	}
}

// events counts log records by their event.
type events struct {
	mu   sync.Mutex
	seen []string
}

func (e *events) Enabled(context.Context, slog.Level) bool { return true }
func (e *events) WithAttrs([]slog.Attr) slog.Handler       { return e }
func (e *events) WithGroup(string) slog.Handler            { return e }
func (e *events) Handle(_ context.Context, r slog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "event" {
			e.seen = append(e.seen, a.Value.String())
		}
		return true
	})
	return nil
}

func (e *events) count(event string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.seen {
		if s == event {
			n++
		}
	}
	return n
}

func TestAThousandEditsAreFewReloadsAndNoneIsLost(t *testing.T) {
	dir := write(t, "\n-- Taskfile.yml --\n"+with("start")+"-- noise.txt --\n")
	log := &events{}
	p := open(t, taskfile.Options{Log: slog.New(log)}, dir)
	becomes(t, p, "start")
	before := runtime.NumGoroutine()
	began := time.Now()
	for i := range 1000 {
		put(t, filepath.Join(dir, "Taskfile.yml"), with(fmt.Sprintf("edit%d", i)))
		put(t, filepath.Join(dir, "noise.txt"), fmt.Sprint(i))
	}
	took := time.Since(began)
	becomes(t, p, "edit999")
	// One reload for each two seconds in which the files never rest, and one after.
	if n, most := log.count("root.loaded"), 3+int(took/(2*time.Second))+int(took/(200*time.Millisecond)); n > most || n > 100 {
		t.Errorf("%d reloads for 1,000 edits in %s", n, took)
	}
	loads := log.count("root.loaded")
	for i := range 50 {
		put(t, filepath.Join(dir, "noise.txt"), fmt.Sprint(i))
	}
	put(t, filepath.Join(dir, "Taskfile.yml"), with("edit999", "last"))
	becomes(t, p, "edit999", "last")
	if n := log.count("root.loaded"); n > loads+2 {
		t.Errorf("%d reloads for one edit and much noise", n-loads)
	}
	settled(t, before)
}

// settled fails where there are more goroutines than before, after those that are
// about to end have.
func settled(t *testing.T, before int) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for ; time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

func TestNothingIsLeftWhenAProjectIsClosed(t *testing.T) {
	before := runtime.NumGoroutine()
	var dirs []string
	for range 5 {
		dirs = append(dirs, write(t, simple))
	}
	descriptors := openFiles(t)
	for range 3 {
		p, err := taskfile.OpenRoots(t.Context(), dirs, taskfile.Options{Runner: testenv.Runner(t), Env: environ(), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), taskfile.Request{Task: "t", Root: p.Plan().Roots[2].URI, Line: func(string, string) {}}); err != nil {
			t.Error(err)
		}
		if err := p.SetRoots(t.Context(), dirs[2:]); err != nil {
			t.Error(err)
		}
		p.Close()
		p.Close() // twice does no harm
		if err := p.SetRoots(t.Context(), dirs); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("after it was closed: %v", err)
		}
	}
	settled(t, before)
	if after := openFiles(t); after > descriptors {
		t.Errorf("%d open files, %d before", after, descriptors)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "handrail-runs-*")); len(left) > 0 {
		t.Logf("folders of other processes: %v", left)
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

func TestChangesGiveOneTokenForAnyNumberOfPlans(t *testing.T) {
	t.Parallel()
	dir := write(t, "\n-- Taskfile.yml --\n"+with("a"))
	p := open(t, taskfile.Options{}, dir)
	<-p.Changes() // of the first plan
	put(t, filepath.Join(dir, "Taskfile.yml"), with("b"))
	becomes(t, p, "b")
	put(t, filepath.Join(dir, "Taskfile.yml"), with("c"))
	becomes(t, p, "c")
	select {
	case <-p.Changes():
	case <-time.After(10 * time.Second):
		t.Fatal("no change was announced")
	}
	select {
	case <-p.Changes():
		t.Error("the same changes were announced twice")
	default:
	}
	generation := p.Plan().Generation
	put(t, filepath.Join(dir, "Taskfile.yml"), "# a remark\n"+with("c")) // it shows nothing new
	time.Sleep(600 * time.Millisecond)
	select {
	case <-p.Changes():
		t.Error("a change was announced that nobody can see")
	default:
	}
	if got := p.Plan().Generation; got != generation {
		t.Errorf("generation %d, was %d", got, generation)
	}
}

func TestPlansOnlyGetNewer(t *testing.T) {
	t.Parallel()
	dirs := []string{write(t, "\n-- Taskfile.yml --\n"+with("a")), write(t, "\n-- Taskfile.yml --\n"+with("b"))}
	p := open(t, taskfile.Options{Quiet: time.Millisecond}, dirs...)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		var last uint64
		for !stop.Load() {
			if g := p.Plan().Generation; g < last {
				t.Errorf("generation %d after %d", g, last)
			} else {
				last = g
			}
			time.Sleep(50 * time.Microsecond)
		}
	})
	wg.Go(func() {
		for i := range 15 {
			if err := p.SetRoots(t.Context(), dirs[i%2:1+i%2]); err != nil {
				t.Error(err)
			}
			if err := p.SetRoots(t.Context(), dirs); err != nil {
				t.Error(err)
			}
		}
		stop.Store(true)
	})
	for i := 0; !stop.Load(); i++ {
		put(t, filepath.Join(dirs[i%2], "Taskfile.yml"), with(fmt.Sprintf("x%d", i)))
		time.Sleep(3 * time.Millisecond)
	}
	wg.Wait()
	put(t, filepath.Join(dirs[0], "Taskfile.yml"), with("end"))
	put(t, filepath.Join(dirs[1], "Taskfile.yml"), with("end"))
	await(t, func() bool {
		for _, tool := range p.Plan().Tools {
			if tool.Task != "end" {
				return false
			}
		}
		return len(p.Plan().Tools) == 2
	})
}
