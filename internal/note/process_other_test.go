//go:build !unix

package note_test

import (
	"os"
	"testing"

	"handrail/internal/note"
)

// lockAsAnother takes a folder's lock on a thread of its own, as another process
// would.
func lockAsAnother(t testing.TB, dir string) (unlock func()) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	locked, release, done := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		unlock, ok, err := note.TryLock(root)
		locked <- err
		if ok {
			<-release
			unlock()
		}
	}()
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	return func() { close(release); <-done; root.Close() }
}
