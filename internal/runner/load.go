package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-task/task/v3"
	taskerrors "github.com/go-task/task/v3/errors"
	"github.com/go-task/task/v3/taskfile"
	"github.com/go-task/task/v3/taskfile/ast"
	"go.yaml.in/yaml/v3"

	domain "handrail/internal/taskfile"
)

// loadTimeout bounds the reading of a root. Nothing is fetched, so only a
// hanging file system takes long.
const loadTimeout = 20 * time.Second

// largestTaskfile is the most bytes a Taskfile may have.
const largestTaskfile = 16 << 20

// root is one loaded root.
type root struct {
	dir        string
	entrypoint string
	merged     *ast.Taskfile
	files      *files
}

// load reads the Taskfile that lies in dir itself, and what it includes, and
// evaluates nothing. go-task would search the parents of dir for one; the exact
// entrypoint keeps it from that. The root it returns is never nil: after an
// error it still knows the files that were reached.
func load(ctx context.Context, dir string, allowRemote []string) (*root, error) {
	r := &root{dir: dir, files: newFiles()}
	entrypoint := r.find()
	if entrypoint == "" {
		return r, errors.New("there is no Taskfile in the root")
	}
	r.entrypoint = entrypoint
	r.files.add(entrypoint)
	if err := r.walk(entrypoint, 0); err != nil {
		return r, err
	}
	merged, err := r.read(ctx, allowRemote)
	if err != nil {
		return r, err
	}
	r.merged = merged
	return r, nil
}

// find is the root's own Taskfile, or "". All standard names are watched, since
// an earlier one that appears is used instead.
func (r *root) find() string {
	found := ""
	for _, name := range taskfile.DefaultTaskfiles {
		path := filepath.Join(r.dir, name)
		if _, err := os.Stat(path); err == nil && found == "" {
			found = path
		} else if found == "" {
			r.files.add(path)
		}
	}
	return found
}

func (r *root) read(ctx context.Context, allowRemote []string) (*ast.Taskfile, error) {
	node, err := taskfile.NewRootNode(r.entrypoint, r.dir, false, loadTimeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	reader := taskfile.NewReader(
		taskfile.WithOffline(true),
		taskfile.WithTempDir(remoteCache(r.dir)),
		taskfile.WithTrustedHosts(allowRemote),
		taskfile.WithPromptFunc(func(string) error { return errors.New("nobody can be asked") }),
	)
	graph, err := reader.Read(ctx, node)
	if err != nil {
		return nil, remoteReason(err, allowRemote)
	}
	reached, err := graph.AdjacencyMap()
	if err != nil {
		return nil, err
	}
	for uri := range reached {
		if taskfile.IsRemoteEntrypoint(uri) {
			if host := hostOf(uri); !slices.Contains(allowRemote, host) {
				return nil, fmt.Errorf("it includes a Taskfile from %s, which is not allowed (--allow-remote %s allows it)", host, host)
			}
			continue
		}
		vertex, err := graph.Vertex(uri)
		if err != nil {
			return nil, err
		}
		r.files.add(uri)
		r.includes(uri, vertex.Taskfile, func(string) {})
	}
	return graph.Merge()
}

// remoteReason replaces go-task's words about an uncached remote Taskfile by
// what can be done.
func remoteReason(err error, allowRemote []string) error {
	uri := uncached(err)
	if uri == "" {
		return err
	}
	host := hostOf(uri)
	if !slices.Contains(allowRemote, host) {
		return fmt.Errorf("it includes a Taskfile from %s, which is not allowed (--allow-remote %s allows it)", host, host)
	}
	if _, plain := errors.AsType[*taskerrors.TaskfileNotSecureError](err); plain {
		return fmt.Errorf("it includes a Taskfile from %s over http, which anybody on the way could change", host)
	}
	return fmt.Errorf("it includes a Taskfile from %s that is not on this machine yet; `task --download` in the root fetches it", host)
}

func hostOf(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Host != "" {
		return u.Host
	}
	// git@host:path
	if _, rest, ok := strings.Cut(uri, "@"); ok {
		host, _, _ := strings.Cut(rest, ":")
		return host
	}
	return "another machine"
}

// remoteCache is where the task command keeps remote Taskfiles.
func remoteCache(dir string) string {
	if temp := os.Getenv("TASK_TEMP_DIR"); filepath.IsAbs(temp) {
		return temp
	} else if temp != "" && !strings.HasPrefix(temp, "~") {
		return filepath.Join(dir, temp)
	}
	return filepath.Join(dir, ".task")
}

// walk follows the includes of a file as far as it can be read, so that the
// files of a root that cannot be loaded are known. It fails at a file that
// go-task must not open: a pipe would keep it waiting, a device would fill the
// memory.
func (r *root) walk(path string, depth int) error {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("%s is no regular file of at most %d bytes", filepath.Base(path), largestTaskfile)
	}
	if err != nil || depth > 64 || !bytes.Contains(text, []byte("includes")) {
		return nil
	}
	// The tasks may be wrong and the includes right.
	var parsed struct {
		Includes *ast.Includes
		Vars     *ast.Vars
	}
	if yaml.Unmarshal(text, &parsed) != nil {
		var only struct{ Includes *ast.Includes }
		if yaml.Unmarshal(text, &only) != nil {
			return nil
		}
		parsed.Includes = only.Includes
	}
	var special error
	r.includes(path, &ast.Taskfile{Includes: parsed.Includes, Vars: parsed.Vars}, func(next string) {
		if err := r.walk(next, depth+1); special == nil {
			special = err
		}
	})
	return special
}

// includes adds the local files that a Taskfile includes, those that are missing
// too, and hands each file that was not known on to next.
func (r *root) includes(path string, parsed *ast.Taskfile, next func(string)) {
	if parsed == nil || parsed.Includes.Len() == 0 {
		return
	}
	node, err := taskfile.NewFileNode(path, "")
	if err != nil {
		return
	}
	for _, include := range parsed.Includes.All() {
		at := fill(include.Taskfile, parsed.Vars, r.dir, path)
		if at == "" || taskfile.IsRemoteEntrypoint(at) {
			continue
		}
		target, err := node.ResolveEntrypoint(at)
		if err != nil {
			continue
		}
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			inside := &root{dir: target, files: r.files}
			if target = inside.find(); target == "" {
				continue
			}
		}
		if r.files.add(target) {
			next(target)
		}
	}
}

// fill puts static variables into a template. A part that is not known comes out
// empty; nothing is evaluated.
func fill(template string, vars *ast.Vars, dir, entrypoint string) string {
	if !strings.Contains(template, "{{") {
		return template
	}
	const result = "HANDRAIL_RESULT"
	all := ast.NewVars()
	all.Merge(vars, nil)
	all.Set(result, ast.Var{Value: template})
	compiler := &task.Compiler{Dir: dir, Entrypoint: entrypoint, TaskfileEnv: ast.NewVars(), TaskfileVars: all}
	filled, err := compiler.FastGetVariables(nil, nil)
	if err != nil {
		return ""
	}
	v, _ := filled.Get(result)
	text, _ := v.Value.(string)
	return text
}

// readFile reads a regular file of a sensible size, and never blocks on a pipe.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestTaskfile {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// files are the paths that decide how a root looks, in the order they were found.
type files struct {
	list []domain.File
	seen map[string]bool
}

func newFiles() *files { return &files{seen: map[string]bool{}} }

// add notes a path with its state of now, and reports whether it is new.
func (f *files) add(path string) bool {
	path = filepath.Clean(path)
	if f.seen[path] {
		return false
	}
	f.seen[path] = true
	f.list = append(f.list, domain.File{Path: path, Sum: domain.Sum(path)})
	return true
}

// absolute is a path of a Taskfile, which may be relative to dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
