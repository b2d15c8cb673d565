package note

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"handrail/internal/fault"
)

// lock takes the folder's lock against other processes and waits for it at most
// lockWait; then it says unavailable.
func (v *Vault) lock(ctx context.Context, dir *os.Root) (unlock func(), err error) {
	late := time.NewTimer(v.lockWait)
	defer late.Stop()
	for pause := 200 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		unlock, ok, err := tryLock(dir, isShared)
		if err != nil {
			return nil, err
		}
		if ok {
			return unlock, nil
		}
		// Waiters ask at different moments, so that none is always late.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, fault.New(fault.Unavailable,
				"another process has been writing in this folder for %s; nothing was changed, try again", v.lockWait)
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// turn waits until this process has no other write under way, at most lockWait;
// then it says unavailable.
func (v *Vault) turn(ctx context.Context) (done func(), err error) {
	late := time.NewTimer(v.lockWait)
	defer late.Stop()
	select {
	case v.writing <- struct{}{}:
		return func() { <-v.writing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, fault.New(fault.Unavailable,
			"other writes have been waiting for %s; nothing was changed, try again", v.lockWait)
	}
}
