package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"handrail/internal/mcpclient"
)

func (d *stage) greet() {
	d.say("%s", d.paint.strong("Handrail, step by step"))
	d.say("This is the real server in a process of its own, on a new database in a temporary")
	d.say("folder. An MCP client plays the part of the agent: → is what it sends, ← what it")
	d.say("gets (time stamps left out). Nothing of yours is touched.")
}

// shownTask is what the demo reads of a task.
type shownTask struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

type shownPage struct {
	Tasks []shownTask `json:"tasks"`
}

// is reports an error unless the page has exactly these tasks, in order.
func (p shownPage) is(ids ...int64) error {
	if len(p.Tasks) != len(ids) {
		return fmt.Errorf("got %d tasks, not %d", len(p.Tasks), len(ids))
	}
	for i, id := range ids {
		if p.Tasks[i].ID != id {
			return fmt.Errorf("got task %d in place of %d", p.Tasks[i].ID, id)
		}
	}
	return nil
}

func (d *stage) offers(ctx context.Context) error {
	d.title("A host starts the server and asks what it can do",
		"Five narrow tools, and no others. The host is told which only read and which destroy.")
	d.say("\n   %s handrail tasks --db tasks.db", d.paint.faint("$"))
	if err := d.start(ctx, mcpclient.Modern); err != nil {
		return err
	}
	d.say("   connected over stdio, protocol %s (no handshake)\n", d.session.Protocol())
	tools, err := d.session.Tools(ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, t := range tools {
		hint := "writes"
		switch {
		case t.Destructive:
			hint = "destroys"
		case t.ReadOnly:
			hint = "only reads"
		}
		rows = append(rows, []string{visible(t.Name), hint, clip(visible(t.Description), 60)})
	}
	if len(tools) != 5 {
		return fmt.Errorf("the server offers %d tools, not five", len(tools))
	}
	return table(d.env.Out, "   ", rows)
}

func (d *stage) adds(ctx context.Context) error {
	d.title("The agent adds three tasks", "Each comes back with its id, which is never used twice.")
	for i, args := range []string{
		`{"title":"Book the dentist","due":"2027-03-01","tags":["health"]}`,
		`{"title":"Pay 120 to the gardener","due":"2027-03-05"}`,
		`{"title":"Buy the old piano","tags":["home"]}`,
	} {
		var added shownTask
		if err := d.succeeds(ctx, "add_task", args, &added); err != nil {
			return err
		}
		if added.ID != int64(i+1) {
			return fmt.Errorf("the task has id %d, not %d", added.ID, i+1)
		}
	}
	return nil
}

func (d *stage) finds(ctx context.Context) error {
	d.title("It lists and searches", "Due bounds are inclusive; a search takes every character literally.")
	var page shownPage
	if err := d.succeeds(ctx, "list_tasks", `{"filter":{"dueBefore":"2027-03-01"}}`, &page); err != nil {
		return err
	}
	if err := page.is(1); err != nil {
		return err
	}
	page = shownPage{}
	if err := d.succeeds(ctx, "search_tasks", `{"query":"PIANO"}`, &page); err != nil {
		return err
	}
	return page.is(3)
}

func (d *stage) refusesTypo(ctx context.Context) error {
	d.title("It misspells an argument, and is told so",
		"A server that ignored the unknown key would list everything, and the agent would\nbelieve that everything is overdue.")
	return d.refused(ctx, "list_tasks", `{"filter":{"dueBefor":"2027-03-01"}}`, "invalid_input", "dueBefor")
}

func (d *stage) refusesDelete(ctx context.Context) error {
	d.title("It tries to delete without consent, and may not",
		"Deleting needs confirm: true, which the tool tells the agent to ask the person for.")
	if err := d.refused(ctx, "delete_task", `{"id":3}`, "invalid_input", "confirm"); err != nil {
		return err
	}
	var page shownPage
	if err := d.succeeds(ctx, "search_tasks", `{"query":"piano"}`, &page); err != nil {
		return err
	}
	return page.is(3)
}

func (d *stage) deletes(ctx context.Context) error {
	d.title("The person agrees, and the task is deleted", "The change and its entry on the record are one transaction: both happen, or neither.")
	var gone struct {
		ID      int64 `json:"id"`
		Deleted bool  `json:"deleted"`
	}
	if err := d.succeeds(ctx, "delete_task", `{"id":3,"confirm":true}`, &gone); err != nil {
		return err
	}
	if gone.ID != 3 || !gone.Deleted {
		return fmt.Errorf("the answer does not say that task 3 is deleted")
	}
	if err := d.refused(ctx, "complete_task", `{"id":3}`, "not_found", "3"); err != nil {
		return err
	}
	return d.end()
}

func (d *stage) speaksLegacy(ctx context.Context) error {
	if _, err := d.copyDB("yesterday.db"); err != nil { // for the last step
		return err
	}
	d.title("An older host connects to the same database", "It begins with the handshake of the protocol's older era; everything else is the same.")
	if err := d.start(ctx, mcpclient.Legacy); err != nil {
		return err
	}
	d.say("\n   connected over stdio, protocol %s (initialize)", d.session.Protocol())
	var completed shownTask
	if err := d.succeeds(ctx, "complete_task", `{"id":1}`, &completed); err != nil {
		return err
	}
	if completed.Status != "done" {
		return fmt.Errorf("the task is %s, not done", completed.Status)
	}
	return d.end()
}

// recorded is how many calls the steps above make.
const recorded = 11

func (d *stage) records(ctx context.Context) error {
	d.title("Every call is on the record", "Refused ones too, with the arguments as they came.")
	text, err := d.command(ctx, ExitOK, "audit", "list", "--db", d.db)
	if err != nil {
		return err
	}
	if n := strings.Count(text, "\n"); n != recorded {
		return fmt.Errorf("the record has %d entries, not %d", n, recorded)
	}
	return nil
}

func (d *stage) verifies(ctx context.Context) error {
	d.title("The record verifies", "Each entry carries the hash of its content and of the entry before it.")
	_, err := d.command(ctx, ExitOK, "audit", "verify", "--db", d.db)
	return err
}

func (d *stage) findsForgery(ctx context.Context) error {
	d.title("A forgery is found",
		"In a copy of the database, somebody changes one amount in the file itself, where no\nSQL trigger sees it: the agent was asked to pay 120, and now the record says 920.")
	forged, err := d.copyDB("forged.db")
	if err != nil {
		return err
	}
	if err := forge(forged, `{"title":"Pay 120 to`, `{"title":"Pay 920 to`); err != nil {
		return err
	}
	text, err := d.command(ctx, ExitBroken, "audit", "verify", "--db", forged)
	if err == nil && !strings.Contains(text, "entry 2 was altered") {
		err = fmt.Errorf("verification does not name entry 2")
	}
	return err
}

func (d *stage) findsCut(ctx context.Context) error {
	d.title("So is a cut tail, with a checkpoint",
		"A chain alone cannot show that its newest entries were taken away. A checkpoint is a\nsigned statement of how long the record was; keep it where the server cannot write.")
	key := filepath.Join(d.dir, "audit.key")
	signed := filepath.Join(d.dir, "checkpoint.txt")
	old := filepath.Join(d.dir, "yesterday.db")
	if _, err := d.command(ctx, ExitOK, "audit", "keygen", key); err != nil {
		return err
	}
	if _, err := d.command(ctx, ExitOK, "audit", "checkpoint", "--db", d.db, "--key", key, "--out", signed); err != nil {
		return err
	}
	text, err := readSmall(signed)
	if err != nil {
		return err
	}
	d.say("\n   checkpoint.txt is a text: whose chain, how long, and the hash of its last entry.")
	d.indented(strings.TrimSpace(text))
	d.say("\n   Somebody puts back the file of before step 7. By itself it is flawless:")
	text, err = d.command(ctx, ExitOK, "audit", "verify", "--db", old)
	if err != nil {
		return err
	}
	if !strings.Contains(text, "whole") {
		return fmt.Errorf("the older copy does not verify by itself")
	}
	d.say("\n   The checkpoint tells:")
	if _, err = d.command(ctx, ExitBroken, "audit", "verify", "--db", old, "--checkpoint", signed, "--key", key+".pub"); err != nil {
		return err
	}
	d.say("\n   And the true file still agrees with it:")
	_, err = d.command(ctx, ExitOK, "audit", "verify", "--db", d.db, "--checkpoint", signed, "--key", key+".pub")
	return err
}

// nextTasks and nextCourse say where to go from here.
const (
	nextTasks = `
Next: give it to your agent. Most MCP hosts take an entry like this:

  {
    "mcpServers": {
      "tasks": {
        "command": "handrail",
        "args": ["tasks"],
        "env": { "TASKS_DB_PATH": "/absolute/path/to/tasks.db" }
      }
    }
  }

docs/tasks.md has the entry for each host, docs/security.md what the record proves.
Try a call yourself: handrail call add_task '{"title":"Water the plants"}'
See the whole protocol: handrail demo --all
`
	nextCourse = `
Next: docs/learning-path.md builds such a server in six lessons, each a small program
in examples/. handrail basic is the server that you saw.
`
)
