//go:build unix

package sqlite

import "syscall"

// mayWrite asks the system without opening anything.
func mayWrite(path string) bool {
	const writeBit = 2 // W_OK
	return syscall.Access(path, writeBit) == nil
}
