package toolset

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	jsonx "github.com/go-json-experiment/json"

	"handrail/internal/fault"
)

// PageBytes is the most JSON that the items of one page may take: with the
// envelope around them a text block stays below 25,000 tokens of 4 bytes.
const PageBytes = 96_000

// Fit is how many of the first items stay within PageBytes as JSON; at least
// one, so that a page always gets on.
func Fit[T any](items []T) (int, error) {
	total := 0
	for i := range items {
		b, err := jsonx.Marshal(items[i])
		if err != nil {
			return 0, err
		}
		if total += len(b) + 1; total > PageBytes && i > 0 {
			return i, nil
		}
	}
	return len(items), nil
}

const cursorVersion = "1"

// Cursor makes the text by which a client asks for the page after key. It is
// bound to the list that it came from: scope is whatever chose and ordered the
// items, and marshals to JSON. It holds nothing that the page did not show.
func Cursor(scope any, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorVersion + mark(scope) + key))
}

// ParseCursor returns the key in a cursor that Cursor made for the same scope,
// or InvalidInput.
func ParseCursor(scope any, cursor string) (key string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	text, current := strings.CutPrefix(string(b), cursorVersion)
	// The decoder skips line ends; a cursor is good only as it was given out.
	if err != nil || !current || base64.RawURLEncoding.EncodeToString(b) != cursor {
		return "", fault.New(fault.InvalidInput, "cursor: not one that this server gave out; leave it away to begin at the first page")
	}
	key, same := strings.CutPrefix(text, mark(scope))
	if !same {
		return "", fault.New(fault.InvalidInput, "cursor: it belongs to another list or filter; use it with the arguments that it came from")
	}
	return key, nil
}

// mark stands for a scope: 8 bytes of its hash.
func mark(scope any) string {
	b, err := json.Marshal(scope)
	if err != nil { // scopes are plain structs of ours
		panic(err)
	}
	sum := sha256.Sum256(b)
	return string(sum[:8])
}
