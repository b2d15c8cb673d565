package note

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	"handrail/internal/fault"
)

// edit is one change to one file, done under the folder's lock.
type edit struct {
	arg, path string
	names     []string
	rule      func(string) string
	// maxOld is the largest existing file that may be changed at all.
	maxOld int64
	tooBig func(size int64) error
	// content returns the new content for the old one; exists tells an empty
	// file from none. A nil result without an error changes nothing. It may be
	// called more than once.
	content func(old []byte, exists bool) ([]byte, error)
}

// change applies e and reports whether the file is new. Every process that
// changes a file this way is served in turn, so no acknowledged change is lost.
func (v *Vault) change(ctx context.Context, e edit) (created bool, err error) {
	done, err := v.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	v.sweepOnce()
	err = retry(ctx, e.path, func() error {
		created, err = v.attempt(ctx, &e)
		return err
	})
	return created, err
}

// attempt is one walk to the file and one change of it. A folder that goes away
// under it (another writer takes back those it made) is walked to again.
func (v *Vault) attempt(ctx context.Context, e *edit) (created bool, err error) {
	p, err := v.walkFile(e.arg, e.names, e.rule)
	if isNotExist(err) {
		return false, errSwapped // it was there a moment ago: what is not there is in p.missing
	}
	if err != nil {
		return false, err
	}
	lock := func(dir *os.Root) (func(), error) { return v.lock(ctx, dir) }
	var made madeFolders
	defer func() {
		p.close()
		made.finish(err != nil)
		if isNotExist(err) {
			err = errSwapped
		}
	}()
	for len(p.missing) > 0 {
		if err := made.makeFolder(&p, lock); err != nil {
			return false, err
		}
	}
	unlock, err := lock(p.dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	return e.apply(ctx, &p)
}

// apply changes the file of p; its folder's lock is held.
func (e *edit) apply(ctx context.Context, p *place) (created bool, err error) {
	p.info, err = p.dir.Lstat(p.name)
	switch {
	case isNotExist(err):
		names, err := folderNames(p.dir)
		if err != nil {
			return false, err
		}
		sweepFolder(p.dir, names)
		if err := refuseTwin(names, p.name); err != nil {
			return false, err
		}
		data, err := e.content(nil, false)
		if err != nil || data == nil {
			return false, err
		}
		return true, replace(p.dir, p.name, nil, nil, data)
	case err != nil:
		return false, err
	case !p.info.Mode().IsRegular():
		return false, errSwapped // a link or worse came in since the walk
	}
	if err := refuseInexact(p.dir, p.name, p.info); err != nil {
		return false, err
	}
	if p.info.Size() > e.maxOld {
		return false, e.tooBig(p.info.Size())
	}
	f, info, err := p.open()
	if err != nil {
		return false, err
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, e.maxOld+1))
	if err != nil {
		return false, err
	}
	if int64(len(old)) != info.Size() {
		return false, errSwapped // somebody is writing it without a lock
	}
	data, err := e.content(old, true)
	if err != nil || data == nil {
		return false, err
	}
	if err := mayWrite(p.dir, p.name, info); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return false, replace(p.dir, p.name, f, info, data)
}

// mayWrite refuses a file that this user may not write: a rename would replace
// it all the same, and its owner meant otherwise.
func mayWrite(dir *os.Root, name string, info fs.FileInfo) error {
	f, _, err := openChecked(dir, name, info, os.O_WRONLY)
	if err != nil {
		return err
	}
	return f.Close()
}

// sweepOnce clears away what crashed writers left, once in a vault's life and
// in the background.
func (v *Vault) sweepOnce() {
	v.swept.Do(func() {
		v.index.background(func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, _ = v.Sweep(ctx)
		})
	})
}

// tooLarge is the fault for a note that would be, or is, over a limit.
func tooLarge(what string, size int64, limit int, option string) error {
	return fault.New(fault.TooLarge, "%s %d bytes, more than the %d that %s allows; nothing was changed",
		what, size, limit, option)
}
