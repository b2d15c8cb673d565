// Command handrail-runner runs the tasks of a Taskfile for handrail, which starts
// it: one process a run. It is the only program of the two that can start a
// command. See internal/runner.
package main

import (
	"os"

	"handrail/internal/runner"
)

func main() { os.Exit(runner.Main()) }
