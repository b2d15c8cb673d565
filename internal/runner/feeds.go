package runner

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"handrail/internal/taskfile"
)

// This file judges what programs are fed through redirections and pipes.

// redirects judges here-documents, and what is fed to a shell.
func (j *judgement) redirects(s *syntax.Stmt) {
	if len(s.Redirs) == 0 {
		return
	}
	toShell := s.Cmd != nil && j.feedsShell(s.Cmd)
	for _, r := range s.Redirs {
		if r.Op == syntax.WordHdoc && toShell {
			j.putNode(r.Word, taskfile.Fixed)
		}
		if r.Hdoc == nil {
			continue
		}
		if toShell {
			j.putNode(r.Hdoc, taskfile.Fixed)
		}
		j.document(j.flat(r.Hdoc), j.flat(r.Word), r.Op == syntax.DashHdoc)
	}
}

// document judges the text of a here-document: a line that a caller makes equal
// to its delimiter would end it, and what follows would be commands.
func (j *judgement) document(body, delimiter string, dash bool) {
	j.putAll(body, taskfile.Bare)
	for line := range strings.SplitSeq(body, "\n") {
		if len(holesIn(line)) == 0 {
			continue
		}
		if dash {
			line = strings.TrimLeft(line, "\t")
		}
		pattern := regexp.QuoteMeta(line)
		pattern = markers.ReplaceAllString(pattern, ".*")
		if re, err := regexp.Compile("^" + pattern + "$"); err != nil || re.MatchString(delimiter) {
			j.putAll(line, taskfile.Fixed)
		}
	}
}

// pipe judges what is fed to a shell: echo VALUE | sh.
func (j *judgement) pipe(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	if j.feedsShell(b.Y) {
		j.putNode(b.X, taskfile.Fixed)
		return
	}
	syntax.Walk(b.Y, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			if name := base(j.flat(c.Args[0])); name == "xargs" || name == "parallel" {
				j.putNode(b.X, taskfile.Bare) // spaces would make more arguments
			}
		}
		return true
	})
}

// feedsShell reports whether a command's input may reach a program that takes it
// for a program.
func (j *judgement) feedsShell(root syntax.Node) bool {
	found := j.functions
	syntax.Walk(root, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok {
			for _, text := range j.texts(c.Args) {
				name := base(text)
				found = found || shells[name] || name == "ssh" || interprets(name) && !filters[name]
			}
		}
		return !found
	})
	return found
}
