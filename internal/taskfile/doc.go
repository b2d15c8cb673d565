// Package taskfile owns a project's own commands as a caller may run them: which
// tasks its Taskfiles declare, what each tool of theirs is called and takes,
// which values may be handed in, and how a run is started, watched and ended. It
// starts one program only, the runner (handrail-runner), and speaks with it over
// a pair of pipes in lines of JSON. It refuses to know go-task, a shell, and any
// protocol of the callers: those are the runner's and the server's.
//
// What a Taskfile says is trusted; what a caller says is not. A caller's value
// is checked against every place where the Taskfile puts it (see Place) before
// anything is started, and once more by the runner on the very tasks that it is
// about to run.
package taskfile
