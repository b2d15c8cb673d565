package taskfile

import (
	"bytes"
	"iter"
	"os"
	"strconv"
	"syscall"
)

// Descendants is every living process below pid, its children first.
func Descendants(pid int) []int {
	children := map[int][]int{}
	for child := range processes() {
		if p, ok := lookAt(child); ok {
			children[p.parent] = append(children[p.parent], child)
		}
	}
	var all []int
	for queue := children[pid]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return all
}

// processes are the ids of all processes.
func processes() iter.Seq[int] {
	return func(yield func(int) bool) {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err == nil && !yield(pid) {
				return
			}
		}
	}
}

// process is what /proc says of one that is alive.
type process struct{ parent, session int }

// lookAt reads /proc/PID/stat: "pid (name) state parent group session …", where
// the name may hold anything, brackets too.
func lookAt(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	session, err2 := strconv.Atoi(string(fields[3]))
	return process{parent, session}, err == nil && err2 == nil
}

// strays are the processes of a run whose runner is gone: those of its session,
// and those that carry its mark.
func strays(runner int, id string) []int {
	mark := []byte(RunVar + "=" + id)
	var all []int
	for pid := range processes() {
		p, ok := lookAt(pid)
		if !ok || pid == os.Getpid() {
			continue
		}
		if p.session == runner || marked(pid, mark) {
			all = append(all, pid)
		}
	}
	return all
}

func marked(pid int, mark []byte) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(entry, mark) {
			return true
		}
	}
	return false
}

// killBelow kills all below pid, and what they start meanwhile.
func killBelow(pid int) {
	for range 1000 {
		all := Descendants(pid)
		if len(all) == 0 {
			return
		}
		for _, child := range all {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	}
}

// groupsEnd says that a runner that answered has ended everything itself.
const groupsEnd = true
