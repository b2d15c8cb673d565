package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/internal/testenv"
)

func TestEveryCallOfTheNotesServerIsOnTheRecordWithItsOutcome(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		f := newFolder(t)
		f.put("a.md", "x")
		w := f.open(e, "--allow-write", strings.Join(writeTools, ","), "--max-note-bytes", "50000")
		big := fmt.Sprintf(`{"path":"big.md","content":%q}`, strings.Repeat("é", 15_000))
		var want []string
		for _, row := range []struct{ tool, args, outcomes string }{
			{"notes_read", `{"path":"a.md"}`, "ok"},
			{"notes_list", `{}`, "ok"},
			{"notes_search", `{"query":"x"}`, "ok"},
			{"tasks_list", `{}`, "ok"},
			{"notes_read", `{"path":"b.md"}`, "not_found:not_found"},
			{"notes_read", `{"path":"../a.md"}`, "rejected:invalid_input"},
			{"notes_read", `{"pth":"a.md"}`, "rejected:invalid_input"},
			{"notes_read", `["a.md"]`, "rejected:invalid_input"},
			{"notes_write", `{"path":"b.md","content":"x"}`, "started ok"},
			{"notes_write", `{"path":"b.md","content":"y"}`, "started rejected:conflict"},
			{"notes_write", fmt.Sprintf(`{"path":"c.md","content":%q}`, strings.Repeat("x", 50_001)), "started rejected:too_large"},
			{"notes_write", `{"path":"c.md"}`, "rejected:invalid_input"},
			{"notes_append", `{"path":"b.md","content":"y"}`, "started ok"},
			{"notes_write", big, "started ok"},
			{"tasks_add", `{"title":"x"}`, "started ok"},
			{"tasks_complete", `{"id":9}`, "started not_found:not_found"},
			{"tasks_complete", `{"id":1}`, "started ok"},
		} {
			e.do(w, row.tool, row.args)
			for _, outcome := range strings.Fields(row.outcomes) {
				want = append(want, row.tool+" "+outcome)
			}
		}
		f.put("tasks.json", "{]")
		e.do(w, "tasks_add", `{"title":"y"}`)
		want = append(want, "tasks_add started", "tasks_add error:invalid_store")
		w.end()

		got := f.record(f.db)
		var lines []string
		open := map[string]entry{}
		for _, g := range got {
			line := g.Tool + " " + g.Outcome
			if g.Code != "" {
				line += ":" + g.Code
			}
			lines = append(lines, line)
			if before, begun := open[g.CallID]; begun && (before.Tool != g.Tool || before.Args != g.Args || g.Outcome == "started") {
				t.Errorf("%+v is no end of %+v", g, before)
			}
			delete(open, g.CallID)
			if g.Outcome == "started" {
				open[g.CallID] = g
			}
			if at, err := time.Parse(time.RFC3339, g.At); err != nil || at.Location() != time.UTC || g.User != "local" || g.Duration < 0 {
				t.Errorf("%+v", g)
			}
			if strings.Contains(g.Args, "big.md") {
				sum := sha256.Sum256([]byte(big))
				if len(g.Args) > 8<<10 || len(g.Args) < 8<<10-4 || !strings.HasPrefix(big, g.Args) || g.ArgsBytes != int64(len(big)) || g.SHA != hex.EncodeToString(sum[:]) {
					t.Errorf("long arguments are kept as %d bytes of %d, %s", len(g.Args), g.ArgsBytes, g.SHA)
				}
			}
		}
		if a, b := strings.Join(lines, "\n"), strings.Join(want, "\n"); a != b {
			t.Errorf("recorded:\n%s\nwant:\n%s", a, b)
		}
		if len(open) != 0 {
			t.Errorf("never ended: %+v", open)
		}
		if got[6].Args != `{"pth":"a.md"}` || got[7].Args != `["a.md"]` {
			t.Errorf("refused arguments are not kept as they came: %s, %s", got[6].Args, got[7].Args)
		}
		verified(t, f.db)
	})
}

func TestTheNotesServersRecordIsWhereItIsToldOrNowhere(t *testing.T) {
	t.Parallel()
	e := modern
	call := e.call("1", "notes_list", `{}`) + "\n"
	for _, by := range []string{"flag", "environment"} {
		f := newFolder(t)
		other := filepath.Join(f.dir, "new folder", "rec ord#?.db")
		if runtime.GOOS == "windows" {
			other = filepath.Join(f.dir, "new folder", "rec ord#.db")
		}
		cmd := f.command("--audit-db", other)
		if by == "environment" {
			cmd = f.command()
			cmd.Env = append(cmd.Env, "HANDRAIL_AUDIT_DB="+other)
		}
		if _, status := pipe(t, cmd, call); status != 0 || len(f.record(other)) != 1 {
			t.Errorf("by %s: status %d, %d entries", by, status, len(f.record(other)))
		}
		if _, err := os.Stat(f.state); err == nil {
			t.Errorf("by %s: a record was made where none was asked for", by)
		}
	}
	f := newFolder(t)
	w := f.open(e, "--audit-db", "off", "--allow-write", "notes_append")
	if got := e.do(w, "notes_append", `{"path":"a.md","content":"x"}`); !got.OK {
		t.Errorf("without a record: %+v", got)
	}
	w.end()
	if _, err := os.Stat(f.state); err == nil || !strings.Contains(w.stderr.String(), "not recorded") {
		t.Errorf("off keeps a record, or says nothing: %v, %s", err, w.stderr)
	}
}

// A file that is something else is somebody's, and not ours to write into.
func TestARecordThatWouldBeAnotherFileStopsTheStart(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.put("a.md", "a note of some length, and no database at all\n")
	for what, path := range map[string]string{"a note": f.file("a.md"), "a folder": f.root} {
		out, stderr, status := ended(t, f.command("--audit-db", path, "--allow-write", "notes_append"))
		if status == 0 || out != "" || !strings.Contains(stderr, "handrail: ") {
			t.Errorf("%s: status %d, stdout %q, stderr %s", what, status, out, stderr)
		}
	}
	if f.text("a.md") != "a note of some length, and no database at all\n" {
		t.Error("the note was written into")
	}
	f.untouched()
}

// What cannot be recorded is not begun; reading goes on.
func TestWithoutItsRecordTheNotesServerReadsAndChangesNothing(t *testing.T) {
	t.Parallel()
	eachEra(t, both, func(t *testing.T, e era) {
		f := newFolder(t)
		f.put("a.md", "needle\n")
		write(t, filepath.Join(f.dir, "file"), "x")
		w := f.open(e, "--audit-db", filepath.Join(f.dir, "file", "audit.db"), "--allow-write", strings.Join(writeTools, ","))
		for tool, args := range map[string]string{"notes_read": `{"path":"a.md"}`, "notes_search": `{"query":"NEEDLE"}`, "notes_list": `{}`, "tasks_list": `{}`} {
			if got := e.do(w, tool, args); !got.OK {
				t.Errorf("%s: %+v", tool, got)
			}
		}
		if got := e.do(w, "notes_read", `{"path":"../a.md"}`); got.Err.Code != "invalid_input" {
			t.Errorf("a refusal: %+v", got)
		}
		for tool, args := range map[string]string{"notes_append": `{"path":"a.md","content":"x"}`, "notes_write": `{"path":"b.md","content":"x"}`, "tasks_add": `{"title":"x"}`, "tasks_complete": `{"id":1}`} {
			if got := e.do(w, tool, args); got.Err.Code != "unavailable" || !strings.Contains(got.Err.Message, "not begun") {
				t.Errorf("%s: %+v", tool, got)
			}
		}
		if _, status := w.end(); status != 0 {
			t.Errorf("status %d", status)
		}
		if f.text("a.md") != "needle\n" || f.has("b.md") || f.has("tasks.json") {
			t.Error("something was changed")
		}
		if !strings.Contains(w.stderr.String(), "record") {
			t.Errorf("stderr does not say that nothing is recorded: %s", w.stderr)
		}
	})
}

// A database that cannot be written is still a list to read, and the operator
// is told that its calls are on no record.
func TestAReadOnlyTaskListIsReadAndSaysThatItCannotRecord(t *testing.T) {
	testenv.Binary(t)
	if testenv.Unprivileged(t) {
		return
	}
	for _, e := range both {
		db := newDB(t)
		w := e.openOn(t, db)
		if got := e.do(w, "add_task", `{"title":"kept"}`); !got.OK {
			t.Fatalf("%+v", got)
		}
		w.end()
		if err := os.Chmod(db, 0o400); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(db), 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Dir(db), 0o700)
		w = e.openOn(t, db)
		for tool, args := range map[string]string{"list_tasks": `{}`, "search_tasks": `{"query":"KEPT"}`} {
			if got := e.do(w, tool, args); !got.OK || !strings.Contains(string(got.Data), "kept") {
				t.Errorf("%s: %+v", tool, got)
			}
		}
		if got := e.do(w, "list_tasks", `{"x":1}`); got.Err.Code != "invalid_input" {
			t.Errorf("a refusal: %+v", got)
		}
		for tool, args := range map[string]string{"add_task": `{"title":"x"}`, "complete_task": `{"id":1}`, "delete_task": `{"id":1,"confirm":true}`} {
			if got := e.do(w, tool, args); got.Err.Code != "unavailable" {
				t.Errorf("%s: %+v", tool, got)
			}
		}
		if n := e.count(w); n != 1 {
			t.Errorf("%d tasks", n)
		}
		if _, status := w.end(); status != 0 {
			t.Errorf("status %d", status)
		}
		if !strings.Contains(w.stderr.String(), "not recorded") {
			t.Errorf("stderr does not say that nothing is recorded: %s", w.stderr)
		}
	}
}

// Reads are queued for the record; whoever stops the server does not lose them.
func TestAServerThatIsStoppedHasRecordedWhatItAnswered(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no SIGTERM; input that ends is tested elsewhere
	}
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		eachEra(t, both, func(t *testing.T, e era) {
			db := newDB(t)
			w := e.openOn(t, db)
			for range 10 {
				e.do(w, "list_tasks", `{}`)
			}
			if err := w.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for {
				if _, more := w.next(); !more {
					break
				}
			}
			if err := <-w.exited; err != nil {
				t.Errorf("%v: %v\nstderr: %s", signal, err, w.stderr)
			}
			if got := audited(t, db, "list_tasks", "ok"); len(got) != 10 {
				t.Errorf("%v: %d of 10 calls are on the record", signal, len(got))
			}
			verified(t, db)
		})
	}
}

// Field case 26, for what is outside the database: a killed server may leave a
// call that began and never ended, and no change without its beginning.
func TestNoNoteIsChangedWithoutABeginningOnTheRecord(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	e := modern
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	sent := map[string]bool{}
	for n := range rounds {
		w := f.open(e, "--allow-write", "notes_append,notes_write")
		e.do(w, "notes_list", `{"limit":1}`)
		var lines []string
		for i := range 8 {
			line := fmt.Sprintf("round %d line %d.", n, i)
			sent[line] = true
			lines = append(lines, e.call(fmt.Sprint(i), "notes_append", fmt.Sprintf(`{"path":"log.md","content":%q}`, line)))
		}
		w.send(lines...)
		time.Sleep(time.Duration(rand.IntN(15_000)) * time.Microsecond)
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		answered := 0
		for {
			m, more := w.next()
			if !more {
				break
			}
			if m.reply() && m.envelope(t).OK {
				answered++
				line := fmt.Sprintf("round %d line %s.", n, m.ID)
				if !strings.Contains(f.text("log.md"), line+"\n") {
					t.Errorf("%q was acknowledged and is not in the note", line)
				}
			}
		}
		<-w.exited
	}
	began := map[string]bool{}
	for _, g := range f.record(f.db, "--tool", "notes_append", "--outcome", "started") {
		began[g.Args] = true
	}
	lines := 0
	if f.has("log.md") {
		for line := range strings.Lines(f.text("log.md")) {
			line = strings.TrimSuffix(line, "\n")
			lines++
			if !sent[line] {
				t.Errorf("the note has a line that nobody sent whole: %q", line)
			}
			if !began[fmt.Sprintf(`{"path":"log.md","content":%q}`, line)] {
				t.Errorf("%q is in the note and not on the record", line)
			}
		}
	}
	t.Logf("%d kills, %d lines, %d calls began", rounds, lines, len(began))
	verified(t, f.db)
	// The next start sweeps what the killed ones left; its first call may come
	// before that is done.
	w := f.open(e, "--allow-write", "notes_append")
	give := time.Now().Add(patience)
	for left := 1; left > 0 && time.Now().Before(give); time.Sleep(10 * time.Millisecond) {
		list, err := os.ReadDir(f.root)
		if err != nil {
			t.Fatal(err)
		}
		left = len(list)
		for _, d := range list {
			if d.Name() == "log.md" {
				left--
			}
		}
	}
	w.end()
	f.untouched()
}

// Several hosts with the same notes: one folder, one record.
func TestTwoNotesServersShareAFolderAndARecord(t *testing.T) {
	t.Parallel()
	const each = 60
	f := newFolder(t)
	t.Run("together", func(t *testing.T) {
		eachEra(t, both, func(t *testing.T, e era) {
			w := f.open(e, "--allow-write", strings.Join(writeTools, ","))
			for i := range each {
				w.send(e.call("1", "notes_append", fmt.Sprintf(`{"path":"log.md","content":"%s %d."}`, e.version, i)),
					e.call("2", "tasks_add", fmt.Sprintf(`{"title":"%s %d."}`, e.version, i)), e.call("3", "notes_search", `{"query":"."}`))
				for range 3 {
					if m := w.reply("*"); !m.envelope(t).OK {
						t.Errorf("%s", m.Result)
					}
				}
			}
			w.end()
		})
	})
	for _, e := range both {
		for i := range each {
			line := fmt.Sprintf("%s %d.", e.version, i)
			if !strings.Contains(f.text("log.md"), line+"\n") || !strings.Contains(f.text("tasks.json"), line+`"`) {
				t.Errorf("%s was lost", line)
			}
		}
	}
	if got := f.record(f.db); len(got) != 2*each*5 {
		t.Errorf("%d entries, want %d", len(got), 2*each*5)
	}
	verified(t, f.db)
	f.untouched()
}
