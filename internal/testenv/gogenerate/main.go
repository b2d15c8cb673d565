// Command gogenerate is `go tool task check:generated`: it runs go generate over
// the module and fails if that changed any file, naming each. The new content
// stays, so that a contributor has only to look at it and commit it.
package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gogenerate:", err)
		os.Exit(1)
	}
}

func run() error {
	before, err := sums(".")
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "generate", "./...")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go generate: %w", err)
	}
	after, err := sums(".")
	if err != nil {
		return err
	}
	var changed []string
	for name, sum := range after {
		if old, ok := before[name]; !ok || old != sum {
			changed = append(changed, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			changed = append(changed, name+" (deleted)")
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	return fmt.Errorf("these were not as the program writes them, and are now; look at the change and commit it:\n  %s",
		strings.Join(changed, "\n  "))
}

// sums is the content of every file below root, by name, as checksums. Hidden
// folders, built programs and what npm installed are left out.
func sums(root string) (map[string][32]byte, error) {
	all := map[string][32]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name()[0] == '.' || d.Name() == "node_modules" || d.Name() == "bin"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		all[path] = sha256.Sum256(text)
		return err
	})
	return all, err
}
