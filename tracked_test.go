package handrail_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handrail/internal/testenv"
)

// A stain is something that may be in no tracked file.
type stain struct {
	pattern *regexp.Regexp
	except  *regexp.Regexp // paths it is right in, or nil
	why     string
}

var stains = []stain{
	{
		// The folders that a build machine works in.
		pattern: regexp.MustCompile(`(^|[^A-Za-z0-9_.<{}$*-])/(work|root|builds|github/workspace)/`),
		except:  regexp.MustCompile(`^tracked_test\.go$`),
		why:     "a path of one machine: nobody else has it",
	},
	{
		pattern: regexp.MustCompile(`"resolved": *"https?:|GOPROXY=https?:|registry *= *https?:|--registry[= ]https?:`),
		except:  regexp.MustCompile(`^tracked_test\.go$`),
		why:     "a download address: each machine has its own registries configured",
	},
	{
		pattern: regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,}|AKIA[0-9A-Z]{16}|xox[baprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{32,})\b|PRIVATE\+KEY\+[^"+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{20,}`),
		except:  regexp.MustCompile(`(^|/)testdata/|_test\.go$`),
		why:     "a secret",
	},
	{
		pattern: regexp.MustCompile(`^(<{7}|>{7}|={7})( |$)`),
		why:     "a merge that was not finished",
	},
}

// largestFile is the most bytes a tracked file may have.
const largestFile = 1 << 20

func TestTrackedFilesAreFitForStrangers(t *testing.T) {
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if len(text) > largestFile {
			t.Errorf("%s has %d bytes, more than %d: generate it, or fetch it where it is needed", name, len(text), largestFile)
		}
		if bytes.IndexByte(text, 0) >= 0 || strings.HasSuffix(name, "go.sum") {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, s := range stains {
				if s.except != nil && s.except.MatchString(name) {
					continue
				}
				if found := s.pattern.FindString(line); found != "" {
					t.Errorf("%s:%d: %q is %s", name, i+1, found, s.why)
				}
			}
		}
	}
}

// tracked lists what git tracks.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil {
		testenv.LeftOut(t, "git does not list this folder; run the tests in a git checkout ("+err.Error()+")")
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) < 10 {
		t.Fatalf("git lists only %q, so nothing was checked", names)
	}
	return names
}
