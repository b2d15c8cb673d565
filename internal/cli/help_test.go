package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"handrail/internal/config"
)

// A line of a list of commands, or of usage, is as long as it has to be.
var longAnyway = regexp.MustCompile(`^  ([a-z]+ {2,}|handrail |echo )`)

func TestHelpFitsATerminalAndNamesEverySettingOnce(t *testing.T) {
	commands := [][]string{{}, {"demo"}, {"tools"}, {"version"}, {"call"}, {"audit"}, {"audit", "list"}, {"audit", "verify"},
		{"audit", "checkpoint"}, {"audit", "keygen"}, {"audit", "export"}}
	for _, p := range config.Presets {
		commands = append(commands, []string{p.Name}, []string{"call", p.Name})
		out, _ := run(t, 0, "", p.Name, "--help")
		for _, s := range p.Settings {
			name := "  --" + s.Option
			if s.About().Secret {
				name = "  " + s.Env
			}
			if n := len(regexp.MustCompile("(?m)^"+name+`( |$)`).FindAllString(out, -1)); n != 1 {
				t.Errorf("handrail %s --help has %d entries for %s", p.Name, n, name)
			}
			if !strings.Contains(out, s.Env) {
				t.Errorf("handrail %s --help does not say %s", p.Name, s.Env)
			}
		}
	}
	for _, words := range commands {
		out, _ := run(t, 0, "", append(words, "--help")...)
		if !strings.Contains(out, "Exit status: 0 done") {
			t.Errorf("handrail %s --help does not say how it may end", strings.Join(words, " "))
		}
		for line := range strings.Lines(out) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > 80 && !longAnyway.MatchString(line) {
				t.Errorf("handrail %s --help has a line of %d characters: %s", strings.Join(words, " "), utf8.RuneCountInString(line), line)
			}
		}
	}
}
