package taskfile

import "strings"

// reserved are the names that go-task, the shell, or the programs that tasks
// commonly start give a meaning of their own: a caller who sets one could change
// what runs, without a word of it in the Taskfile.
var reserved = set(`
	TASK TASK_EXE TASK_DIR TASK_VERSION TASKFILE TASKFILE_DIR ROOT_TASKFILE ROOT_DIR
	USER_WORKING_DIR ALIAS MATCH ITEM KEY CHECKSUM TIMESTAMP EXIT_CODE
	PATH_LIST_SEPARATOR FILE_PATH_SEPARATOR
	CLI_ARGS CLI_ARGS_LIST CLI_FORCE CLI_SILENT CLI_VERBOSE CLI_OFFLINE CLI_ASSUME_YES

	PATH HOME SHELL IFS PWD OLDPWD UID EUID TMPDIR BASH_ENV BASHOPTS SHELLOPTS CDPATH GLOBIGNORE
	PS1 PS2 PS4 PROMPT_COMMAND HISTFILE

	EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE MANPAGER SSH_ASKPASS SUDO_ASKPASS
	GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF
	GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR
	GOFLAGS GOENV GOROOT GOTOOLDIR MAKEFLAGS MFLAGS MAKEFILES RUSTC RUSTC_WRAPPER RUSTFLAGS
	NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT
	PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB LUA_INIT LUA_PATH LUA_CPATH
	JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS
	DOTNET_STARTUP_HOOKS ERL_FLAGS R_PROFILE
`)

// reservedPrefixes begin more names of the same sort.
var reservedPrefixes = []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "HANDRAIL_", "TASK_X_", "NPM_CONFIG_", "CARGO_BUILD_", "PIP_"}

// Reserved reports whether no caller may ever set the variable, whatever the
// Taskfile declares.
func Reserved(name string) bool {
	upper := strings.ToUpper(name)
	if reserved[upper] {
		return true
	}
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return false
}

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(words) {
		all[word] = true
	}
	return all
}
