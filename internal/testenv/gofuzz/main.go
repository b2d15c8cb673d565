// Command gofuzz is `go tool task fuzz`: it finds every fuzz target of the module
// and fuzzes one after the other, since go test -fuzz takes one at a time. It
// ends with go test's own lines and a count, and fails if any target does.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct{ dir, name string }

func main() {
	each := flag.Duration("fuzztime", 5*time.Second, "how long to fuzz each target")
	only := flag.String("only", "", "regular expression: fuzz the targets whose name it matches")
	flag.Parse()
	if err := run(*each, *only); err != nil {
		fmt.Fprintln(os.Stderr, "gofuzz:", err)
		os.Exit(1)
	}
}

func run(each time.Duration, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := targets(".")
	if err != nil {
		return err
	}
	passed, failed := 0, 0
	for _, t := range all {
		if !wanted.MatchString(t.name) {
			continue
		}
		fmt.Printf("--- %s %s, %v\n", t.dir, t.name, each)
		// -run=^$ leaves the ordinary tests out: they have run already.
		cmd := exec.Command("go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+each.String(), "./"+t.dir)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		known := inputs(t)
		if err := cmd.Run(); err != nil {
			failed++
			for name, text := range inputs(t) {
				if _, old := known[name]; !old {
					fmt.Printf("%s:\n%s\n", name, text)
				}
			}
			continue
		}
		passed++
	}
	fmt.Printf("\nfuzz: %d passed, %d failed\n", passed, failed)
	switch {
	case failed > 0:
		return fmt.Errorf("%d targets failed; the input of each is under its testdata/fuzz: mend the whole kind, and keep the input", failed)
	case passed == 0:
		return fmt.Errorf("no fuzz target has a name that matches %q", only)
	}
	return nil
}

// inputs are the kept inputs of a target, by name: those that once broke it. The
// new ones are printed, since a build machine throws its files away.
func inputs(t target) map[string]string {
	kept := map[string]string{}
	dir := filepath.Join(filepath.FromSlash(t.dir), "testdata", "fuzz", t.name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if text, err := os.ReadFile(name); err == nil {
			kept[name] = string(text)
		}
	}
	return kept
}

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// targets finds the fuzz functions below root, in the order of their folders.
func targets(root string) ([]target, error) {
	var found []target
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
			found = append(found, target{filepath.ToSlash(filepath.Dir(path)), string(m[1])})
		}
		return nil
	})
	return found, err
}
