package taskfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestName is the most bytes that a tool's name may have, and cutName how many
// are kept of a longer one, before "_" and a hash of eight digits.
const (
	longestName = 128
	cutName     = 119
)

// ToolName is the name of a task's tool: the asterisks of a wildcard are dropped
// with the colon before them, colons become underscores, underscores at the end
// are dropped, and then what no tool's name may have becomes one. prefix is the root's, or "" where there is one
// root only.
func ToolName(prefix, task string) string {
	original := task
	name := strings.ReplaceAll(task, ":*", "")
	name = strings.ReplaceAll(name, "*", "")
	name = strings.ReplaceAll(name, ":", "_")
	name = sanitise(strings.TrimRight(name, "_"))
	if prefix != "" {
		original = prefix + "_" + task
	}
	if name == "" {
		name = "task_" + shortHash(original)
	}
	if prefix != "" {
		name = prefix + "_" + name
	}
	if len(name) > longestName {
		name = name[:cutName] + "_" + shortHash(original)
	}
	return name
}

// RootPrefix is what the tools of a root are prefixed with where there are
// several: the sanitised name of its folder.
func RootPrefix(base string) string {
	if prefix := strings.Trim(sanitise(base), "_"); prefix != "" {
		return prefix
	}
	return "root"
}

// withSuffix tells a tool apart from others of the same name.
func withSuffix(name, uri, task string) string {
	return name[:min(len(name), cutName)] + "_" + shortHash(uri+"\x00"+task)
}

func sanitise(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '_'
	}, text)
}

// shortHash is the first eight hexadecimal digits of the text's SHA-256.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
