package note

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/windows"

	"handrail/internal/fault"
)

// tryLock takes the mutex of the folder dir, or returns false at once. Windows
// cannot lock a folder, so the lock is a kernel object named after the folder's
// identity; it goes with its owner, so no crash leaves one behind. It joins the
// processes of one login session on one machine, so a share is not asked about.
func tryLock(dir *os.Root, _ func(*os.File) bool) (unlock func(), ok bool, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	var id windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &id); err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d", id.VolumeSerialNumber, id.FileIndexHigh, id.FileIndexLow))
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(`Local\handrail-note-%x`, sum[:16]))
	if err != nil {
		return nil, false, err
	}
	mutex, err := windows.CreateMutex(nil, false, name)
	if err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return nil, false, fault.Wrap(err, fault.Unavailable, "the notes folder cannot be locked; nothing was changed")
	}
	// A mutex belongs to a thread: this goroutine must stay on its own.
	runtime.LockOSThread()
	event, err := windows.WaitForSingleObject(mutex, 0)
	switch event {
	case windows.WAIT_OBJECT_0, windows.WAIT_ABANDONED:
		return func() {
			_ = windows.ReleaseMutex(mutex)
			_ = windows.CloseHandle(mutex)
			runtime.UnlockOSThread()
		}, true, nil
	}
	runtime.UnlockOSThread()
	_ = windows.CloseHandle(mutex)
	if event == uint32(windows.WAIT_TIMEOUT) {
		return nil, false, nil
	}
	return nil, false, err
}
