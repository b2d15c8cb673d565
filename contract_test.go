package handrail_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page that names tests is worth as much as the names: each must be there.
func TestTheTestsThatPagesNameExist(t *testing.T) {
	for page, least := range map[string]int{"docs/contract-tests.md": 100, "docs/sdk-notes.md": 25} {
		if found := checkNames(t, page); found < least {
			t.Errorf("%s names only %d tests: its tables are not read as they were", page, found)
		}
	}
}

// checkNames looks for the tests in the last column of a page's tables and
// returns how many there are.
func checkNames(t *testing.T, page string) (found int) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	source := func(dir string) string {
		if sources[dir] == "" {
			files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s names the folder %s: %v", page, dir, err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[dir] += string(b)
			}
		}
		return sources[dir]
	}
	folder := regexp.MustCompile("^`([a-z0-9/]+)` (.*)$")
	name := regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w+$`)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		last := strings.TrimSpace(cells[len(cells)-1])
		if len(cells) < 2 || !strings.HasPrefix(line, "| ") || last == "tests" {
			continue
		}
		for part := range strings.SplitSeq(last, "; ") {
			if quoted := strings.Trim(part, `"`); quoted != part {
				found++
				if !strings.Contains(source("internal/store/storetest"), `{"`+quoted+`", func(`) {
					t.Errorf("%s: storetest has no sentence %q", page, quoted)
				}
				continue
			}
			m := folder.FindStringSubmatch(part)
			if m == nil {
				t.Errorf("%s: %q is neither a sentence in quotes nor a folder and its tests", page, part)
				continue
			}
			for test := range strings.SplitSeq(m[2], ", ") {
				found++
				if !name.MatchString(test) || !strings.Contains(source(m[1]), "func "+test+"(") {
					t.Errorf("%s: %s has no test %s", page, m[1], test)
				}
			}
		}
	}
	return found
}
