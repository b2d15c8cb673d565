package runner_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gotask "github.com/go-task/task/v3/taskfile"

	"handrail/internal/runner"
	"handrail/internal/taskfile"
)

func TestARemoteTaskfileIsUsedOnlyFromTheCacheAndOnlyOfAnAllowedHost(t *testing.T) {
	var calls atomic.Int32
	remote := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, "version: '3'\ntasks: {far: {cmd: echo far}}\n")
	}))
	defer remote.Close()
	host := strings.TrimPrefix(remote.URL, "https://")
	dir := root(t, "version: '3'\nincludes: {r: '"+remote.URL+"/Taskfile.yml'}\ntasks: {near: {cmd: echo near}}\n")

	for _, allow := range [][]string{nil, {"other.test"}, {host}} {
		listing := runner.List(t.Context(), dir, allow...)
		if listing.Error == "" || !strings.Contains(listing.Error, host) {
			t.Errorf("allowing %v, before it was fetched: %+v", allow, listing)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("listing fetched it %d times", n)
	}

	// A person fetches it, as `task --download` does.
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: remote.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o644); err != nil {
		t.Fatal(err)
	}
	node, err := gotask.NewRootNode(filepath.Join(dir, "Taskfile.yml"), dir, false, time.Minute, gotask.WithCACert(ca))
	if err != nil {
		t.Fatal(err)
	}
	reader := gotask.NewReader(gotask.WithCACert(ca), gotask.WithDownload(true), gotask.WithTempDir(filepath.Join(dir, ".task")), gotask.WithPromptFunc(func(string) error { return nil }))
	if _, err := reader.Read(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	fetched := calls.Load()
	remote.Close() // from here on the other machine is away

	for _, allow := range [][]string{nil, {"other.test"}, {strings.Split(host, ":")[0]}} {
		listing := runner.List(t.Context(), dir, allow...)
		if !strings.Contains(listing.Error, "not allowed (--allow-remote "+host) || len(listing.Tasks) != 0 {
			t.Errorf("allowing %v: %+v", allow, listing)
		}
		order := taskfile.Order{Op: taskfile.OpRun, Dir: dir, Task: "near", AllowRemote: allow}
		if _, _, err := runner.Rehearse(t.Context(), order); err == nil {
			t.Errorf("allowing %v, a task of the root could be run", allow)
		}
	}
	listing := runner.List(t.Context(), dir, host)
	if listing.Error != "" || len(listing.Tasks) != 2 {
		t.Errorf("allowing %s: %+v", host, listing)
	}
	order := taskfile.Order{Op: taskfile.OpRun, Dir: dir, Task: "r:far", AllowRemote: []string{host}}
	if _, name, err := runner.Rehearse(t.Context(), order); err != nil || name != "r:far" {
		t.Errorf("a remote task: %q, %v", name, err)
	}
	if n := calls.Load(); n != fetched {
		t.Errorf("it was fetched again")
	}
}

func TestARemoteTaskfileWithoutEncryptionIsRefusedForThatReason(t *testing.T) {
	dir := root(t, "version: '3'\nincludes: {r: 'http://tasks.test/Taskfile.yml'}\ntasks: {near: {cmd: echo near}}\n")
	for allow, says := range map[string]string{"": "not allowed (--allow-remote tasks.test", "tasks.test": "over http"} {
		if got := runner.List(t.Context(), dir, allow).Error; !strings.Contains(got, says) {
			t.Errorf("allowing %q: %q", allow, got)
		}
	}
}
