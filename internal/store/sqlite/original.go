package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"handrail/internal/fault"
)

// role is what a column of an original means, whatever it is called there.
type role string

const (
	roleID        role = "id"
	roleTitle     role = "title"
	roleStatus    role = "status"
	roleDone      role = "done"
	roleDue       role = "due"
	roleTags      role = "tags"
	roleCreated   role = "created"
	roleUpdated   role = "updated"
	roleCompleted role = "completed"
	roleUser      role = "user"
	roleTask      role = "task"
	roleTag       role = "tag"

	roleTool     role = "tool"
	roleArgs     role = "args"
	roleOutcome  role = "outcome"
	roleAt       role = "at"
	roleCode     role = "code"
	roleDuration role = "duration"
)

// The names of columns, in lower case and without underscores, that the
// originals have or had. What is not here is not understood, and refused.
var (
	taskRoles = map[string]role{
		"id":    roleID,
		"title": roleTitle, "text": roleTitle, "name": roleTitle,
		"status": roleStatus, "state": roleStatus,
		"done": roleDone, "completed": roleDone, "complete": roleDone, "isdone": roleDone, "iscompleted": roleDone,
		"due": roleDue, "duedate": roleDue, "dueon": roleDue, "dueat": roleDue,
		"tags": roleTags, "tagsjson": roleTags, "labels": roleTags,
		"createdat": roleCreated, "created": roleCreated, "createdon": roleCreated,
		"updatedat": roleUpdated, "updated": roleUpdated, "updatedon": roleUpdated, "modifiedat": roleUpdated,
		"completedat": roleCompleted, "completedon": roleCompleted, "doneat": roleCompleted, "finishedat": roleCompleted,
		"userid": roleUser, "user": roleUser, "owner": roleUser, "ownerid": roleUser,
	}
	tagRoles = map[string]role{"taskid": roleTask, "task": roleTask, "tag": roleTag, "name": roleTag}

	auditRoles = map[string]role{
		"id": roleID, "seq": roleID,
		"tool": roleTool, "toolname": roleTool, "action": roleTool,
		"args": roleArgs, "arguments": roleArgs, "argsjson": roleArgs, "params": roleArgs, "input": roleArgs, "payload": roleArgs,
		"outcome": roleOutcome, "result": roleOutcome, "status": roleOutcome,
		"at": roleAt, "ts": roleAt, "timestamp": roleAt, "time": roleAt, "createdat": roleAt, "created": roleAt, "loggedat": roleAt, "calledat": roleAt,
		"userid": roleUser, "user": roleUser,
		"code": roleCode, "errorcode": roleCode, "error": roleCode,
		"durationms": roleDuration,
	}
)

// columns are the roles of a table's columns, in order.
type columns []role

// layout is what an original's database holds.
type layout struct {
	tasks, tags, audit columns // empty where there is no such table
	sequence           bool    // sqlite_sequence is there
}

const (
	taskColumnsOf  query = `SELECT name FROM pragma_table_info('tasks') ORDER BY cid`
	tagColumnsOf   query = `SELECT name FROM pragma_table_info('task_tags') ORDER BY cid`
	auditColumnsOf query = `SELECT name FROM pragma_table_info('audit_log') ORDER BY cid`
)

// recognise reads the layout of an original's database. It is liberal about the
// names of columns and strict about everything else: an unknown table, view or
// column could hold what a migration would lose.
func recognise(ctx context.Context, c *conn, f file, all []object) (layout, error) {
	var l layout
	known := map[string]bool{"tasks": true, "task_tags": true, "audit_log": true}
	for _, o := range all {
		switch {
		case o.name == "sqlite_sequence":
			l.sequence = true
		case strings.HasPrefix(o.name, "sqlite_"):
		case o.kind == "table" && known[o.name]:
		case (o.kind == "index" || o.kind == "trigger") && known[o.table]:
		default:
			return l, unknownLayout(f, fmt.Sprintf("it has a %s %q", o.kind, o.name))
		}
	}
	var err error
	if l.tasks, err = roles(ctx, c, f, taskColumnsOf, "tasks", taskRoles); err != nil {
		return l, err
	}
	if l.tags, err = roles(ctx, c, f, tagColumnsOf, "task_tags", tagRoles); err != nil {
		return l, err
	}
	if l.audit, err = roles(ctx, c, f, auditColumnsOf, "audit_log", auditRoles); err != nil {
		return l, err
	}
	if !l.tasks.have(roleID, roleTitle) || !(l.tasks.have(roleStatus) || l.tasks.have(roleDone)) {
		return l, unknownLayout(f, "it has no table tasks with an id, a title and a status")
	}
	if len(l.audit) > 0 && !l.audit.have(roleTool, roleOutcome, roleAt) {
		return l, unknownLayout(f, "its table audit_log has no tool, outcome and time")
	}
	if len(l.tags) > 0 && (!l.tags.have(roleTask, roleTag) || l.tasks.have(roleTags)) {
		return l, unknownLayout(f, "its tags cannot be understood")
	}
	return l, nil
}

func unknownLayout(f file, why string) error {
	return fault.New(fault.InvalidStore, "the database %q has a layout that this program does not know (%s); it was left as it is", f.given, why)
}

func (c columns) have(want ...role) bool {
	for _, r := range want {
		if !slices.Contains(c, r) {
			return false
		}
	}
	return true
}

func roles(ctx context.Context, c *conn, f file, q query, table string, known map[string]role) (columns, error) {
	rows, err := c.rows(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list columns
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		r, ok := known[strings.ReplaceAll(strings.ToLower(name), "_", "")]
		if !ok {
			return nil, unknownLayout(f, fmt.Sprintf("its table %s has a column %q", table, name))
		}
		if list.have(r) {
			return nil, unknownLayout(f, fmt.Sprintf("its table %s has two columns for the same, the second is %q", table, name))
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// record is a row of an original, by what its columns mean.
type record map[role]any

// scanRecord reads a row whose first column is its number, followed by the
// columns of the table.
func scanRecord(scan func(...any) error, number *int64, c columns) (record, error) {
	values := make([]any, len(c))
	dest := []any{number}
	for i := range values {
		dest = append(dest, &values[i])
	}
	if err := scan(dest...); err != nil {
		return nil, err
	}
	r := record{}
	for i, role := range c {
		r[role] = values[i]
	}
	return r, nil
}
