//go:build unix

package testenv

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// again is the command that runs this test once more and no other, in program,
// which is this test program or a copy of it.
func again(t *testing.T, program string) *exec.Cmd {
	t.Helper()
	args := []string{"-test.v", "-test.count=1", "-test.run=" + exactly(t.Name())}
	if end, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+time.Until(end).String())
	}
	return exec.CommandContext(t.Context(), program, args...)
}

// judge runs a command made by again and ends the test as the child ended it,
// unless it passed. how says what is different in the child: "as user 65534".
func judge(t *testing.T, cmd *exec.Cmd, how string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	switch {
	case err != nil && cmd.ProcessState == nil:
		LeftOut(t, "this machine starts no test "+how+": "+err.Error())
	case err != nil:
		t.Fatalf("%s: %v\n%s", how, err, text)
	case strings.Contains(text, "--- SKIP: "+t.Name()+" ("):
		_, why, _ := strings.Cut(text, leftOutPrefix)
		why, _, _ = strings.Cut(why, "\n")
		LeftOut(t, how+": "+why)
	case !strings.Contains(text, "--- PASS: "+t.Name()+" ("):
		t.Fatalf("%s the test did not run:\n%s", how, text)
	}
}

// exactly is the -test.run pattern of one test or subtest and no other.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
