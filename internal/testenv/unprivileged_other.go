//go:build !unix

package testenv

import "testing"

// Unprivileged returns false: only Unix has a user whom file permissions do not
// bind.
func Unprivileged(*testing.T) bool { return false }
