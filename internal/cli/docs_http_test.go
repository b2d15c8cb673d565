package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/internal/testenv"
)

var (
	shBlock   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	exports   = regexp.MustCompile(`(?s)export [A-Z_]+='.*?'\n`)
	serves    = regexp.MustCompile(`(?m)^(.* )?handrail [a-z]+ --http$`)
	listening = regexp.MustCompile(`"msg":"listening","url":"(http://[^"]+)/mcp"`)
)

// The pages on HTTP start servers and call them. Each server is started as its
// page says, with the tokens of the page's first one, on a free port; the page's
// own call is made to the first.
func TestTheServersOfThePagesStartAndAnswerTheirCalls(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.LeftOut(t, "no signal ends a server in order here; run the pages' servers on Linux or macOS")
	}
	bin := programs(t)
	servers, calls := 0, 0
	for path, text := range pages(t) {
		tokens, call := "", ""
		blocks := shBlock.FindAllStringSubmatch(text, -1)
		for _, block := range blocks {
			if strings.HasPrefix(block[1], "curl ") {
				call = block[1]
			}
		}
		for _, block := range blocks {
			if !serves.MatchString(block[1]) {
				continue
			}
			servers++
			script := block[1]
			own := strings.Join(exports.FindAllString(script, -1), "")
			if tokens == "" {
				tokens = own
			}
			if own == "" {
				script = tokens + script
			}
			url, stop := serveBlock(t, bin, path, script)
			if own != "" && call != "" {
				calls++
				out, err := sh(t, bin, strings.ReplaceAll(call, "http://127.0.0.1:3000", url)).CombinedOutput()
				if err != nil || !strings.Contains(string(out), `"result":5`) {
					t.Errorf("%s: the call is answered with %s, %v", path, out, err)
				}
			}
			stop()
		}
	}
	if servers < 4 || calls < 2 {
		t.Errorf("only %d servers and %d calls were found", servers, calls)
	}
}

// sh is a command that runs a script in a folder of its own.
func sh(t *testing.T, bin, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-eu", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"MCP_PORT=0", "XDG_STATE_HOME="+filepath.Join(cmd.Dir, "state"))
	return cmd
}

// serveBlock runs a block that ends in a server, and returns where it listens, and
// how to stop it: by the signal of Ctrl-C, upon which it must end in order.
func serveBlock(t *testing.T, bin, path, script string) (url string, stop func()) {
	t.Helper()
	// The shell becomes the server, so that the signal reaches it.
	cmd := sh(t, bin, serves.ReplaceAllStringFunc(script, func(s string) string {
		return strings.Replace(s, "handrail ", "exec handrail ", 1)
	}))
	log := &logged{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if m := listening.FindStringSubmatch(log.String()); m != nil {
			url = m[1]
			break
		}
		if len(ended) > 0 || time.Now().After(deadline) {
			_ = cmd.Process.Kill() // it may be gone already
			t.Fatalf("%s: this does not serve:\n%s\n%s", path, script, log)
		}
	}
	return url, func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		kill := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := <-ended; err != nil {
			t.Errorf("%s: the server ended with %v:\n%s", path, err, log)
		}
	}
}

// logged is what a process has printed so far.
type logged struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// notRun is the note above a block that no test runs, with the reason.
var notRun = regexp.MustCompile("(?s)<!-- not run: [^\n]+ -->\n$")

func TestEveryBlockOfCommandsInThePagesIsTestedOrSaysWhyNot(t *testing.T) {
	for path, text := range pages(t) {
		if course.MatchString(filepath.ToSlash(path)) {
			continue // examples/internal/course runs these
		}
		for _, at := range shBlock.FindAllStringSubmatchIndex(text, -1) {
			block, before := text[at[2]:at[3]], text[:at[0]]
			switch {
			case strings.HasSuffix(before, "<!-- test -->\n"), notRun.MatchString(before):
			case serves.MatchString(block), strings.HasPrefix(block, "curl "): // above
			case onlyHosts(block): // TestTheProgramAcceptsEveryEntryForAHostInThePages
			default:
				t.Errorf("%s: nothing runs these commands, and the page does not say why:\n%s", path, block)
			}
		}
	}
}

var course = regexp.MustCompile(`/(learning-path|exercises|primitives)\.md$`)

// onlyHosts reports whether a block does nothing but tell a host of a server.
func onlyHosts(block string) bool {
	for line := range strings.Lines(block) {
		if !strings.Contains(line, "claude mcp ") {
			return false
		}
	}
	return true
}
