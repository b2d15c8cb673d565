package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"handrail/internal/tool"
)

// terminal is where a person types. As an MCP client of the modern era would, it
// lets the first call end with the question, puts that to the person without a
// deadline, and calls again with the answer. It implements tool.Asker.
type terminal struct {
	in    *bufio.Reader
	out   io.Writer
	asked *tool.Question // what the person has answered
	yes   bool
}

// newTerminal is nil unless a person can see a question and type an answer:
// both ends are a terminal. stdout is not looked at, so that a result can go
// into a pipe.
func newTerminal(env Env) *terminal {
	if !isTerminal(env.In) || !isTerminal(env.Err) {
		return nil
	}
	return &terminal{in: bufio.NewReader(env.In), out: env.Err}
}

// Ask implements tool.Asker.
func (t *terminal) Ask(_ context.Context, _ tool.Tool, _ []byte, q *tool.Question) (tool.Answer, string, error) {
	switch {
	case t.asked == nil:
		return tool.Pending, "", nil
	case !t.yes:
		return tool.No, "you did not agree; nothing was changed", nil
	case t.asked.Target != q.Target:
		return tool.No, "it changed while you were asked; nothing was done, so look and call again", nil
	}
	q.Given = t.asked.Given
	return tool.Yes, "", nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	// The null device is a character device too, and nobody sits at it.
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull && !sameFile(info, os.DevNull)
}

func sameFile(info os.FileInfo, path string) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(info, other)
}

// put asks the person and keeps the answer. The end of input is a no, and so is
// the end of ctx.
func (t *terminal) put(ctx context.Context, q *tool.Question) {
	t.asked = q
	yes := make(chan bool, 1)
	go func() { yes <- t.dialog(q) }() // a read cannot be interrupted
	select {
	case t.yes = <-yes:
	case <-ctx.Done():
		fmt.Fprintln(t.out)
	}
}

func (t *terminal) dialog(q *tool.Question) bool {
	fmt.Fprintln(t.out, visibleLines(q.Message))
	q.Given = map[string]string{}
	for _, f := range q.Fields {
		label := "  " + f.Name
		if f.Doc != "" {
			label += " (" + f.Doc + ")"
		}
		if len(f.Enum) > 0 {
			label += ", one of " + strings.Join(f.Enum, ", ")
		}
		for {
			line, ok := t.line(label + ": ")
			if !ok {
				return false
			}
			if q.Given[f.Name] = line; len(f.Enum) == 0 || slices.Contains(f.Enum, line) {
				break
			}
		}
	}
	if q.OnlyFields {
		return true
	}
	line, _ := t.line("Type yes to go on: ")
	return strings.EqualFold(line, "yes") || strings.EqualFold(line, "y")
}

// line asks for one line; false where there is none.
func (t *terminal) line(label string) (string, bool) {
	fmt.Fprint(t.out, visible(label))
	line, err := t.in.ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(t.out)
		return "", false
	}
	return strings.TrimSpace(line), true
}
