package mcpclient_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"handrail/internal/mcpclient"
	"handrail/internal/testenv"
)

func server(t *testing.T) mcpclient.Server {
	t.Helper()
	dir := t.TempDir()
	return mcpclient.Server{
		Path: testenv.Binary(t), Args: []string{"tasks", "--db", filepath.Join(dir, "tasks.db")}, Dir: dir,
		Without: []string{"TASKS_DB_PATH", "HANDRAIL_READ_ONLY", "HANDRAIL_LOG_LEVEL"},
	}
}

func TestBothErasAnswerTheSame(t *testing.T) {
	for _, version := range []string{mcpclient.Modern, mcpclient.Legacy} {
		t.Run(version, func(t *testing.T) {
			s, err := mcpclient.Start(t.Context(), server(t), mcpclient.Client{Name: "test", Version: version})
			if err != nil {
				t.Fatal(err)
			}
			if s.Protocol() != version || s.Name() != "handrail" {
				t.Errorf("connected to %s with %s", s.Name(), s.Protocol())
			}
			tools, err := s.Tools(t.Context())
			if err != nil || len(tools) != 5 {
				t.Errorf("%d tools, %v", len(tools), err)
			}
			done, err := s.Call(t.Context(), "add_task", json.RawMessage(`{"title":"one"}`))
			if err != nil || done.Failed || !strings.Contains(done.Text, `"title":"one"`) || !strings.Contains(string(done.Content), `"ok":true`) {
				t.Errorf("add_task: %+v, %v", done, err)
			}
			refused, err := s.Call(t.Context(), "add_task", json.RawMessage(`{"titel":"one"}`))
			if err != nil || !refused.Failed || !strings.Contains(refused.Text, "titel") {
				t.Errorf("a misspelt key: %+v, %v", refused, err)
			}
			if _, err := s.Call(t.Context(), "no_such_tool", json.RawMessage(`{}`)); err == nil {
				t.Error("an unknown tool is no error of the protocol")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAServerThatCannotStartIsAnError(t *testing.T) {
	missing := server(t)
	missing.Path = filepath.Join(t.TempDir(), "nothing")
	if _, err := mcpclient.Start(t.Context(), missing, mcpclient.Client{Name: "test", Version: mcpclient.Modern}); err == nil {
		t.Error("a program that is not there was started")
	}
	var log bytes.Buffer
	refusing := server(t)
	refusing.Args, refusing.Stderr = []string{"tasks", "--no-such-option"}, &log
	if _, err := mcpclient.Start(t.Context(), refusing, mcpclient.Client{Name: "test", Version: mcpclient.Modern}); err == nil {
		t.Error("a program that ended at once was connected to")
	}
}
