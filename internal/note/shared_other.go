//go:build !linux && !darwin

package note

import "os"

// isShared takes every file system for this machine's own: there is no common
// way to ask.
func isShared(*os.File) bool { return false }
