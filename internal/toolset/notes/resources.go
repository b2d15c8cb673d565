package notes

import (
	"context"
	"net/url"
	"strings"

	"handrail/internal/actor"
	"handrail/internal/fault"
	"handrail/internal/note"
	"handrail/internal/tool"
)

const (
	uriPrefix = "notes://"
	mimeType  = "text/markdown"
	// listedPage is how many notes one page of the resource list holds.
	listedPage = 200
)

// URI is the resource of a note.
func URI(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return uriPrefix + strings.Join(segments, "/")
}

func (n notes) resource() tool.Resource {
	return tool.Resource{
		URI: uriPrefix + "{+path}", Template: true, Name: "note", Title: "A note",
		Description: "A Markdown note, by its path." + data, MIMEType: mimeType,
		Read: n.readResource,
		Complete: map[string]tool.Completer{
			"path": func(ctx context.Context, _ actor.Actor, prefix string) ([]string, error) {
				paths, more, err := n.vault.Complete(ctx, prefix)
				if more {
					paths = append(paths, "") // one more than can be told: the transport says so
				}
				return paths, err
			},
		},
	}
}

func (n notes) readResource(ctx context.Context, _ actor.Actor, uri string) (tool.Content, error) {
	path, err := url.PathUnescape(strings.TrimPrefix(uri, uriPrefix))
	if err != nil {
		return tool.Content{}, fault.New(fault.InvalidInput, "the URI is not well escaped")
	}
	found, err := n.vault.Read(ctx, path)
	if err != nil {
		return tool.Content{}, err
	}
	if found.Truncated {
		return tool.Content{}, fault.New(fault.TooLarge, "the note has %d bytes, above the %d that are returned whole; notes_read returns its beginning", found.TotalBytes, n.limits.MaxReadBytes)
	}
	return tool.Content{Text: found.Content}, nil
}

// listed lists the notes as resources, page by page.
func (n notes) listed(ctx context.Context, _ actor.Actor, cursor string) ([]tool.Listed, string, error) {
	page, err := n.vault.List(ctx, note.ListQuery{Limit: listedPage, Cursor: cursor})
	if err != nil {
		return nil, "", err
	}
	out := make([]tool.Listed, len(page.Notes))
	for i, e := range page.Notes {
		out[i] = tool.Listed{URI: URI(e.Path), Name: e.Path, Title: e.Title, MIMEType: mimeType}
	}
	return out, page.NextCursor, nil
}
