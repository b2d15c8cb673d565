package sqlite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/internal/audit"
	"handrail/internal/store/sqlite"
	"handrail/internal/task"
	"handrail/internal/testenv"
)

// The test program runs itself as the other processes of these tests.
const (
	childRole = "HANDRAIL_STORE_CHILD"
	childPath = "HANDRAIL_STORE_PATH"
	childTime = "HANDRAIL_STORE_TIME"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "":
		os.Exit(m.Run())
	case "add":
		addUntilKilled()
	case "soak":
		soak()
	case "change":
		change()
	}
}

func child(role, path string, lasting time.Duration) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childPath+"="+path, childTime+"="+lasting.String())
	cmd.Stderr = os.Stderr
	return cmd
}

func childOpen() *sqlite.DB {
	db, err := sqlite.Open(context.Background(), os.Getenv(childPath), sqlite.Options{
		Report: func(err error) { childFails("report: %v", err) },
	})
	if err != nil {
		childFails("opening: %v", err)
	}
	return db
}

func childFails(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(3)
}

// change adds a task, completes and deletes it, and prints its id.
func change() {
	db := childOpen()
	title, _ := task.ParseTitle("of another process")
	added, err := db.AddTask(context.Background(), "local", task.Draft{Title: title})
	if err == nil {
		_, err = db.CompleteTask(context.Background(), "local", added.ID)
	}
	if err == nil {
		err = db.DeleteTask(context.Background(), "local", added.ID, "")
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		childFails("changing: %v", err)
	}
	fmt.Println(added.ID)
}

// addUntilKilled adds from several goroutines and prints each id that was
// acknowledged, with the title that it was acknowledged for.
func addUntilKilled() {
	db := childOpen()
	for n := range 6 {
		go func() {
			for i := 0; ; i++ {
				title, _ := task.ParseTitle(fmt.Sprintf("process %d writer %d number %d", os.Getpid(), n, i))
				ctx := audit.With(context.Background(), audit.NewPending("local", "add_task", title.String(), nil, time.Now))
				added, err := db.AddTask(ctx, "local", task.Draft{Title: title})
				if err != nil {
					childFails("adding: %v", err)
				}
				// One write a line: a kill cannot mix two of them.
				fmt.Printf("%d %s\n", added.ID, title)
				db.Queue(audit.Entry{At: time.Now(), User: "local", Tool: "list_tasks", Outcome: audit.OK})
			}
		}()
	}
	select {}
}

func TestEveryAcknowledgedTaskSurvivesKillsAtRandomMoments(t *testing.T) {
	kills := 50
	if testenv.Long() {
		kills = 500
	}
	path := filepath.Join(t.TempDir(), "tasks.db")
	var mu sync.Mutex
	acknowledged := map[int64]string{}
	acknowledge := func(line string) {
		first, title, _ := strings.Cut(line, " ")
		id, err := strconv.ParseInt(first, 10, 64)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || acknowledged[id] != "" {
			t.Errorf("%q: %v; before, it was %q", line, err, acknowledged[id])
		}
		acknowledged[id] = title
	}
	var lanes sync.WaitGroup
	for lane := range 2 {
		lanes.Go(func() {
			r := rand.New(rand.NewPCG(uint64(lane), uint64(time.Now().UnixNano())))
			for i := range kills / 2 {
				killOne(t, path, time.Duration(r.IntN(150))*time.Millisecond, i%2 == 0, acknowledge)
			}
		})
	}
	lanes.Wait()
	t.Logf("%d kills, %d tasks acknowledged", kills, len(acknowledged))
	if len(acknowledged) < kills/2 {
		t.Errorf("only %d tasks were acknowledged: the test proves too little", len(acknowledged))
	}

	db := open(t, path, sqlite.Options{})
	stored := titlesOf(t, db, "local")
	for id, title := range acknowledged {
		if stored[id] != title {
			t.Errorf("task %d was acknowledged as %q and is %q", id, title, stored[id])
		}
	}
	recorded := map[string]bool{}
	for e, err := range db.Entries(t.Context(), audit.Filter{Tool: "add_task"}) {
		if err != nil {
			t.Fatal(err)
		}
		recorded[e.CallID] = true
	}
	for id, title := range stored {
		if !recorded[title] {
			t.Errorf("task %d has no entry on the record", id)
		}
	}
	if len(recorded) != len(stored) {
		t.Errorf("%d tasks and %d entries", len(stored), len(recorded))
	}
	verified(t, db)
	sound(t, raw(t, path))
}

// killOne lets a process add for a moment and kills it. The moment is counted
// from the start, so that the kill may hit the start too, or from the first task
// that was acknowledged, so that it hits the work, however slow the machine is.
func killOne(t *testing.T, path string, after time.Duration, working bool, acknowledge func(string)) {
	cmd := child("add", path, 0)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	kill := func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }
	if !working {
		kill()
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what follows the last newline was not acknowledged whole
		}
		acknowledge(strings.TrimSuffix(line, "\n"))
		if working {
			working = false
			kill()
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code == 3 {
		t.Error("a process failed before it was killed")
	}
}

// tally is what a process of the soak did.
type tally struct {
	Adds, Deletes, Completes, Reads int64
	Slowest                         time.Duration
}

// soak works from 16 goroutines for a while and prints its tally.
func soak() {
	db := childOpen()
	lasting, err := time.ParseDuration(os.Getenv(childTime))
	if err != nil {
		childFails("%v", err)
	}
	end := time.Now().Add(lasting)
	var sum tally
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(n)))
			for time.Now().Before(end) {
				began := time.Now()
				soakOnce(db, r, &sum)
				if took := int64(time.Since(began)); took > slowest.Load() {
					slowest.Store(took)
				}
			}
		})
	}
	wg.Wait()
	if err := db.Close(); err != nil {
		childFails("closing: %v", err)
	}
	sum.Slowest = time.Duration(slowest.Load())
	_ = json.NewEncoder(os.Stdout).Encode(sum)
}

// soakOnce adds a task, works on it and reads around it.
func soakOnce(db *sqlite.DB, r *rand.Rand, sum *tally) {
	must := func(what string, err error) {
		if err != nil {
			childFails("%s: %v", what, err)
		}
	}
	call := func(tool string) context.Context {
		return audit.With(context.Background(), audit.NewPending("local", tool, "", []byte(`{}`), time.Now))
	}
	title, _ := task.ParseTitle("a task of " + commonWords[r.IntN(len(commonWords))])
	tags, _ := task.ParseTags([]string{"soak"})
	added, err := db.AddTask(call("add_task"), "local", task.Draft{Title: title, Tags: tags})
	must("adding", err)
	atomic.AddInt64(&sum.Adds, 1)
	if r.IntN(2) == 0 {
		_, err := db.CompleteTask(call("complete_task"), "local", added.ID)
		must("completing", err)
		atomic.AddInt64(&sum.Completes, 1)
	}
	got, err := db.Task(context.Background(), "local", added.ID)
	must("reading", err)
	if got.Title != title.String() {
		childFails("task %d reads %q, not %q", added.ID, got.Title, title)
	}
	_, _, err = db.Tasks(context.Background(), "local", task.Filter{Tag: "soak"}, task.Page{After: added.ID - 10, Limit: 10})
	must("listing", err)
	q, _ := task.ParseQuery("task of " + commonWords[r.IntN(len(commonWords))])
	_, _, err = db.SearchTasks(context.Background(), "local", q, task.Page{After: added.ID - 1000, Limit: 5})
	must("searching", err)
	db.Queue(audit.Entry{At: time.Now(), User: "local", Tool: "search_tasks", Outcome: audit.OK})
	atomic.AddInt64(&sum.Reads, 1)
	if r.IntN(3) == 0 {
		must("deleting", db.DeleteTask(call("delete_task"), "local", added.ID, title.String()))
		atomic.AddInt64(&sum.Deletes, 1)
	}
}

func TestTwoProcessesOfSixteenGoroutinesShareOneDatabase(t *testing.T) {
	lasting := 2 * time.Second
	if testenv.Long() {
		lasting = time.Minute
	}
	path := filepath.Join(t.TempDir(), "tasks.db")
	var sum tally
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := child("soak", path, lasting)
			out, err := cmd.Output()
			var did tally
			if err == nil {
				err = json.Unmarshal(out, &did)
			}
			if err != nil {
				t.Errorf("a process ended with %v, and said %q", err, out)
				return
			}
			t.Logf("a process did %+v", did)
			mu.Lock()
			defer mu.Unlock()
			sum.Adds += did.Adds
			sum.Deletes += did.Deletes
			sum.Completes += did.Completes
			sum.Reads += did.Reads
		})
	}
	wg.Wait()
	if sum.Adds == 0 {
		t.Fatal("nothing was done")
	}
	if n := count(t, path, `SELECT count(*) FROM tasks`); int64(n) != sum.Adds-sum.Deletes {
		t.Errorf("%d tasks, want %d", n, sum.Adds-sum.Deletes)
	}
	if n := count(t, path, `SELECT last_id FROM users`); int64(n) != sum.Adds {
		t.Errorf("%d ids were given out for %d tasks", n, sum.Adds)
	}
	db := open(t, path, sqlite.Options{})
	if r := verified(t, db); r.Entries != sum.Adds+sum.Deletes+sum.Completes+sum.Reads {
		t.Errorf("%d entries, want %d", r.Entries, sum.Adds+sum.Deletes+sum.Completes+sum.Reads)
	}
	sound(t, raw(t, path))
}
