package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Nothing else on the machine can reach a server over stdio: it has no socket.
func TestWithoutHTTPNoPortIsOpened(t *testing.T) {
	t.Parallel()
	for name, start := range servers(t) {
		eachEra(t, both, func(t *testing.T, e era) {
			cmd := start()
			cmd.Env = append(cmd.Env, "MCP_HOST=127.0.0.1", "MCP_PORT=0", "HANDRAIL_LISTEN=127.0.0.1:0")
			w := e.start(t, cmd)
			w.send(e.request("1", "tools/list", ""))
			w.reply("1")
			dir := fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid)
			open, err := os.ReadDir(dir)
			if err != nil || len(open) < 3 {
				t.Fatalf("%s: %d open files, %v", name, len(open), err)
			}
			for _, fd := range open {
				target, err := os.Readlink(dir + "/" + fd.Name())
				if err == nil && strings.HasPrefix(target, "socket:") {
					t.Errorf("%s has a socket open: %s", name, target)
				}
			}
		})
	}
}
