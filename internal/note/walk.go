package note

import (
	"io/fs"
	"os"
	"slices"

	"handrail/internal/fault"
)

// maxLinks bounds the links followed on the way to one file, as Linux does.
const maxLinks = 40

// walker goes from the root to a file, one name at a time, and never trusts a
// name twice: Lstat, our rule, a link's target spliced in, then an open that is
// compared with what Lstat saw. os.Root alone would follow a relative link to a
// hidden file and refuse an absolute one that stays inside.
type walker struct {
	v      *Vault
	arg    string // the argument that faults name
	dir    *os.Root
	at     []string // the names of dir beneath the root, links resolved
	rest   []string // the names still to go
	links  int
	folder bool // the last name should be a folder
	rule   func(name string) string
}

// noteRule is the rule for the name that a note's path resolves to.
func noteRule(name string) string {
	if !isNoteName(name) {
		return "a note's name ends in .md"
	}
	return ""
}

// walkFile finds the regular file that names lead to, or the place where it
// would be. Faults: invalid_input where a rule is broken or the name is no
// regular file. The place must be closed.
func (v *Vault) walkFile(arg string, names []string, rule func(string) string) (place, error) {
	if err := v.atHome(); err != nil {
		return place{}, err
	}
	w := walker{v: v, arg: arg, dir: v.root, rest: slices.Clone(names), rule: rule}
	return w.walk()
}

// walkFolder opens the folder that names lead to; it must be closed unless it
// is the vault's own root.
func (v *Vault) walkFolder(arg string, names []string) (place, error) {
	if err := v.atHome(); err != nil {
		return place{}, err
	}
	w := walker{v: v, arg: arg, dir: v.root, rest: slices.Clone(names), folder: true}
	return w.walk()
}

func (w *walker) walk() (place, error) {
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if name == ".." {
			if len(w.at) == 0 {
				return w.fail(refuse(w.arg, "is a link that leads out of the notes folder"))
			}
			// Begin again from the top: an open folder knows no way up that
			// could not have been moved meanwhile.
			w.reset(slices.Concat(w.at[:len(w.at)-1], w.rest))
			continue
		}
		info, err := w.dir.Lstat(name)
		switch {
		case isNotExist(err):
			return w.absent(name)
		case err != nil:
			return w.fail(err)
		case aliases(w.dir, name):
			return w.fail(refuse(w.arg, "must use a file's full name, not its short one"))
		case mayBeLink(info):
			if err := w.follow(name, info); err != nil {
				return w.fail(err)
			}
		case len(w.rest) > 0 || w.folder:
			if err := w.enter(name, info); err != nil {
				return w.fail(err)
			}
		default:
			return w.file(name, info)
		}
	}
	if !w.folder {
		return w.fail(refuse(w.arg, "leads to a folder"))
	}
	return place{dir: w.dir, keep: w.dir == w.v.root}, nil
}

func (w *walker) fail(err error) (place, error) {
	w.leave()
	return place{}, err
}

func (w *walker) leave() {
	if w.dir != w.v.root {
		w.dir.Close()
	}
}

func (w *walker) reset(names []string) {
	w.leave()
	w.dir, w.at, w.rest = w.v.root, nil, names
}

// enter makes the folder name the current one.
func (w *walker) enter(name string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fault.New(fault.NotFound, "%s: %q is not a folder", w.arg, name)
	}
	sub, err := openFolder(w.dir, name, info)
	if err != nil {
		return err
	}
	w.leave()
	w.dir, w.at = sub, append(w.at, name)
	return nil
}

// openFolder opens the folder name of dir if it still is the one that info
// describes, and says errSwapped otherwise.
func openFolder(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, orSwapped(dir, name, info, err)
	}
	got, err := sub.Stat(".")
	if err == nil && os.SameFile(info, got) {
		return sub, nil
	}
	sub.Close()
	if err != nil {
		return nil, orSwapped(dir, name, info, err)
	}
	return nil, errSwapped
}

// orSwapped tells a plain failure from one that came because name changed.
func orSwapped(dir *os.Root, name string, info fs.FileInfo, err error) error {
	if now, lerr := dir.Lstat(name); lerr != nil || !os.SameFile(info, now) {
		return errSwapped
	}
	return err
}

// follow splices the target of the link name into what is still to go.
func (w *walker) follow(name string, info fs.FileInfo) error {
	if w.links++; w.links > maxLinks {
		return refuse(w.arg, "leads through more than %d links, or in a circle", maxLinks)
	}
	target, err := w.dir.Readlink(name)
	if err != nil {
		if info.Mode()&fs.ModeSymlink == 0 {
			return refuse(w.arg, "is not a regular file")
		}
		return orSwapped(w.dir, name, info, err)
	}
	names := splitTarget(target)
	absolute := isAbsolute(target)
	if absolute {
		var inside bool
		if names, inside = w.v.absoluteTarget(target); !inside {
			return refuse(w.arg, "is a link that leads out of the notes folder")
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "." })
	for _, n := range names {
		if n == ".." {
			continue
		}
		if rule := nameRule(n); rule != "" {
			return refuse(w.arg, "is a link to a place that the rules refuse: %s", rule)
		}
	}
	rest := slices.Concat(names, w.rest)
	if absolute {
		w.reset(rest)
	} else {
		w.rest = rest
	}
	return nil
}

// absent ends a walk at a name that is not there.
func (w *walker) absent(name string) (place, error) {
	ahead := append([]string{name}, w.rest...)
	last := ahead[len(ahead)-1]
	if w.folder || slices.Contains(ahead, "..") {
		return w.fail(fault.New(fault.NotFound, "%s: there is no folder %q", w.arg, name))
	}
	if rule := w.rule(last); rule != "" {
		return w.fail(refuse(w.arg, "is a link to a place that the rules refuse: %s", rule))
	}
	return place{dir: w.dir, keep: w.dir == w.v.root, missing: ahead[:len(ahead)-1], name: last}, nil
}

// file ends a walk at a name that is there and is no link.
func (w *walker) file(name string, info fs.FileInfo) (place, error) {
	switch rule := w.rule(name); {
	case rule != "":
		return w.fail(refuse(w.arg, "is a link to a place that the rules refuse: %s", rule))
	case info.IsDir():
		return w.fail(refuse(w.arg, "is a folder, not a file"))
	case !info.Mode().IsRegular():
		return w.fail(refuse(w.arg, "is not a regular file"))
	}
	return place{dir: w.dir, keep: w.dir == w.v.root, name: name, info: info}, nil
}

// open opens the file of a place for reading and says errSwapped if it is no
// longer the one that the walk saw. The open never waits.
func (p *place) open() (*os.File, fs.FileInfo, error) {
	return openChecked(p.dir, p.name, p.info, os.O_RDONLY)
}

func openChecked(dir *os.Root, name string, info fs.FileInfo, flag int) (*os.File, fs.FileInfo, error) {
	f, err := dir.OpenFile(name, flag|openFlags, 0)
	if err != nil {
		return nil, nil, orSwapped(dir, name, info, err)
	}
	got, err := f.Stat()
	if err != nil || !got.Mode().IsRegular() || !os.SameFile(info, got) {
		f.Close()
		return nil, nil, errSwapped
	}
	return f, got, nil
}
