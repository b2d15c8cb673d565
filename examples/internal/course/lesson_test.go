package course_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the folder of the module, seen from here.
var root = filepath.Join("..", "..", "..")

// lessons are the programs of the course, in order.
var lessons = []string{"lesson01", "lesson02", "lesson03", "lesson04", "lesson05", "lesson06"}

// built is a folder with every lesson as a program.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "handrail-lessons-")
	if err != nil {
		return "", err
	}
	// Without what a debugger needs, which takes a third of the time.
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), "./examples/...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("go build ./examples/...: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, _ := built(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// program is the path of a built lesson.
func program(t *testing.T, lesson string) string {
	t.Helper()
	sources(t, lesson) // go test then knows that the result depends on them
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		lesson += ".exe"
	}
	return filepath.Join(dir, lesson)
}

// sources are the Go files of a lesson, by name.
func sources(t *testing.T, lesson string) map[string]string {
	t.Helper()
	files := map[string]string{}
	dir := os.DirFS(filepath.Join(root, "examples", lesson))
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(dir, name)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEveryLessonIsASmallProgramOfFourFiles(t *testing.T) {
	want := []string{"chinese.go", "connect.go", "demo.go", "main.go"}
	first := sources(t, lessons[0])["connect.go"]
	for _, lesson := range lessons {
		files := sources(t, lesson)
		var names []string
		for name, text := range files {
			names = append(names, name)
			if n := strings.Count(text, "\n"); n > 160 {
				t.Errorf("%s/%s has %d lines; a lesson is read in one sitting", lesson, name, n)
			}
		}
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("%s has the files %v, want %v", lesson, names, want)
		}
		if files["connect.go"] != first {
			t.Errorf("connect.go of %s differs from that of %s: it is the same in every lesson", lesson, lessons[0])
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "lesson") && !slices.Contains(lessons, e.Name()) {
			t.Errorf("%s is not in the list of lessons, so nothing tests it", e.Name())
		}
	}
}

// stepNumber is how a demo announces a step.
var stepNumber = regexp.MustCompile(`step\("\d+\. `)

func TestEveryDemoRunsInBothErasAndShowsTheWire(t *testing.T) {
	for _, lesson := range lessons {
		for _, flags := range [][]string{
			{"-demo"}, {"-demo", "-legacy"}, {"-demo", "-wire"}, {"-demo", "-wire", "-legacy"},
			{"-demo", "-zh"}, {"-demo", "-zh", "-wire", "-legacy"},
		} {
			t.Run(lesson+" "+strings.Join(flags, " "), func(t *testing.T) {
				t.Parallel()
				out, stderr, err := run(t.Context(), program(t, lesson), flags...)
				if err != nil || stderr != "" {
					t.Fatalf("%v\n%s%s", err, out, stderr)
				}
				steps := stepNumber.FindAllString(sources(t, lesson)["demo.go"], -1)
				for i := range steps {
					if len(steps) < 3 || !strings.Contains(out, fmt.Sprintf("\n%d. ", i+1)) {
						t.Errorf("of %d steps, number %d is missing:\n%s", len(steps), i+1, out)
					}
				}
				shown := checkWire(t, out)
				if wire := slices.Contains(flags, "-wire"); wire != (shown > 0) {
					t.Errorf("with %v, %d messages were shown", flags, shown)
				}
				handshake := strings.Contains(out, `"method":"initialize"`)
				if shown > 0 && handshake != slices.Contains(flags, "-legacy") {
					t.Errorf("with %v, a handshake: %v", flags, handshake)
				}
			})
		}
	}
}

// checkWire counts the messages that a demo shows, each of which must be whole.
func checkWire(t *testing.T, out string) (shown int) {
	t.Helper()
	for line := range strings.Lines(out) {
		arrow, message, _ := strings.Cut(strings.TrimSpace(line), " ")
		if arrow != "→" && arrow != "←" {
			continue
		}
		shown++
		if !json.Valid([]byte(message)) {
			t.Errorf("shown as a message: %s", message)
		}
	}
	return shown
}

func TestALessonWithoutAClientEndsWithItsInput(t *testing.T) {
	for _, lesson := range lessons {
		t.Run(lesson, func(t *testing.T) {
			t.Parallel()
			out, stderr, err := run(t.Context(), program(t, lesson))
			if err != nil || out != "" {
				t.Fatalf("%v, stdout %q, stderr %q", err, out, stderr)
			}
		})
	}
}

func TestAnUnknownFlagIsExplainedAndNotServed(t *testing.T) {
	out, stderr, err := run(t.Context(), program(t, lessons[0]), "-dmeo")
	if err == nil || out != "" || !strings.Contains(stderr, "-demo") {
		t.Fatalf("%v, stdout %q, stderr %q", err, out, stderr)
	}
}

// run runs a program with no input.
func run(ctx context.Context, name string, args ...string) (stdout, stderr string, err error) {
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	return out.String(), complaint.String(), err
}
