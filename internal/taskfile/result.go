package taskfile

import (
	"fmt"
	"strings"
	"time"

	"handrail/internal/fault"
)

// Request is one call of a task.
type Request struct {
	// Root is a name or URI of the plan; empty where only one root has the task.
	Root string
	// Task is the declared name or an alias.
	Task string
	// Vars are the caller's values as JSON has them: string, bool, json.Number or
	// float64; nil counts as absent.
	Vars map[string]any
	// Match fills the asterisks of a wildcard's name.
	Match []string
	// Yes says that a person has answered the task's prompts.
	Yes bool
	// Line, where set, gets each line that the task prints, cleaned and at most
	// 2 KiB of it. It is called from one goroutine, never holds the task up, and
	// may miss lines of a task that prints faster than it returns.
	Line func(stream, text string)
	// Progress, where set, gets the latest line now and then.
	Progress func(text string)
}

// Result is how a run ended.
type Result struct {
	// Task is the name as it was called: "start:web" for "start:*".
	Task string
	// Root is the root's name in the plan.
	Root string
	// RunID names the run and its logs; empty where nothing was started.
	RunID string
	// ExitCode is the task's, or nil where it has none.
	ExitCode *int
	Duration time.Duration
	// TimedOut and Cancelled say who ended the run, if the task did not.
	TimedOut, Cancelled bool
	// Skipped says why a successful run did nothing; empty where it did.
	Skipped string
	// Truncated says that Stdout or Stderr leave something out.
	Truncated bool
	// Stdout and Stderr are valid UTF-8 without escape sequences, together at most
	// the output budget.
	Stdout, Stderr string
	// StdoutBytes and StderrBytes are what the task printed.
	StdoutBytes, StderrBytes int64
	// StdoutLog and StderrLog say whether Log has the stream.
	StdoutLog, StderrLog bool
	// Left is how many processes outlived the task and were ended.
	Left int
	// Err is why the run failed, in one line; empty where it did not.
	Err string
}

// Status is the line that begins what a client is told.
func (r Result) Status() string {
	switch {
	case r.ExitCode != nil && r.Err == "" && r.Skipped != "":
		return fmt.Sprintf("Task `%s` exited with status %d (skipped: %s)", shownName(r.Task), *r.ExitCode, r.Skipped)
	case r.ExitCode != nil && r.Err == "":
		return fmt.Sprintf("Task `%s` exited with status %d", shownName(r.Task), *r.ExitCode)
	case r.ExitCode != nil:
		return fmt.Sprintf("Task `%s` exited with status %d: %s", shownName(r.Task), *r.ExitCode, oneLine(CleanText(r.Err)))
	}
	return failed(r.Task, r.Err)
}

// RefusedStatus is the same line for a call that was refused.
func RefusedStatus(task string, err error) string {
	return failed(task, fault.Of(err).Message)
}

func failed(task, why string) string {
	return fmt.Sprintf("Task `%s` failed: %s", shownName(task), oneLine(CleanText(why)))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
