package note

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"handrail/internal/fault"
)

// MaxListed is the default and the upper bound of a listing's limit.
const MaxListed = 500

// List returns one page of the notes beneath a folder, ordered by the bytes of
// their paths. Links are not listed: what they may lead to is, under its own
// name. A note that may not be read is listed with its file name as its title.
// A page ends after Limit notes or 80,000 bytes. Faults: invalid_input (folder,
// limit, cursor), not_found (no such folder), unavailable.
func (v *Vault) List(ctx context.Context, q ListQuery) (Listing, error) {
	if q.Limit == 0 {
		q.Limit = MaxListed
	}
	if q.Limit < 1 || q.Limit > MaxListed {
		return Listing{}, fault.New(fault.InvalidInput, "limit: must be from 1 to %d", MaxListed)
	}
	names, err := ParseFolderPath("folder", q.Folder)
	if err != nil {
		return Listing{}, err
	}
	after, err := openCursor(prefixOf(q.Folder), q.Cursor)
	if err != nil {
		return Listing{}, err
	}
	page := Listing{Notes: []Entry{}}
	buf := &buffer{most: titleBytes}
	size := 0
	emit := func(b batch) bool {
		defer b.dir.release()
		for _, name := range b.names {
			e, err := b.dir.entry(name, buf)
			if err != nil {
				continue // gone, or no regular file any more
			}
			size += jsonSize(e.Path) + jsonSize(e.Title) + 90
			if len(page.Notes) == q.Limit || len(page.Notes) > 0 && size > pageBytes {
				page.Truncated = true
				page.NextCursor = sealCursor(prefixOf(q.Folder), page.Notes[len(page.Notes)-1].Path)
				return false
			}
			page.Notes = append(page.Notes, e)
		}
		return true
	}
	err = v.inFolder(ctx, q.Folder, names, func(top *os.Root) error {
		s := scan{ctx: ctx, after: after, emit: emit, skip: func(string, error) {}}
		return s.run(top, prefixOf(q.Folder))
	})
	if err != nil {
		return Listing{}, err
	}
	return page, nil
}

// inFolder opens the folder that names lead to for do.
func (v *Vault) inFolder(ctx context.Context, path string, names []string, do func(top *os.Root) error) error {
	return retry(ctx, path, func() error {
		p, err := v.walkFolder("folder", names)
		if err != nil {
			return err
		}
		defer p.close()
		return do(p.dir)
	})
}

func prefixOf(folder string) string {
	if folder == "" {
		return ""
	}
	return folder + "/"
}

// entry describes the note name of d.
func (d *folder) entry(name string, buf *buffer) (Entry, error) {
	head, seen, err := d.readHead(name, buf)
	if err != nil {
		if !errors.Is(err, fs.ErrPermission) {
			return Entry{}, err
		}
		if seen, err = d.stat(name); err != nil {
			return Entry{}, err
		}
		if !seen.regular {
			return Entry{}, errNotRegular
		}
		head = nil
	}
	return Entry{
		Path: d.prefix + name, Title: titleOf(name, head), Bytes: seen.size, ModifiedAt: stampText(seen.modified()),
	}, nil
}

// jsonSize is how many bytes s takes in JSON at most.
func jsonSize(s string) int {
	n := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			n++
		case c < ' ', c == '<', c == '>', c == '&', c == 0x7F:
			n += 5 // as \u001f
		}
	}
	return n
}
