package note

import (
	"context"
	"os"
	"strings"

	"handrail/internal/fault"
)

// MaxCompleted is the most paths that Complete returns, which is also the most
// that a client may be sent.
const MaxCompleted = 100

// Complete returns the paths of the first MaxCompleted notes, by path, that
// begin with prefix in the case it has, and whether there are more. A prefix
// that no path can have completes to nothing. Faults: unavailable.
func (v *Vault) Complete(ctx context.Context, prefix string) (paths []string, more bool, err error) {
	folder, last := "", prefix
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		folder, last = prefix[:i], prefix[i+1:]
	}
	paths = []string{}
	names, err := ParseFolderPath("path", folder)
	if err != nil || folder == "" && last != prefix {
		return paths, false, nil
	}
	err = v.inFolder(ctx, folder, names, func(top *os.Root) error {
		paths, more = []string{}, false
		// Nothing before the prefix itself can begin with it.
		s := scan{ctx: ctx, after: before(prefix), skip: func(string, error) {}, emit: func(b batch) bool {
			defer b.dir.release()
			for _, name := range b.names {
				path := b.dir.prefix + name
				switch {
				case !strings.HasPrefix(path, prefix):
					if path > prefix {
						return false
					}
				case len(paths) == MaxCompleted:
					more = true
					return false
				default:
					paths = append(paths, path)
				}
			}
			return true
		}}
		return s.run(top, prefixOf(folder))
	})
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.InvalidInput:
		err = nil
	}
	return paths, more, err
}

// before is a text that sorts before everything that begins with prefix, and
// behind nearly everything else.
func before(prefix string) string {
	if prefix == "" {
		return ""
	}
	last := prefix[len(prefix)-1]
	if last == 0 {
		return prefix[:len(prefix)-1]
	}
	return prefix[:len(prefix)-1] + string([]byte{last - 1, 0xFF})
}
