package note_test

import (
	"fmt"
	"strings"
)

// refusedPath is a path that no tool may accept as a note, and a part of the
// message that says why.
type refusedPath struct{ path, why string }

// refusedPaths is the corpus of refused paths: every family of bad names, in
// every place of a path where it can stand.
func refusedPaths() []refusedPath {
	var out []refusedPath
	add := func(why string, paths ...string) {
		for _, p := range paths {
			out = append(out, refusedPath{p, why})
		}
	}
	// spread puts a bad name at the end (as a note) and in the middle (as a
	// folder) of paths.
	spread := func(why string, folders ...string) {
		for _, f := range folders {
			add(why, f+"/a.md", "ok/"+f+"/a.md", "ok/deep/"+f+"/x/a.md")
		}
	}
	add("empty", "", "a//b.md", "a/", "a.md/", "a/b//c.md", "a///b.md")
	add("absolute", "/a.md", "/etc/passwd", "/", "/srv/a.md", "/./a.md", "/../a.md", "/C:/a.md", "/proc/self/environ", "/dev/null")
	add("UNC", "//server/share/a.md", `\\server\share\a.md`, `\\?\C:\a.md`, `\\.\pipe\a.md`, "//a.md", `\\localhost\c$\a.md`)
	for _, d := range "CDZcdz" {
		add("drive", string(d)+":/a.md", string(d)+`:\a.md`, string(d)+":a.md", string(d)+":")
	}
	add(`".."`, "..", "../a.md", "../../a.md", "a/../b.md", "a/../../b.md", "a/..", "../n-evil/a.md", "a/b/../../../c.md", "../../../../../../etc/passwd", "..//a.md")
	add(`"."`, ".", "./a.md", "a/./b.md", "a/.", "./../a.md", "././a.md")
	for _, c := range []string{":", "*", "?", `"`, "<", ">", "|"} {
		add("must not contain", "xx"+c+".md", "xa"+c+"b.md", "ok/x"+c+"y.md")
		spread("must not contain", "fo"+c+"o", c, "ok"+c)
	}
	for _, p := range []string{`a\b.md`, `a\..\b.md`, `..\a.md`, `ok/..\..\a.md`, `a\.md`, `\a.md`, `ok\deep\a.md`, `ok/a\.md`, `..\..\windows\win.ini`} {
		add(`\`, p)
	}
	add("must not contain", "note.md:stream", "note.md::$DATA", "a.md:secret.md", "ok/a.md:$I30:$INDEX_ALLOCATION")
	for c := range 32 {
		if c == 0 {
			continue
		}
		add("control", fmt.Sprintf("a%cb.md", c), fmt.Sprintf("ok/%c/b.md", c))
	}
	for _, c := range []rune{0x7F, 0x80, 0x85, 0x9F} {
		add("control", "a"+string(c)+".md", "ok/"+string(c)+"x/a.md", "a.md"+string(c))
	}
	add("NUL", "a\x00.md", "a.md\x00", "a.md\x00.png", "\x00a.md", "ok/\x00/a.md", "a\x00/../b.md")
	for _, h := range []string{".git", ".env", ".obsidian", ".a", "...a", "..a", ".ssh", ".handrail-1.tmp", ".GIT", ".trash"} {
		spread("dot", h)
		add("dot", h+".md", "ok/"+h+".md", h)
	}
	add("dot", ".md", "ok/.md", ".MD", "\u200b.git/a.md", "\u200c.env.md", "ok/\u2060.hidden.md", "\ufeff.md", "\U000E0041.x.md")
	for _, e := range []string{"a.", "a..", "a. .", "a.md."} {
		spread("ends in a dot", e)
		add("ends in a dot", e, "ok/"+e)
	}
	for _, e := range []string{"a ", "a. ", "a.md ", " "} {
		spread("ends in a space", e)
		add("ends in a space", e, "ok/"+e)
	}
	devices := []string{"CON", "PRN", "AUX", "NUL", "COM1", "COM9", "LPT1", "LPT9", "COM0", "LPT0", "COM¹", "COM²", "COM³", "LPT¹", "LPT²", "LPT³", "CONIN$", "CONOUT$", "CLOCK$"}
	for _, d := range devices {
		low, mixed := strings.ToLower(d), d[:1]+strings.ToLower(d[1:])
		spread("device", d, mixed+".x")
		add("device", d+".md", low+".md", mixed+".md", "ok/"+low+".tar.md", d+" .md", "ok/"+d+"  .x.md", low+"..md")
	}
	for _, n := range []string{"a", "a.txt", "tasks.json", "a.markdown", "a.md.txt", "a.mdx", "md", "amd", "ok/a.html", "a.m", "ok/md", "a.md~", "README", "a.mD5"} {
		add(".md", n)
	}
	long := strings.Repeat("x", 253)
	add("255 bytes", long+".md", "ok/"+long+".md", strings.Repeat("é", 127)+".md", long+"xyz/a.md", "ok/"+strings.Repeat("日", 86)+"/a.md")
	add("1024 bytes", strings.Repeat("abc/", 255)+"note1.md", strings.Repeat("a/", 511)+"a.md", strings.Repeat("x/", 5000)+"a.md", strings.Repeat("x", 2000), strings.Repeat("../", 400))
	add("Unicode", "a\xff.md", "\xc3\x28.md", "ok/\xe2\x82.md", "a\xed\xa0\x80.md", "a.md\xc0\xaf", "\xf8\x88\x80\x80\x80.md", "..\xc0\xafa.md")
	add("invisible", "\u200b/a.md", "ok/\u2060\u200d/a.md")
	return out
}

// acceptedPaths is the corpus of accepted paths.
func acceptedPaths() []string {
	out := []string{
		"a.md", "A.MD", "a.Md", "a.mD", "note.md", "ok/a.md", "ok/deep/er/a.md", "a b.md", "a  b/c d.md", " a.md", "a.b.md", "a..b.md",
		"a.md.md", "x.txt.md", "2026-07-28.md", "daily/2026/07/28.md", "a,b;c.md", "a'b.md", "(a).md", "[a].md", "{a}.md", "a+b=c.md",
		"a&b.md", "100%.md", "#tag.md", "@home.md", "!important.md", "~a.md", "a~1.md", "$HOME.md", "`a`.md", "^a.md", "-rf.md", "--help.md",
		"_a_.md", "a….md", "été.md", "e\u0301te.md", "naïve/façade.md", "日本語.md", "日本/語/ノート.md", "Привет.md", "שלום.md", "مرحبا.md", "हिन्दी.md",
		"😀.md", "👨\u200d👩\u200d👧.md", "❤\ufe0f.md", "a\u200bb.md", "CONSOLE.md", "con-.md", "console/a.md", "COM.md", "COM10.md", "COMX.md", "LPT.md", "nul1.md",
		"null.md", "auxiliary.md", "aux-notes/a.md", "prn2.md", "xcon.md", "my.con.md", "a/con_/b.md", "COM¹⁰.md", "a.git/b.md", "a.env.md", "md/a.md", "n-evil/a.md",
		"%2e%2e/a.md", "..%2fa.md"[2:], "..."[:0] + "x...y.md",
		strings.Repeat("x", 252) + ".md", strings.Repeat("日", 84) + ".md", strings.Repeat("abc/", 254) + "nots.md", strings.Repeat("a/", 500) + "a.md",
	}
	return out
}
