package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	taskerrors "github.com/go-task/task/v3/errors"
	"go.yaml.in/yaml/v3"

	domain "handrail/internal/taskfile"
)

// longestMessage is the most bytes of an error that are passed on.
const longestMessage = 1000

var (
	absolutes = regexp.MustCompile(`(^|[\s"'(:=])(/[^\s"'):,;]+|[A-Za-z]:[\\/][^\s"'):,;]+)`)
	spaces    = regexp.MustCompile(`\s+`)
)

// message is an error in one line, without the path of the root and without any
// other absolute path.
func message(err error, dir string) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if decode, ok := errors.AsType[*taskerrors.TaskfileDecodeError](err); ok {
		text = decodeMessage(decode)
	}
	text = domain.CleanText(text)
	text = strings.TrimPrefix(spaces.ReplaceAllString(strings.TrimSpace(text), " "), "task: ")
	text = relative(text, dir)
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// decodeMessage leaves out the picture that go-task draws of the file.
func decodeMessage(err *taskerrors.TaskfileDecodeError) string {
	text := err.Message
	if text == "" && err.Err != nil {
		text = err.Err.Error()
		if types, ok := errors.AsType[*yaml.TypeError](err.Err); ok {
			text = strings.Join(types.Errors, "; ")
		}
	}
	return fmt.Sprintf("%s:%d:%d: %s", err.Location, err.Line, err.Column, text)
}

// relative makes the paths of a message relative to the root, and cuts those
// that are elsewhere down to their last part.
func relative(text, dir string) string {
	for _, base := range bases(dir) {
		text = strings.ReplaceAll(text, base+string(filepath.Separator), "")
		text = strings.ReplaceAll(text, filepath.ToSlash(base)+"/", "")
		text = strings.ReplaceAll(text, base, ".")
	}
	return absolutes.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.IndexAny(found, `/\`)
		if at > 0 && found[at-1] == ':' && at > 1 {
			at -= 2 // a drive
		}
		lead, path := found[:at], found[at:]
		if strings.HasPrefix(path, "//") || strings.HasSuffix(lead, ":") && strings.HasPrefix(path, "//") {
			return found // a URL
		}
		return lead + "…/" + filepath.Base(path)
	})
}

// bases are the ways in which the root's path may be written, longest first.
func bases(dir string) []string {
	if dir == "" || dir == "/" {
		return nil
	}
	all := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		all = append(all, real)
		if len(real) > len(dir) {
			all[0], all[1] = real, dir
		}
	}
	return all
}

// uncached is the address of a remote Taskfile that an error is about, or "".
func uncached(err error) string {
	if e, ok := errors.AsType[*taskerrors.TaskfileCacheNotFoundError](err); ok {
		return e.URI
	}
	if e, ok := errors.AsType[*taskerrors.TaskfileNotSecureError](err); ok {
		return e.URI
	}
	return ""
}
