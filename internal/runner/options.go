package runner

import (
	"strings"

	"handrail/internal/taskfile"
)

// This file judges arguments of programs that nothing else is known of: by the
// names of their options, and by a program's name where it cannot be told.

var (
	// lineTakers hand an argument to a shell as a whole line.
	lineTakers = words("flock su runuser sg script watch tmux screen parallel concurrently entr nodemon")
	// runningOptions name, whatever the program, what is run.
	runningOptions = words(`--command --cmd --exec --eval --run --rsh --rsync-path --to-command --checkpoint-action
		--use-compress-program --pager --editor --shell --upload-pack --receive-pack --exec-path --init-command
		--ssh-command --proxy-command --preprocessor --entrypoint --hook --pre-exec --post-exec`)
	// ownOptions do so for one program.
	ownOptions = map[string]map[string]bool{
		"git": words("-c --config-env"), "git clone": words("-u -c"), "rsync": words("-e"), "tar": words("-I -F"), "man": words("-P -H"),
		"scp": words("-o -S -J"), "sftp": words("-o -S -J"), "less": words("+"), "zip": words("-TT"), "curl": words("-K --config"),
		"docker": words("--entrypoint"), "podman": words("--entrypoint"), "tcpdump": words("-z"), "wget": words("--use-askpass"),
	}
)

// unsure judges the arguments of a program whose name the Taskfile leaves open:
// it may be a shell.
func (j *judgement) unsure(args []string) {
	j.each(args, taskfile.Bare)
	if hasScript(args) {
		j.shell(args)
	}
}

// running judges the values of options that say what is run.
func (j *judgement) running(name string, args []string) {
	own := ownOptions[name]
	for i, arg := range args {
		if name == "git" && !strings.HasPrefix(arg, "-") && (i == 0 || !own[args[i-1]]) {
			// Past its subcommand -c is a new branch, and -u an upstream.
			name, own = "git "+arg, ownOptions["git "+arg]
		}
		if lineTakers[name] && !strings.HasPrefix(arg, "-") && len(holesIn(arg)) > 0 {
			j.script(arg)
			continue
		}
		option, value, joined := strings.Cut(arg, "=")
		if !strings.HasPrefix(option, "-") {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case own[option]:
			// NAME=PROGRAM, or a program: neither is the caller's to begin.
			if key, program, named := strings.Cut(value, "="); named && len(holesIn(key)) == 0 {
				value = program
			}
			j.script(value)
		case runningOptions[option]:
			j.script(value)
		case option == "-c" && !strings.HasPrefix(name, "git "):
			j.putAll(value, taskfile.Bare) // a script, or something harmless: it cannot be told
		}
	}
}
