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
	const page = "docs/contract-tests.md"
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
	found := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 2 || !strings.HasPrefix(line, "| ") || strings.Contains(line, "| promise |") {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(cells[1]), "; ") {
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
	if found < 100 {
		t.Errorf("%s names only %d tests: its tables are not read as they were", page, found)
	}
}
