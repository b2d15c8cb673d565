package note

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"handrail/internal/fault"
)

// folderNames returns the names in dir, in no order.
func folderNames(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// twinKey is equal for names that a person cannot tell apart: those that differ
// in case, in Unicode normalisation or in invisible characters. Letters of
// different scripts that look alike are not covered.
func twinKey(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFD.String(foldString(norm.NFD.String(stripIgnorable(name))))
}

// foldString maps each character to the smallest one that simple folding makes
// it equal to.
func foldString(s string) string { return strings.Map(foldRune, s) }

// foldRune is the canonical member of r's simple folding orbit: lower case for
// ASCII letters, the smallest code point for all others.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// refuseTwin says conflict if making name in dir would leave two names there
// that a person cannot tell apart. The folder's lock must be held, so that two
// writers cannot make twins together.
func refuseTwin(names []string, name string) error {
	key := twinKey(name)
	for _, have := range names {
		if have != name && twinKey(have) == key {
			return fault.New(fault.Conflict,
				"there is already %q here, which differs only in case, accents' encoding or invisible characters; use that name",
				strings.ToValidUTF8(have, "\uFFFD"))
		}
	}
	return nil
}

// refuseInexact says conflict if name was found only because the file system
// does not tell cases or normal forms apart, and the file's own name is another.
func refuseInexact(dir *os.Root, name string, info fs.FileInfo) error {
	for _, other := range otherSpellings(name) {
		if same, err := dir.Lstat(other); err != nil || !os.SameFile(info, same) {
			continue
		}
		names, err := folderNames(dir)
		if err != nil {
			return err
		}
		for _, have := range names {
			if have == name {
				return nil
			}
		}
		return refuseTwin(names, name)
	}
	return nil
}

// otherSpellings returns spellings of name that only a folding file system
// would find.
func otherSpellings(name string) []string {
	var out []string
	swapped := strings.Map(func(r rune) rune {
		if u := unicode.ToUpper(r); u != r {
			return u
		}
		return unicode.ToLower(r)
	}, name)
	for _, s := range []string{swapped, norm.NFC.String(name), norm.NFD.String(name)} {
		if s != name {
			out = append(out, s)
		}
	}
	return out
}

// madeFolders remembers the folders that a write had to make.
type madeFolders []madeFolder

type madeFolder struct {
	parent *os.Root
	keep   bool
	name   string
	made   bool
}

// finish closes what was opened on the way. After a failure it also takes away
// the folders that were made, as long as they are empty.
func (m madeFolders) finish(failed bool) {
	for i := len(m) - 1; i >= 0; i-- {
		if failed && m[i].made {
			_ = m[i].parent.Remove(m[i].name)
		}
		if !m[i].keep {
			m[i].parent.Close()
		}
	}
}

// makeFolder makes the first missing folder of p, or finds that somebody else
// did, and moves p into it. The parent's lock is held meanwhile, so that two
// writers do not make twins.
func (m *madeFolders) makeFolder(p *place, lock func(*os.Root) (func(), error)) error {
	parent, name := p.dir, p.missing[0]
	unlock, err := lock(parent)
	if err != nil {
		return err
	}
	defer unlock()
	names, err := folderNames(parent)
	if err != nil {
		return err
	}
	if err := refuseTwin(names, name); err != nil {
		return err
	}
	err = parent.Mkdir(name, 0o777)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	made := err == nil
	step := madeFolder{parent: parent, keep: p.keep, name: name, made: made}
	info, err := parent.Lstat(name)
	if err != nil || !info.IsDir() {
		return errSwapped
	}
	sub, err := openFolder(parent, name, info)
	if err == nil && made {
		err = syncFolder(parent)
	}
	if err != nil {
		if made {
			_ = parent.Remove(name)
		}
		return err
	}
	*m = append(*m, step)
	p.dir, p.keep, p.missing = sub, false, p.missing[1:]
	return nil
}
