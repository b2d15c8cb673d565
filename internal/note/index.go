package note

import (
	"context"
	"sync"
)

// index remembers between searches which notes cannot contain what.
type index struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.RWMutex
}

func (x *index) start() { x.ctx, x.cancel = context.WithCancel(context.Background()) }

func (x *index) stop() { x.cancel(); x.wg.Wait() }

// background runs do until it ends or the vault is closed.
func (x *index) background(do func(ctx context.Context)) {
	x.wg.Go(func() { do(x.ctx) })
}

func (x *index) missed(v *Vault, read int)                           {}
func (x *index) excludes(d *folder, name string, bits []uint32) bool { return false }
func sieveBits(s string) []uint32                                    { return nil }
