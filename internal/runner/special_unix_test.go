//go:build unix

package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/internal/runner"
	"handrail/internal/taskfile"
)

func TestWhatIsNoRegularFileIsNeverOpenedAsATaskfile(t *testing.T) {
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	device := func(path string) error { return os.Symlink("/dev/zero", path) }
	huge := func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 1<<40)
	}
	for name, row := range map[string]struct {
		file string // that is special
		make func(path string) error
		text map[string]string
	}{
		"a pipe":                       {"Taskfile.yml", pipe, nil},
		"a device behind a link":       {"Taskfile.yml", device, nil},
		"a file of a tebibyte":         {"Taskfile.yml", huge, nil},
		"an included pipe":             {"odd.yml", pipe, map[string]string{"Taskfile.yml": "includes: {x: ./odd.yml}"}},
		"an included device":           {"odd.yml", device, map[string]string{"Taskfile.yml": "includes: {x: {taskfile: odd.yml, optional: true}}"}},
		"an included file too large":   {"odd.yml", huge, map[string]string{"Taskfile.yml": "includes: {x: odd.yml}"}},
		"a pipe named by a variable":   {"odd.yml", pipe, map[string]string{"Taskfile.yml": "vars: {N: odd}\nincludes: {x: '{{.N}}.yml'}"}},
		"a pipe in an included folder": {"sub/Taskfile.yml", pipe, map[string]string{"Taskfile.yml": "includes: {x: ./sub}"}},
		"a pipe two includes deep": {"odd.yml", pipe, map[string]string{
			"Taskfile.yml": "includes: {x: ./sub/next.yml}", "sub/next.yml": "includes: {y: ../odd.yml}",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range row.text {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("version: '3'\n"+text+"\ntasks: {a: 'true'}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, row.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := row.make(path); err != nil {
				t.Fatal(err)
			}
			listed := make(chan *taskfile.Listing, 1)
			go func() { listed <- runner.List(t.Context(), dir) }()
			select {
			case l := <-listed:
				if !strings.Contains(l.Error, filepath.Base(row.file)+" is no regular file") {
					t.Errorf("the listing says %q", l.Error)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the listing hangs")
			}
		})
	}
}

func TestAPipeOfSettingsIsNotReadToList(t *testing.T) {
	dir := t.TempDir()
	text := "version: '3'\ndotenv: [.env]\ntasks: {a: 'true'}\n"
	if err := os.WriteFile(filepath.Join(dir, "Taskfile.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	listed := make(chan *taskfile.Listing, 1)
	go func() { listed <- runner.List(t.Context(), dir) }()
	select {
	case l := <-listed:
		if l.Error != "" || len(l.Tasks) != 1 {
			t.Errorf("the listing has %d tasks, and says %q", len(l.Tasks), l.Error)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the listing hangs")
	}
}
