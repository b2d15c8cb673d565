package taskfile

// ProtocolVersion is the version of the lines that server and runner exchange.
// The two programs are released together; a runner of another version is
// refused with a sentence that says so.
const ProtocolVersion = 1

// ProtocolFD is the descriptor on which a runner finds its protocol on systems
// where descriptors are inherited by number. Descriptors 0, 1 and 2 belong to
// the task.
const ProtocolFD = 3

// Names of the environment variables that are the runner's.
const (
	// RunVar carries the id of a run to every process of it, so that stray ones
	// can be found. The task sees it too.
	RunVar = "HANDRAIL_RUN"
	// PipesVar carries two inherited handles, "IN,OUT", on Windows.
	PipesVar = "HANDRAIL_RUNNER_PIPES"
)

// RuntimeVars are settings of the Go runtime that the server gives the runner
// alone: no stack in what a crash prints, and no collection of garbage while it
// starts, which takes a sixth of the time. The runner takes them out of its
// environment at once and puts the caller's own back (Order.Env).
var RuntimeVars = map[string]string{"GOTRACEBACK": "none", "GOGC": "off"}

// Op is what a runner is asked to do. A runner does one thing and ends.
type Op string

// The operations.
const (
	OpList   Op = "list"
	OpRun    Op = "run"
	OpStatus Op = "status"
)

// Order is the one line that a server sends. After it, a line of any content
// or the end of the stream means: stop, and leave nothing alive.
type Order struct {
	Protocol int `json:"protocol"`
	Op       Op  `json:"op"`
	// Dir is the root, an absolute path.
	Dir string `json:"dir"`
	// AllowRemote has the hosts whose cached remote Taskfiles may be used.
	AllowRemote []string `json:"allowRemote,omitempty"`

	// Task is the declared name of the task to run; Match fills its asterisks.
	Task  string         `json:"task,omitempty"`
	Match []string       `json:"match,omitempty"`
	Vars  map[string]any `json:"vars,omitempty"`
	// Raw names the variables whose values are not checked for their place.
	Raw []string `json:"raw,omitempty"`
	// Yes answers every prompt of the task.
	Yes bool `json:"yes,omitempty"`
	// Env has the task's own values of the RuntimeVars.
	Env map[string]string `json:"env,omitempty"`
	// GraceMs is how long processes have between SIGTERM and SIGKILL.
	GraceMs int `json:"graceMs,omitempty"`
}

// Hello is the first line that a runner sends.
type Hello struct {
	Runner   string `json:"runner"` // always RunnerName
	Protocol int    `json:"protocol"`
}

// RunnerName is how a runner introduces itself, and what its program is called.
const RunnerName = "handrail-runner"

// Reply is the second and last line that a runner sends.
type Reply struct {
	// Refused says, with a fault code, why nothing was done.
	Refused *Refusal `json:"refused,omitempty"`

	Listing  *Listing         `json:"listing,omitempty"`
	UpToDate map[string]*bool `json:"upToDate,omitempty"` // by task; null: cannot be told
	Done     *Done            `json:"done,omitempty"`
}

// Refusal is a fault on its way from the runner.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Done is how a run ended.
type Done struct {
	// ExitCode is the task's, or nil where nothing of it ran.
	ExitCode *int `json:"exitCode,omitempty"`
	// Err is go-task's message in one line, relative to the root; empty on success.
	Err string `json:"err,omitempty"`
	// Skipped says why a successful run did nothing; empty where it did.
	Skipped string `json:"skipped,omitempty"`
	// Left is how many processes outlived the task and were ended.
	Left int `json:"left,omitempty"`
}
