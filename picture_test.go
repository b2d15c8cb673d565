package handrail_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var pathInPage = regexp.MustCompile("`((?:internal|cmd)/[a-z0-9/_.-]+)`")

// The page about the architecture names every package, and no package or file
// that is not there.
func TestThePictureOfTheArchitectureIsWhole(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, p := range scan(t) {
		inside := strings.HasPrefix(p.dir, "internal/") || strings.HasPrefix(p.dir, "cmd/")
		if inside && !strings.Contains(page, "`"+p.dir+"`") {
			t.Errorf("docs/architecture.md says nothing of %s", p.dir)
		}
	}
	for _, match := range pathInPage.FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(match[1]); err != nil && !strings.Contains(match[1], "*") {
			t.Errorf("docs/architecture.md names %s, which is not there", match[1])
		}
	}
}
