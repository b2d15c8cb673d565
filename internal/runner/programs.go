package runner

import (
	"path"
	"strings"
)

// Programs that do something with their arguments which a shell's rules of
// quoting say nothing about.
var (
	shells = words("sh bash dash zsh ksh ash mksh fish busybox")
	// wrappers run the program that their arguments name.
	wrappers = words(`sudo doas env exec command builtin nohup nice ionice time timeout setsid stdbuf xargs
		strace ltrace chroot flock unbuffer caffeinate watch parallel entr npx bunx uvx pipx dlx su runuser
		systemd-run script expect tmux screen nsenter unshare firejail bwrap catchsegv valgrind gdb dotenv direnv
		start-stop-daemon daemonize at batch retry chronic ts nodemon concurrently`)
	// interpreters take a program of their own language as an argument.
	interpreters = words(`python python2 python3 pypy node nodejs deno bun ruby perl php lua luajit tclsh osascript
		pwsh powershell cmd rscript julia groovy scala elixir erl ghci irb ipython awk gawk mawk nawk sed gsed ed ex
		vi vim nvim emacs jq yq xq dasel gron psql mysql mariadb sqlite3 mongosh redis-cli bc dc m4 gnuplot octave`)
	// makers take NAME=VALUE settings of their own among their arguments.
	makers = words("make gmake bmake nmake just task ninja rake cmake dd")
	// plainSpeakers have no option that does anything.
	plainSpeakers = words("echo : true false")
	// filters are interpreters whose input is data and never a program.
	filters = words("sed gsed awk gawk mawk nawk jq yq xq dasel gron")
	// namers are builtins whose arguments are names of variables, options or programs.
	namers = words("read unset mapfile readarray getopts set shopt alias unalias enable hash bind complete export declare local readonly typeset printf")
	// evalOptions announce a program in the next argument.
	evalOptions = words("-c -e -p -r -E -n -Command -EncodedCommand --eval --print --command --expression --execute --require --import -f --file -ne -pe -le -lne")
)

// launchers are programs of which a subcommand runs the program that its
// arguments name.
var launchers = map[string]map[string]bool{
	"npm": words("exec x"), "pnpm": words("dlx exec"), "yarn": words("dlx exec"), "bun": words("x"),
	"uv": words("run tool"), "poetry": words("run"), "pipenv": words("run"), "pdm": words("run"), "hatch": words("run"),
	"pipx": words("run"), "bundle": words("exec"), "mise": words("exec x"), "asdf": words("exec"), "rustup": words("run"),
	"nix": words("run shell develop"), "dotnet": words("exec"), "direnv": words("exec"), "systemctl": words("edit"),
}

func words(list string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(list) {
		all[word] = true
	}
	return all
}

// base is the name of a program without its folder and ".exe".
func base(word string) string {
	return strings.ToLower(strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe"))
}

// interprets reports whether a program is an interpreter, in any version:
// python3.12 is one.
func interprets(name string) bool {
	return interpreters[name] || interpreters[strings.TrimRight(name, "0123456789.-")]
}

// takesCommands reports whether a program's arguments or input can be commands.
func takesCommands(name string) bool {
	return shells[name] || wrappers[name] || interprets(name) || name == "eval" || name == "ssh" || name == "find" ||
		name == "." || name == "source" || name == "trap"
}

// isScriptOption reports whether a shell's option announces a script: -c, -lc.
func isScriptOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.Contains(word, "c")
}
