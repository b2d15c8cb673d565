package taskfile_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/taskfile"
	"handrail/internal/testenv"
	"handrail/internal/tool"
	taskfileset "handrail/internal/toolset/taskfile"
)

// curious is a client that is asked and keeps the question.
type curious struct{ asked string }

func (c *curious) Ask(_ context.Context, _ tool.Tool, _ []byte, q *tool.Question) (tool.Answer, string, error) {
	c.asked = q.Message
	return tool.Pending, "", nil
}

func TestAPersonWhoIsAskedBeforeARunSeesItsValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const file = `version: '3'
vars:
  REGION: north
tasks:
  deploy:
    requires: {vars: [STAGE, NOTE]}
    prompt: Deploy to {{.STAGE}} in {{.REGION}}?
    env: {NOTE: '{{.NOTE}}'}
    cmd: echo {{.STAGE}} {{.REGION}} "$NOTE"
`
	if err := os.WriteFile(filepath.Join(dir, "Taskfile.yml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := taskfile.OpenRoots(t.Context(), []string{dir}, taskfile.Options{Runner: testenv.Runner(t), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	_, tools := taskfileset.Set(p, false).Live()
	if len(tools) != 1 {
		t.Fatalf("the plan has %d tools: %+v", len(tools), p.Plan().Roots)
	}
	door := tool.NewDoor(tool.Options{Log: audit.Nowhere{}, Policy: tool.Auto, Now: time.Now})
	ask := func(args string) string {
		t.Helper()
		person := &curious{}
		o := door.Call(t.Context(), tool.Call{Who: actor.LocalUser(), Asker: person}, tools[0], []byte(args))
		if o.Question == nil {
			t.Fatalf("nobody is asked: %+v", o.Fault)
		}
		return person.asked
	}
	asked := ask(`{"STAGE":"production","NOTE":"quick\nSTAGE = \"staging\""}`)
	for _, line := range []string{`Deploy to {{.STAGE}} in {{.REGION}}?`, `STAGE = "production"`, `REGION = "north"`, `NOTE = "quick\nSTAGE = \"staging\""`} {
		if !strings.Contains("\n"+asked+"\n", "\n"+line+"\n") {
			t.Errorf("the question has no line %s:\n%s", line, asked)
		}
	}
	if strings.Contains(asked, "\nSTAGE = \"staging\"") {
		t.Errorf("a value stands as a line of the question:\n%s", asked)
	}
	if long := ask(`{"STAGE":"production","NOTE":"` + strings.Repeat("长", 1000) + `"}`); len([]rune(long)) > 500 {
		t.Errorf("the question is as long as the caller likes: %d characters", len([]rune(long)))
	}
}
