package note

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"handrail/internal/fault"
)

// cursorSum is how many bytes of a cursor guard the rest of it.
const cursorSum = 6

// sealCursor makes the opaque cursor that stands behind the path last in a
// listing of folder. It is no secret; the checksum only tells a cursor of this
// listing from a made-up one or another folder's.
func sealCursor(folder, last string) string {
	sum := sha256.Sum256([]byte("notes\x00" + folder + "\x00" + last))
	return base64.RawURLEncoding.EncodeToString(append(sum[:cursorSum:cursorSum], last...))
}

// openCursor returns the path that a cursor stands behind, or invalid_input.
func openCursor(folder, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(raw) > cursorSum {
		last := string(raw[cursorSum:])
		if sealCursor(folder, last) == cursor && strings.HasPrefix(last, folder) {
			return last, nil
		}
	}
	return "", fault.New(fault.InvalidInput, "cursor: is not one that a listing of this folder returned; leave it out to begin anew")
}
