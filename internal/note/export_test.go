package note

import "time"

// SetLockWait makes the vault give up on a locked folder after d.
func (v *Vault) SetLockWait(d time.Duration) { v.lockWait = d }
