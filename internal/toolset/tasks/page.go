package tasks

import (
	"strconv"

	"handrail/internal/fault"
	"handrail/internal/task"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

var (
	limitRule  = tool.Rule{Doc: "Most tasks in one answer.", Min: 1, HasMin: true, Max: task.MaxLimit, Default: task.DefaultLimit}
	cursorRule = tool.Rule{Doc: "nextCursor of the answer before.", MinLength: 1, MaxLength: 200}
)

// taskPage is the data of list_tasks and search_tasks.
type taskPage struct {
	Tasks      []task.Task `json:"tasks"`
	NextCursor string      `json:"nextCursor,omitzero"`
}

// cut reads the page that limit and cursor ask for and cuts it by bytes too.
// scope is what chose the tasks; a cursor is good for the same scope only.
func cut(scope []string, limit *int, cursor *string, read func(task.Page) ([]task.Task, bool, error)) (taskPage, error) {
	page := task.Page{Limit: task.DefaultLimit}
	if limit != nil {
		page.Limit = *limit
	}
	if cursor != nil {
		key, err := toolset.ParseCursor(scope, *cursor)
		if err != nil {
			return taskPage{}, err
		}
		if page.After, err = strconv.ParseInt(key, 10, 64); err != nil || page.After < 1 || page.After > task.MaxID {
			return taskPage{}, fault.New(fault.InvalidInput, "cursor: not one that this server gave out")
		}
	}
	list, more, err := read(page)
	if err != nil {
		return taskPage{}, err
	}
	n := len(list)
	if !surelyFits(list) {
		if n, err = toolset.Fit(list); err != nil {
			return taskPage{}, err
		}
	}
	out := taskPage{Tasks: append([]task.Task{}, list[:n]...)}
	if n > 0 && (more || n < len(list)) {
		out.NextCursor = toolset.Cursor(scope, strconv.FormatInt(list[n-1].ID, 10))
	}
	return out, nil
}

// surelyFits reports, without writing any JSON, that the tasks stay within a
// page even if every byte of theirs had to be escaped.
func surelyFits(list []task.Task) bool {
	const fields, escaped = 200, 6
	total := 0
	for i := range list {
		total += fields + escaped*len(list[i].Title)
		for _, tag := range list[i].Tags {
			total += escaped*len(tag) + 3
		}
	}
	return total <= toolset.PageBytes
}
