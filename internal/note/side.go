package note

import (
	"context"
	"io"
	"strings"

	"handrail/internal/fault"
)

// MaxSideBytes is the largest data file that a [SideFile] reads or writes.
const MaxSideBytes = 16 << 20

// SideFile is one data file (tasks.json) beside the notes in the root: under the
// same sandbox, locks and atomic writes, and never visible as a note.
type SideFile struct {
	v    *Vault
	name string
	rule func(string) string
}

// SideFile returns the data file name, which need not exist. name is a constant
// of the program and ends in .json; a name that the path rules refuse panics.
func (v *Vault) SideFile(name string) *SideFile {
	rule := func(name string) string {
		if !strings.HasSuffix(strings.ToLower(name), ".json") {
			return "a data file's name ends in .json"
		}
		return ""
	}
	if nameRule(name) != "" || strings.Contains(name, "/") || rule(name) != "" {
		panic("note: not a data file: " + name)
	}
	return &SideFile{v: v, name: name, rule: rule}
}

// Load returns the file's bytes; ok is false where there is no file. Faults:
// invalid_store (it is a link that leads out, or no regular file), too_large
// (over 16 MiB), unavailable.
func (f *SideFile) Load(ctx context.Context) (data []byte, ok bool, err error) {
	defer func() { err = f.ours(err) }()
	err = retry(ctx, f.name, func() error {
		p, err := f.v.walkFile(f.name, []string{f.name}, f.rule)
		if err != nil {
			return err
		}
		defer p.close()
		data, ok = nil, p.info != nil
		if !ok {
			return nil
		}
		if p.info.Size() > MaxSideBytes {
			return f.tooBig(p.info.Size())
		}
		file, info, err := p.open()
		if err != nil {
			return err
		}
		defer file.Close()
		if data, err = io.ReadAll(io.LimitReader(file, MaxSideBytes+1)); err != nil {
			return err
		}
		if now, err := file.Stat(); err != nil || !sameVersion(info, now) || int64(len(data)) != now.Size() {
			return errSwapped
		}
		return nil
	})
	return data, ok, err
}

// Update replaces the file's bytes by what edit makes of them, atomically and
// alone among all processes that write through a vault. edit may be called more
// than once; a nil result without an error changes nothing. Faults: those of
// edit, of Load, and unavailable.
func (f *SideFile) Update(ctx context.Context, transform func(old []byte, exists bool) ([]byte, error)) error {
	var refused error
	_, err := f.v.change(ctx, edit{
		arg: f.name, path: f.name, names: []string{f.name}, rule: f.rule,
		maxOld: MaxSideBytes, tooBig: f.tooBig,
		content: func(old []byte, exists bool) ([]byte, error) {
			data, err := transform(old, exists)
			refused = err
			if err == nil && len(data) > MaxSideBytes {
				return nil, f.tooBig(int64(len(data)))
			}
			return data, err
		},
	})
	if refused != nil {
		return err
	}
	return f.ours(err)
}

// ours is an error about where the file leads: no caller named it, so no
// caller's input is wrong.
func (f *SideFile) ours(err error) error {
	if fault.CodeOf(err) != fault.InvalidInput {
		return err
	}
	return fault.Wrap(err, fault.InvalidStore, "%s; it is left as it is", fault.Of(err).Message)
}

func (f *SideFile) tooBig(size int64) error {
	return fault.New(fault.TooLarge, "%s has %d bytes, more than the %d that are read; nothing was changed", f.name, size, MaxSideBytes)
}
