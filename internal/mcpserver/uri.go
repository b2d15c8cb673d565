package mcpserver

import (
	"net/url"
	"strings"
)

// canonicalURI writes a resource's URI in the one way that resources are found
// and notices are compared by: every segment escaped as far as it must be. A
// client may send notes://笔记/今天.md as it is, or escaped.
func canonicalURI(uri string) string {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found {
		return uri
	}
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil || strings.Contains(plain, "/") {
			return uri // not ours to guess
		}
		segments[i] = url.PathEscape(plain)
	}
	return scheme + "://" + strings.Join(segments, "/")
}

// uriSet are the resources that somebody subscribed to: canonical, and as the
// client wrote them, which is how it wants to hear of them.
type uriSet map[string]string

func (s uriSet) add(uri string)            { s[canonicalURI(uri)] = uri }
func (s uriSet) remove(uri string)         { delete(s, canonicalURI(uri)) }
func (s uriSet) has(canonical string) bool { return s[canonical] != "" }

// named is the notices to send for n: one, or one for each resource where n says
// that any may have changed.
func (s uriSet) named(n Notice) []Notice {
	if n.Kind != ResourceUpdated {
		return []Notice{n}
	}
	if n.URI != "" {
		return []Notice{{ResourceUpdated, s[n.URI]}}
	}
	var all []Notice
	for _, uri := range s {
		all = append(all, Notice{ResourceUpdated, uri})
	}
	return all
}
