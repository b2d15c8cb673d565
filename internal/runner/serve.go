package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"handrail/internal/fault"
	"handrail/internal/taskfile"
)

// gcPercent lets the heap of this short-lived process grow before it is collected.
const gcPercent = 400

// largestOrder is the most bytes that an order may have.
const largestOrder = 4 << 20

// Main is the whole program: it takes one order from the server that started it,
// carries it out, answers, and returns the exit status. Started by anybody else
// it says what it is and returns 2.
func Main() int {
	pipe, err := openPipe()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s runs one task for handrail, which starts it; by itself it does nothing.\n", taskfile.RunnerName)
		return 2
	}
	cleanEnvironment()
	lines := bufio.NewWriter(pipe)
	send(lines, taskfile.Hello{Runner: taskfile.RunnerName, Protocol: taskfile.ProtocolVersion})
	in := bufio.NewReaderSize(pipe, 64<<10)
	var order taskfile.Order
	line, err := readLine(in)
	if err == nil {
		err = decode(line, &order)
	}
	switch {
	case err == io.EOF:
		return 0 // whoever asked wanted the greeting only
	case err != nil:
		send(lines, refuse(fault.New(fault.Internal, "the runner does not understand its order: %v", err)))
		return 2
	case order.Protocol != taskfile.ProtocolVersion:
		send(lines, refuse(fault.New(fault.Unavailable, "this runner speaks protocol %d, not %d", taskfile.ProtocolVersion, order.Protocol)))
		return 2
	}
	for name, value := range order.Env {
		os.Setenv(name, value)
	}
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	watchForStop(in, cancel)
	if order.Op != taskfile.OpRun {
		// Such an order is only calculated, and whatever that is stuck in need not
		// outlive the server's patience.
		context.AfterFunc(stop, func() {
			time.Sleep(leftoverGrace)
			os.Exit(1)
		})
	}
	send(lines, carryOut(stop, order))
	return 0
}

// cleanEnvironment takes out what is meant for the runner alone, before any task
// can see it.
func cleanEnvironment() {
	debug.SetGCPercent(gcPercent)
	for name := range taskfile.RuntimeVars {
		os.Unsetenv(name)
	}
	os.Unsetenv(taskfile.PipesVar)
}

// watchForStop cancels when the server says so, when it is gone, and on signals.
func watchForStop(in io.Reader, cancel func()) {
	// Not ignored, which children would inherit: caught and forgotten.
	pipeGone := make(chan os.Signal, 1)
	notifyPipe(pipeGone)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, stopSignals...)
	go func() {
		<-signals
		cancel()
	}()
	go func() {
		var one [1]byte
		_, _ = in.Read(one[:]) // whatever it is, or the end
		cancel()
	}()
}

func carryOut(stop context.Context, order taskfile.Order) (reply taskfile.Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = refuse(fault.New(fault.Internal, "go-task failed: %s", message(fmt.Errorf("%v", p), order.Dir)))
		}
	}()
	switch order.Op {
	case taskfile.OpList:
		return taskfile.Reply{Listing: list(stop, order.Dir, order.AllowRemote)}
	case taskfile.OpStatus:
		return status(stop, order)
	case taskfile.OpRun:
		return supervise(stop, order)
	}
	return refuse(fault.New(fault.Internal, "the runner knows no operation %q", order.Op))
}

// supervise runs a task and sees to it that nothing of it stays alive.
func supervise(stop context.Context, order taskfile.Order) taskfile.Reply {
	grace := time.Duration(order.GraceMs) * time.Millisecond
	becomeReaper()
	result := make(chan taskfile.Reply, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				result <- refuse(fault.New(fault.Internal, "go-task failed: %s", message(fmt.Errorf("%v", p), order.Dir)))
			}
		}()
		result <- run(stop, order)
	}()
	select {
	case reply := <-result:
		return ended(reply, finish(leftoverGrace))
	case <-stop.Done():
	}
	// The signal goes to what runs now; deferred commands, which start after it,
	// have the rest of the grace.
	deadline := time.Now().Add(grace)
	signalAll(false)
	select {
	case reply := <-result:
		return ended(reply, finish(time.Until(deadline)))
	case <-time.After(grace):
	}
	left := finish(0)
	select {
	case reply := <-result:
		return ended(reply, left)
	case <-time.After(time.Second):
		return taskfile.Reply{Done: &taskfile.Done{Err: "it did not stop when it was told to, and was killed", Left: left}}
	}
}

// finish ends what is left of a run, and returns how many processes that were. A
// command in the background may be about to start just now, and a deferred one
// when the one before is killed: from here on this process starts none.
func finish(grace time.Duration) int {
	locked := make(chan struct{})
	go func() {
		syscall.ForkLock.Lock() // and never unlocked
		close(locked)
	}()
	select {
	case <-locked:
	case <-time.After(time.Second): // a program on a disk that hangs
	}
	return endRest(grace)
}

// leftoverGrace is what processes that outlive their task get before SIGKILL.
const leftoverGrace = 500 * time.Millisecond

// refuse is a reply that says why nothing was done.
func refuse(err error) taskfile.Reply {
	f := fault.Of(err)
	return taskfile.Reply{Refused: &taskfile.Refusal{Code: string(f.Code), Message: f.Message}}
}

func send(w *bufio.Writer, line any) {
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	// A server that is gone needs no answer.
	_, _ = w.Write(append(text, '\n'))
	_ = w.Flush()
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > largestOrder {
			return nil, errors.New("it is too long")
		}
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// decode reads an order, with numbers kept as they were written.
func decode(line []byte, order *taskfile.Order) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	return d.Decode(order)
}
