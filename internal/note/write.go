package note

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"handrail/internal/fault"
)

// Write creates a note, or replaces one where the draft allows it. Missing
// folders are made. Faults: invalid_input (path, content that is no text,
// a hash that is none), too_large (content over MaxNoteBytes; an existing note
// over MaxReadBytes, which nobody can have seen whole), conflict (it exists and
// Overwrite is not set; it changed or is gone since IfSHA256 was read; a name
// that a person could not tell from an existing one), invalid_store (the
// existing note is not text, so it was never shown as it is), unavailable.
func (v *Vault) Write(ctx context.Context, d Draft) (Written, error) {
	names, err := ParseNotePath("path", d.Path)
	if err != nil {
		return Written{}, err
	}
	if err := checkText("content", d.Content); err != nil {
		return Written{}, err
	}
	if len(d.Content) > v.limits.MaxNoteBytes {
		return Written{}, tooLarge("the note would have", int64(len(d.Content)), v.limits.MaxNoteBytes, "--max-note-bytes")
	}
	if b, err := hex.DecodeString(d.IfSHA256); d.IfSHA256 != "" && (err != nil || len(b) != sha256.Size) {
		return Written{}, fault.New(fault.InvalidInput, "ifSha256: must be the 64 hexadecimal digits that notes_read gave")
	}
	data := []byte(d.Content)
	created, err := v.change(ctx, edit{
		arg: "path", path: d.Path, names: names, rule: noteRule,
		maxOld: int64(v.limits.MaxReadBytes),
		tooBig: func(size int64) error {
			if !d.Overwrite {
				return existsFault(d.Path)
			}
			return fault.New(fault.TooLarge,
				"%q has %d bytes, more than the %d of --max-read-bytes: nobody can have seen all of it, so it is not replaced",
				d.Path, size, v.limits.MaxReadBytes)
		},
		content: func(old []byte, exists bool) ([]byte, error) {
			return data, d.check(old, exists)
		},
	})
	if err != nil {
		return Written{}, err
	}
	return written(d.Path, data, created), nil
}

// check says whether the draft may take the place of old.
func (d Draft) check(old []byte, exists bool) error {
	switch {
	case !exists && d.IfSHA256 != "":
		return fault.New(fault.Conflict, "%q is gone since it was read; leave ifSha256 out to create it anew", d.Path)
	case !exists:
		return nil
	case !d.Overwrite:
		return existsFault(d.Path)
	case d.IfSHA256 != "" && !strings.EqualFold(d.IfSHA256, hashText(old)):
		return fault.New(fault.Conflict, "%q changed since it was read; read it again and decide anew", d.Path)
	case !utf8.Valid(old):
		return fault.New(fault.InvalidStore,
			"%q is not UTF-8 text, so what was read is not all that it holds; it is left as it is", d.Path)
	}
	return nil
}

func existsFault(path string) error {
	return fault.New(fault.Conflict, "%q exists already; set overwrite to replace it, or append to it", path)
}

func written(path string, data []byte, created bool) Written {
	return Written{Path: path, Bytes: int64(len(data)), SHA256: hashText(data), Created: created}
}

func hashText(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkText refuses what JSON could not carry back.
func checkText(arg, text string) error {
	switch {
	case !utf8.ValidString(text):
		return fault.New(fault.InvalidInput, "%s: must be valid Unicode text", arg)
	case strings.IndexByte(text, 0) >= 0:
		return fault.New(fault.InvalidInput, "%s: must not contain NUL", arg)
	}
	return nil
}

// Append puts content at the end of a note, on a line of its own, and creates
// the note where there is none. The bytes that are there stay as they are, valid
// UTF-8 or not; the new lines take the note's own line ending, and the note then
// ends with one. Faults: as Write, and too_large where the note would grow over
// MaxNoteBytes; invalid_store for a UTF-16 note, which UTF-8 would spoil.
func (v *Vault) Append(ctx context.Context, path, content string) (Written, error) {
	names, err := ParseNotePath("path", path)
	if err != nil {
		return Written{}, err
	}
	if content == "" {
		return Written{}, fault.New(fault.InvalidInput, "content: must not be empty")
	}
	if err := checkText("content", content); err != nil {
		return Written{}, err
	}
	limit := v.limits.MaxNoteBytes
	grown := func(size int64) error { return tooLarge("the note would have", size, limit, "--max-note-bytes") }
	var data []byte
	created, err := v.change(ctx, edit{
		arg: "path", path: path, names: names, rule: noteRule, maxOld: int64(limit),
		tooBig: func(size int64) error { return grown(size + int64(len(content))) },
		content: func(old []byte, exists bool) ([]byte, error) {
			if isUTF16(old) {
				return nil, fault.New(fault.InvalidStore, "%q is UTF-16 text; save it as UTF-8 to append to it", path)
			}
			if data = appendLines(old, content); len(data) > limit {
				return nil, grown(int64(len(data)))
			}
			return data, nil
		},
	})
	if err != nil {
		return Written{}, err
	}
	return written(path, data, created), nil
}

// appendLines returns old with content on lines of its own behind it. old's
// bytes come first, unchanged.
func appendLines(old []byte, content string) []byte {
	ending := lineEnding(old)
	if ending == "" {
		if ending = lineEnding([]byte(content)); ending == "" || len(old) > 0 && ending == "\r" {
			ending = "\n"
		}
	}
	// Through one form first, so that nothing is converted twice.
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if ending == "\r" {
		content = strings.ReplaceAll(content, "\n", "\r")
	} else if ending == "\r\n" {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	out := make([]byte, 0, len(old)+len(content)+2*len(ending))
	out = append(out, old...)
	if len(old) > 0 && !endsLine(old, ending) {
		out = append(out, ending...)
	}
	out = append(out, content...)
	if !bytes.HasSuffix(out, []byte(ending)) {
		out = append(out, ending...)
	}
	return out
}

func endsLine(text []byte, ending string) bool {
	last := text[len(text)-1]
	return last == '\n' || ending == "\r" && last == '\r'
}

// lineEnding returns the line ending that text uses most, the earlier one where
// two are even, or "" where it has none. A lone CR counts only in a text
// without any LF.
func lineEnding(text []byte) string {
	lf := bytes.Count(text, []byte("\n"))
	crlf := bytes.Count(text, []byte("\r\n"))
	switch {
	case lf == 0 && bytes.IndexByte(text, '\r') >= 0:
		return "\r"
	case lf == 0:
		return ""
	case crlf*2 > lf:
		return "\r\n"
	case crlf*2 == lf:
		first := bytes.IndexByte(text, '\n')
		if first > 0 && text[first-1] == '\r' {
			return "\r\n"
		}
	}
	return "\n"
}

func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF})
}
