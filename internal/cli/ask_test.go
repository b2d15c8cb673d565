package cli_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/internal/actor"
	"handrail/internal/app"
	"handrail/internal/audit"
	"handrail/internal/cli"
	"handrail/internal/config"
	"handrail/internal/fault"
	"handrail/internal/testenv"
	"handrail/internal/tool"
)

// open opens the basic preset on a database of its own.
func open(t *testing.T) (a *app.App, db string) {
	t.Helper()
	p, _ := config.FindPreset("basic")
	db = filepath.Join(t.TempDir(), "tasks.db")
	c, err := config.Load(p, map[string]string{"db": db}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, err = app.Open(t.Context(), c, app.World{Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return a, db
}

func called(t *testing.T, a *app.App, name string) tool.Tool {
	t.Helper()
	found, err := a.Tool(name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAPersonAtTheTerminalIsAskedBeforeADeletion(t *testing.T) {
	for answer, want := range map[string]audit.Outcome{
		"yes\n": audit.OK, "Y\n": audit.OK, "yes": audit.OK,
		"no\n": audit.Declined, "\n": audit.Declined, "": audit.Declined, "yes please\n": audit.Declined,
	} {
		t.Run(answer, func(t *testing.T) {
			a, db := open(t)
			ctx := t.Context()
			if o := a.Door.Call(ctx, tool.Call{Who: actor.LocalUser()}, called(t, a, "create_task"), []byte(`{"title":"red \u001b[31m"}`)); !o.OK() {
				t.Fatal(o.Fault)
			}
			var shown strings.Builder
			o := cli.CallAsking(ctx, a.Door, called(t, a, "delete_task"), `{"id":1}`, strings.NewReader(answer), &shown)
			if o.OK() != (want == audit.OK) || o.Fault != nil && o.Fault.Code != fault.Declined {
				t.Errorf("got %s", o.Envelope())
			}
			if !strings.Contains(shown.String(), "Delete task 1") || strings.Contains(shown.String(), "\x1b") {
				t.Errorf("it asked %q", shown.String())
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := app.OpenRecord(ctx, db, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var outcomes []audit.Outcome
			for e, err := range r.Entries(ctx, audit.Filter{Tool: "delete_task"}) {
				if err != nil {
					t.Fatal(err)
				}
				outcomes = append(outcomes, e.Outcome)
			}
			if len(outcomes) != 2 || outcomes[0] != audit.Asked || outcomes[1] != want {
				t.Errorf("recorded as %v", outcomes)
			}
		})
	}
}

// whileAsked is a person who answers yes once something else has happened.
type whileAsked struct{ happens func() }

func (w whileAsked) Read(p []byte) (int, error) {
	w.happens()
	return copy(p, "yes\n"), io.EOF
}

func TestAYesIsForTheTaskThatWasShown(t *testing.T) {
	a, _ := open(t)
	defer a.Close()
	ctx := t.Context()
	if o := a.Door.Call(ctx, tool.Call{Who: actor.LocalUser()}, called(t, a, "create_task"), []byte(`{"title":"one"}`)); !o.OK() {
		t.Fatal(o.Fault)
	}
	remove := called(t, a, "delete_task")
	w := whileAsked{func() {
		if o := cli.CallAsking(ctx, a.Door, remove, `{"id":1}`, strings.NewReader("yes\n"), io.Discard); !o.OK() {
			t.Error(o.Fault)
		}
	}}
	if o := cli.CallAsking(ctx, a.Door, remove, `{"id":1}`, w, io.Discard); o.Fault == nil || o.Fault.Code != fault.NotFound {
		t.Errorf("got %s", o.Envelope())
	}
}

func TestAQuestionEndsWhenItIsInterrupted(t *testing.T) {
	a, _ := open(t)
	defer a.Close()
	if o := a.Door.Call(t.Context(), tool.Call{Who: actor.LocalUser()}, called(t, a, "create_task"), []byte(`{"title":"one"}`)); !o.OK() {
		t.Fatal(o.Fault)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.CloseWithError(errors.New("over"))
	go func() {
		// The question is on its way when it reads.
		w.Write(nil)
		cancel()
	}()
	if o := cli.CallAsking(ctx, a.Door, called(t, a, "delete_task"), `{"id":1}`, r, io.Discard); o.OK() {
		t.Error("it was deleted")
	}
	if o := a.Door.Call(t.Context(), tool.Call{Who: actor.LocalUser()}, called(t, a, "complete_task"), []byte(`{"id":1}`)); !o.OK() {
		t.Errorf("the task is gone: %s", o.Envelope())
	}
}

func TestAPersonAtTheTerminalIsAskedForWhatATaskNeeds(t *testing.T) {
	p, _ := config.FindPreset("taskfile")
	root := t.TempDir()
	text := "version: '3'\ntasks:\n  stage: {requires: {vars: [{name: ENV, enum: [dev, prod]}]}, cmds: ['echo to {{.ENV}}']}\n"
	if err := os.WriteFile(filepath.Join(root, "Taskfile.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(p, map[string]string{"root": root, "audit-db": "off"}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), c, app.World{
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, Environ: os.Environ(), Self: filepath.Join(filepath.Dir(testenv.Runner(t)), "handrail"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for typed, want := range map[string]bool{"dev\n": true, "test\n\nprod\n": true, "test\n": false, "": false} {
		var shown strings.Builder
		o := cli.CallAsking(t.Context(), a.Door, called(t, a, "stage"), `{}`, strings.NewReader(typed), &shown)
		if o.OK() != want || !want && o.Fault.Code != fault.Declined || !strings.Contains(shown.String(), "one of dev, prod") {
			t.Errorf("%q: got %s; it asked %q", typed, o.Envelope(), shown.String())
		}
	}
}
