package taskfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"handrail/internal/fault"
)

// Grace is what processes have between SIGTERM and SIGKILL.
const Grace = 5 * time.Second

// runnerGrace is the runner's share of it: it kills first, and still answers.
const runnerGrace = Grace - 500*time.Millisecond

// drainTime is how long the pipes of a run may stay open after its runner is gone
// and everything below it.
const drainTime = 2 * time.Second

// Run runs a task to its end. It faults before anything is started with NotFound,
// InvalidInput, ConfirmationRequired (the task has a prompt and Yes is not set),
// Conflict (the task is ambiguous), Unavailable (no runner, too many wait, the
// Taskfile is broken), Timeout and Cancelled; the result's RunID is empty then.
// Faults after the start come with the result: TaskFailed, Timeout, Cancelled,
// and Internal where the runner broke down.
func (p *Project) Run(ctx context.Context, req Request) (Result, error) {
	result := Result{Task: Fill(req.Task, req.Match)}
	plan := p.Plan()
	info, err := plan.Find(req.Root, req.Task)
	if err != nil {
		return result, err
	}
	d := info.Decl
	result.Root = info.Root
	raw := p.rawVars(d.Task)
	vars, err := Check(d, req.Vars, req.Match, raw)
	if err != nil {
		return result, err
	}
	result.Task = Fill(d.Task, req.Match)
	root := p.rootAt(info.URI)
	if root == nil {
		return result, fault.New(fault.Unavailable, "the root %q is going away; try again", info.Root)
	}
	if hit, err := Hit(root.listing().Tasks, result.Task); err != nil || hit != d.Task {
		return result, fault.New(fault.InvalidInput, "MATCH: %q is the name of another task, %q", result.Task, hit)
	}
	if len(d.Prompts) > 0 && !req.Yes {
		return result, fault.New(fault.ConfirmationRequired, "task %q asks %q, and nobody has answered", d.Task, strings.Join(d.Prompts, " "))
	}
	leave, err := p.queue.enter(ctx, root.uri+"\x00"+d.Task, d.Task)
	if err != nil {
		return result, err
	}
	defer leave()
	order := Order{
		Op: OpRun, Dir: root.dir, AllowRemote: p.o.AllowRemote, Task: d.Task, Match: req.Match, Vars: vars,
		Raw: raw, Yes: req.Yes, GraceMs: int(runnerGrace.Milliseconds()),
	}
	return p.execute(ctx, order, req, result)
}

// Check reports what Run would refuse about the values of a request for a task:
// InvalidInput, as the function Check.
func (p *Project) Check(d Decl, req Request) error {
	_, err := Check(d, req.Vars, req.Match, p.rawVars(d.Task))
	return err
}

// rawVars are the variables of a task that are not checked for their place.
func (p *Project) rawVars(task string) []string {
	var names []string
	for _, entry := range p.o.RawVars {
		if i := strings.LastIndexByte(entry, '.'); i >= 0 && entry[:i] == task {
			names = append(names, entry[i+1:])
		}
	}
	return names
}

// execute starts a runner and sees a run through.
func (p *Project) execute(ctx context.Context, order Order, req Request, result Result) (Result, error) {
	path, err := p.runner()
	if err != nil {
		return result, err
	}
	pipes, err := openStreams()
	if err != nil {
		return result, fault.Wrap(err, fault.Unavailable, "the run cannot be started: too many files are open")
	}
	defer pipes.close()
	id := p.o.NewID()
	logs := p.logs.open(id)
	began := p.o.Now()
	proc, err := start(ctx, spec{
		path: path, dir: order.Dir, id: id, env: p.o.Env,
		stdout: pipes.outW, stderr: pipes.errW,
	})
	pipes.started()
	if err != nil {
		logs.discard()
		return result, err
	}
	result.RunID = id
	listen := newLines(req.Line, req.Progress)
	out := newStream(Stdout, p.o.OutputBytes, logs.out, listen)
	errs := newStream(Stderr, p.o.OutputBytes, logs.err, listen)
	var readers sync.WaitGroup
	readers.Go(func() { out.drain(pipes.outR) })
	readers.Go(func() { errs.drain(pipes.errR) })

	reply, cause := p.converse(ctx, proc, order)
	waitFor(&readers, drainTime, pipes.hangUp)
	listen.end()
	logs.close()
	result.Duration = p.o.Now().Sub(began)
	result.collect(out, errs, p.o.OutputBytes)
	result.StdoutLog, result.StderrLog = logs.out != nil, logs.err != nil
	return result.conclude(reply, cause, p.o.Timeout)
}

// ending is who ended a run.
type ending int

const (
	byItself ending = iota
	byDeadline
	byCaller
	byCrash
)

// converse gives the order and waits for the answer, under the run's deadline.
// When it returns, nothing of the run is alive.
func (p *Project) converse(ctx context.Context, proc *runnerProcess, order Order) (Reply, ending) {
	type answer struct {
		reply Reply
		err   error
	}
	answers := make(chan answer, 1)
	go func() { // a runner that takes no order is ended like one that does not answer
		if err := proc.order(order, p.o.Env); err != nil {
			proc.kill()
		}
		reply, err := proc.reply()
		answers <- answer{reply, err}
	}()
	deadline := time.NewTimer(p.o.Timeout)
	defer deadline.Stop()
	how := byItself
	var got answer
	select {
	case got = <-answers:
	case <-deadline.C:
		how = byDeadline
	case <-ctx.Done():
		how = byCaller
	}
	if how != byItself {
		proc.stop()
		grace := time.NewTimer(Grace)
		defer grace.Stop()
		select {
		case got = <-answers:
		case <-grace.C:
			proc.kill()
			got = <-answers
		}
	}
	// The answer is the runner's last word: it ends by itself, or is made to.
	select {
	case <-proc.exited:
	case <-time.After(time.Second):
		proc.kill()
	}
	proc.close()
	if got.err != nil || !groupsEnd {
		proc.sweep()
	}
	if got.err != nil && how == byItself {
		how = byCrash
	}
	return got.reply, how
}

// waitFor waits for the readers of the pipes, and hangs up on them after a time.
func waitFor(readers *sync.WaitGroup, patience time.Duration, hangUp func()) {
	done := make(chan struct{})
	go func() {
		readers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		hangUp()
		<-done
	}
}

// collect puts the two streams into the result, within one budget.
func (r *Result) collect(out, errs *stream, budget int) {
	forOut, forErr := share(budget, &out.kept, &errs.kept)
	var cutOut, cutErr bool
	r.Stdout, cutOut = out.kept.text(forOut)
	r.Stderr, cutErr = errs.kept.text(forErr)
	r.Truncated = cutOut || cutErr
	r.StdoutBytes, r.StderrBytes = out.bytes, errs.bytes
}

// crash is how Go begins its last words.
var crash = regexp.MustCompile(`(?m)^(panic: |fatal error: |runtime: |SIG[A-Z]+: )`)

// conclude turns the runner's answer into the result and its fault.
func (r Result) conclude(reply Reply, how ending, timeout time.Duration) (Result, error) {
	if refused := reply.Refused; refused != nil && how == byItself {
		r.Err, r.RunID, r.StdoutLog, r.StderrLog = refused.Message, "", false, false
		return r, fault.New(fault.Code(refused.Code), "%s", refused.Message)
	}
	done := reply.Done
	if done == nil {
		done = &Done{}
	}
	r.Left, r.Skipped = done.Left, done.Skipped
	switch how {
	case byDeadline:
		r.TimedOut = true
		r.Err = fmt.Sprintf("it took longer than %s and was ended", timeout)
		return r, fault.New(fault.Timeout, "task %q: %s", r.Task, r.Err)
	case byCaller:
		r.Cancelled = true
		r.Err = "it was cancelled"
		return r, fault.New(fault.Cancelled, "task %q was cancelled", r.Task)
	case byCrash:
		words := r.Stderr
		if at := crash.FindStringIndex(r.Stderr); at != nil {
			r.Stderr, words = r.Stderr[:at[0]], r.Stderr[at[0]:]
		}
		r.Err = "go-task broke down while it ran"
		return r, fault.Wrap(errors.New(words), fault.Internal, "task %q: %s", r.Task, r.Err)
	}
	r.ExitCode, r.Err = done.ExitCode, done.Err
	if r.Err != "" {
		return r, fault.New(fault.TaskFailed, "task %q failed: %s", r.Task, r.Err)
	}
	return r, nil
}

// streams are the pipes that a task prints to.
type streams struct{ outR, outW, errR, errW *os.File }

func openStreams() (*streams, error) {
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, outR.Close(), outW.Close())
	}
	return &streams{outR, outW, errR, errW}, nil
}

// started closes our copies of what the runner writes to.
func (s *streams) started() {
	_ = s.outW.Close()
	_ = s.errW.Close()
}

func (s *streams) hangUp() {
	_ = s.outR.Close()
	_ = s.errR.Close()
}

func (s *streams) close() {
	s.started()
	s.hangUp()
}
