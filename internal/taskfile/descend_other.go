//go:build unix && !linux

package taskfile

import "syscall"

// Descendants is nothing where there is no /proc: there the group is all that can
// be ended.
func Descendants(int) []int { return nil }

func killBelow(int) {}

// strays is the group of the run, if any of it is alive.
func strays(runner int, _ string) []int {
	if syscall.Kill(-runner, 0) == nil {
		return []int{-runner}
	}
	return nil
}

// groupsEnd says that a runner that answered may have left its group alive.
const groupsEnd = false
