package cli_test

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"

	"handrail/internal/cli"
)

func TestWhatATerminalWouldActOnIsWrittenAsItsEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain 文字 é 👍", "plain 文字 é 👍"},
		{"\x1b[31mred", `\u001b[31mred`},
		{"bell\a tab\t new\nline\r", `bell\u0007 tab\u0009 new\u000aline\u000d`},
		{"c1 \u009b", `c1 \u009b`},
		{"turned \u202egnp.exe", `turned \u202egnp.exe`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`},
		{"tag \U000e0041", `tag \udb40\udc41`},
		{"broken \xff\xc0 bytes", `broken \xff\xc0 bytes`},
		{"replacement \ufffd", `replacement \ufffd`},
		{"", ""},
	} {
		if got := cli.Visible(c.in); got != c.want {
			t.Errorf("%q is shown as %q, not %q", c.in, got, c.want)
		}
	}
}

func FuzzVisibleTextHasNoControlCharacters(f *testing.F) {
	f.Add("a\x1bb\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range cli.Visible(s) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Fatalf("%q is shown with %U", s, r)
			}
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var was, is string
		if json.Unmarshal(b, &was) != nil || json.Unmarshal([]byte(cli.VisibleJSON(b)), &is) != nil || was != is {
			t.Fatalf("%q means something else once it is visible: %q", was, is)
		}
	})
}

func TestAMistypedWordIsMatchedWithTheNearest(t *testing.T) {
	names := []string{"db", "read-only", "log-level", "tasks", "tools"}
	for _, c := range []struct{ word, want string }{
		{"read-onyl", " (did you mean --read-only?)"},
		{"readonly", " (did you mean --read-only?)"},
		{"log", " (did you mean --log-level?)"},
		{"taks", " (did you mean --tasks?)"},
		{"d", " (did you mean --db?)"},
		{"nothing-like-it", ""},
		{"", ""},
	} {
		if got := cli.Meant(c.word, names, "--"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.word, got, c.want)
		}
	}
}

func TestColoursAreForTerminalsAndCanBeTurnedOff(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the null device is no console there
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	file, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	with := func(f *os.File, vars map[string]string) cli.Env {
		return cli.Env{Out: f, Getenv: func(name string) string { return vars[name] }}
	}
	if !cli.Coloured(with(device, nil)) {
		t.Error("a terminal gets no colours")
	}
	for name, env := range map[string]cli.Env{
		"a file":               with(file, nil),
		"NO_COLOR":             with(device, map[string]string{"NO_COLOR": "1"}),
		"a terminal that lies": with(device, map[string]string{"TERM": "dumb"}),
	} {
		if cli.Coloured(env) {
			t.Errorf("%s gets colours", name)
		}
	}
}
