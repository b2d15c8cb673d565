package note

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"handrail/internal/fault"
)

// The bounds of a path, in bytes of UTF-8.
const (
	MaxNameBytes = 255
	MaxPathBytes = 1024
)

// ParseNotePath checks a path that should name a note and returns its names.
// The rules are the same on every platform; the first one that is broken is
// named in the fault, always invalid_input.
func ParseNotePath(arg, path string) ([]string, error) {
	names, err := parsePath(arg, path)
	if err != nil {
		return nil, err
	}
	if !isNoteName(names[len(names)-1]) {
		return nil, refuse(arg, "a note's name ends in .md")
	}
	return names, nil
}

// ParseFolderPath checks a path that should name a folder and returns its
// names. The empty path is the root itself: no names, no error.
func ParseFolderPath(arg, path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	return parsePath(arg, path)
}

func refuse(arg, rule string, more ...any) error {
	return fault.New(fault.InvalidInput, "%s: "+rule, append([]any{arg}, more...)...)
}

func parsePath(arg, path string) ([]string, error) {
	switch {
	case path == "":
		return nil, refuse(arg, "must not be empty")
	case !utf8.ValidString(path):
		return nil, refuse(arg, "must be valid Unicode text")
	case len(path) > MaxPathBytes:
		return nil, refuse(arg, "is longer than %d bytes", MaxPathBytes)
	case strings.HasPrefix(path, `\\`), strings.HasPrefix(path, "//"):
		return nil, refuse(arg, "must be relative to the notes folder, not a network (UNC) path")
	case path[0] == '/':
		return nil, refuse(arg, "must be relative to the notes folder, not absolute")
	case len(path) > 1 && path[1] == ':' && isLetter(path[0]):
		return nil, refuse(arg, "must be relative to the notes folder, without a drive letter")
	}
	names := strings.Split(path, "/")
	for _, name := range names {
		if rule := nameRule(name); rule != "" {
			return nil, refuse(arg, "%s", rule)
		}
	}
	return names, nil
}

// nameRule returns the rule that one name of a path breaks, or "".
func nameRule(name string) string {
	switch {
	case name == "":
		return "has an empty name: neither a doubled nor a closing / is allowed"
	case name == ".":
		return `must not have "." as a name`
	case name == "..":
		return `must not have ".." as a name`
	case len(name) > MaxNameBytes:
		return "has a name longer than 255 bytes"
	case !utf8.ValidString(name):
		return "must be valid Unicode text"
	}
	if isPlainName(name) {
		return ""
	}
	for _, r := range name {
		switch {
		case r == 0:
			return "must not contain NUL"
		case unicode.IsControl(r):
			return "must not contain control characters"
		case r == '\\':
			return `must not contain \ (names are separated by /)`
		case strings.ContainsRune(`:*?"<>|`, r):
			return "must not contain " + string(r)
		}
	}
	// Some file systems (HFS+) ignore invisible characters when they look a name
	// up: what counts is what remains without them.
	seen := stripIgnorable(name)
	switch {
	case seen == "":
		return "has a name of only invisible characters"
	case seen[0] == '.':
		return "must not have a name that begins with a dot (hidden)"
	case strings.HasSuffix(seen, "."):
		return "must not have a name that ends in a dot"
	case strings.HasSuffix(seen, " "):
		return "must not have a name that ends in a space"
	case isDeviceName(seen):
		return "must not have the name of a Windows device"
	}
	return ""
}

// isPlainName recognises most names that break no rule, quickly: a scan asks for
// every file there is.
func isPlainName(name string) bool {
	if !isLetter(name[0]) && (name[0] < '0' || name[0] > '9') || len(name) > MaxNameBytes {
		return false
	}
	for i := range len(name) {
		b := name[i]
		if !isLetter(b) && (b < '0' || b > '9') && b != '-' && b != '_' && b != '.' {
			return false
		}
	}
	last := name[len(name)-1]
	// Without $ and superscripts, a device name has three or four letters.
	base := strings.IndexByte(name, '.')
	if base < 0 {
		base = len(name)
	}
	return last != '.' && (base < 3 || base > 4)
}

// isNoteName reports whether a name that passed nameRule is a note's.
func isNoteName(name string) bool {
	return len(name) > len(".md") && strings.EqualFold(name[len(name)-len(".md"):], ".md")
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// isDeviceName reports whether Windows would open a device for name. It looks
// at the part before the first dot, without spaces at its end: "nul.md" and
// "NUL .md" are devices to it. COM0 and LPT0 are included, some versions
// reserve them. Superscript digits count as digits
// (learn.microsoft.com/windows/win32/fileio/naming-a-file).
func isDeviceName(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if !strings.HasPrefix(base, "COM") && !strings.HasPrefix(base, "LPT") {
		return false
	}
	switch digit := base[3:]; digit {
	case "\u00b9", "\u00b2", "\u00b3":
		return true
	default:
		return len(digit) == 1 && '0' <= digit[0] && digit[0] <= '9'
	}
}

// stripIgnorable drops the characters that are never seen, and that some file
// systems do not see either.
func stripIgnorable(name string) string {
	if isASCII(name) {
		return name
	}
	return strings.Map(func(r rune) rune {
		if isInvisible(r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, name)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
