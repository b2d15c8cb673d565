package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// circumstances are what figures depend on: the day, the machine and what else
// it was doing, the versions. They name no host and no path.
func (l *lab) circumstances() (lines []string) {
	add := func(what, value string) {
		if value != "" {
			lines = append(lines, what+" "+value)
		}
	}
	add("day:", time.Now().UTC().Format(time.DateOnly))
	add("machine:", fmt.Sprintf("%d cores, %s, %s/%s", runtime.NumCPU(), or(processor(), "of an unknown kind"), runtime.GOOS, runtime.GOARCH))
	add("load average when the run began:", l.loadBefore)
	add("Go:", strings.TrimPrefix(runtime.Version(), "go"))
	for _, module := range []string{"github.com/modelcontextprotocol/go-sdk", "modernc.org/sqlite", "github.com/go-task/task/v3"} {
		add(module+":", l.said("go", "list", "-m", "-f", "{{.Version}}", module))
	}
	for _, name := range []string{"@modelcontextprotocol/server", "better-sqlite3", "@modelcontextprotocol/server-filesystem"} {
		add(name+":", l.packageVersion(name))
	}
	if l.noNode == "" {
		add("Node:", l.said(l.node, "--version"))
	}
	if out := l.said("rg", "--version"); out != "" {
		add("ripgrep:", strings.TrimPrefix(strings.SplitN(out, "\n", 2)[0], "ripgrep "))
	}
	return lines
}

// said is what a command prints, or nothing where there is no such command.
func (l *lab) said(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = l.root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (l *lab) packageVersion(name string) string {
	text, err := os.ReadFile(filepath.Join(l.root, "e2e", "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return ""
	}
	var p struct{ Version string }
	if json.Unmarshal(text, &p) != nil {
		return ""
	}
	return p.Version
}

var modelName = regexp.MustCompile(`model name\s*:\s*(.+)`)

// processor is the processor's name where Linux tells it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	if m := modelName.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// loadAverage is the average of the last minutes where Linux tells it.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
