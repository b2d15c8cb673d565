package runner_test

import "testing"

func TestWhatFollowsAnOptionThatMayAnnounceAScriptHasNoBlank(t *testing.T) {
	l := landing{name: "an option -c of any program", task: `cmd: prog -c "{{.X}}"`}
	_, d := l.declared(t)
	for value, want := range map[string]bool{"abc": true, "a/b.c": true, "a b": false, "a;b": false, "a'b": false} {
		if got := accepts(d, value) == nil; got != want {
			t.Errorf("%q is accepted: %v", value, got)
		}
	}
}
