package taskfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"handrail/internal/fault"
)

// FindRunner is the path of the runner: beside the program whose path is self,
// links followed or not, else on PATH. Without one it faults with Unavailable.
func FindRunner(self string) (string, error) {
	name := RunnerName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside := []string{self}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		beside = append(beside, real)
	}
	for _, program := range beside {
		if program == "" {
			continue
		}
		path := filepath.Join(filepath.Dir(program), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	return "", fault.New(fault.Unavailable, "%s is neither beside handrail nor on PATH, and no task can be listed or run without it; build ./cmd/%s and put it beside handrail", RunnerName, RunnerName)
}

// Environment is what a run's environment keeps of environ. deny has the names of
// Handrail's own settings and secrets; a name that ends in * stands for all that
// begin so. allow, where it is not nil, has the only names that stay.
func Environment(environ, allow, deny []string) []string {
	var kept []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" || named(name, deny) || name == RunVar || name == PipesVar {
			continue
		}
		if allow == nil || named(name, allow) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func named(name string, list []string) bool {
	for _, entry := range list {
		if head, any := strings.CutSuffix(entry, "*"); any && strings.HasPrefix(name, head) || name == entry {
			return true
		}
		if runtime.GOOS == "windows" && strings.EqualFold(name, entry) {
			return true
		}
	}
	return false
}
