package taskfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Names of a run's two streams.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// longestLine is how many bytes of a line are forwarded while a run goes on.
const longestLine = 2 << 10

// stream takes one of a run's two outputs: it counts, cleans, keeps the head and
// the tail, fills the log file, and cuts out lines.
type stream struct {
	name  string
	clean cleaner
	kept  keep
	log   *logFile
	lines *lines

	mu    sync.Mutex
	bytes int64 // as the task printed them
	last  []byte
	buf   []byte
}

func newStream(name string, budget int, log *logFile, lines *lines) *stream {
	return &stream{name: name, kept: keep{budget: budget}, log: log, lines: lines}
}

// drain reads until the end of the stream.
func (s *stream) drain(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		s.write(buf[:n])
		if err != nil {
			s.finish()
			return
		}
	}
}

func (s *stream) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += int64(len(p))
	s.buf = s.clean.clean(s.buf[:0], p)
	s.take(s.buf)
}

func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s.clean.end(nil))
	if len(s.last) > 0 {
		s.lines.put(s.name, s.last)
		s.last = nil
	}
}

func (s *stream) take(p []byte) {
	s.kept.add(p)
	s.log.write(p)
	if s.lines == nil {
		return
	}
	for {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		s.last = append(s.last, part[:min(len(part), longestLine-len(s.last))]...)
		if i < 0 {
			return
		}
		s.lines.put(s.name, s.last)
		s.last = s.last[:0]
		p = p[i+1:]
	}
}

// betweenProgress is how long the latest line is kept back after one was told.
const betweenProgress = 100 * time.Millisecond

// lines hands the lines of both streams on without ever holding a task up: what
// the receiver cannot take in time is dropped, and counted. A line that nobody
// will get costs no memory.
type lines struct {
	receive  func(stream, text string)
	progress func(text string)

	queue chan [2]string
	wake  chan struct{} // a token when there is a latest line
	ended chan struct{}
	done  sync.WaitGroup

	mu      sync.Mutex
	latest  []byte
	dropped int
}

// newLines is nil where nobody listens.
func newLines(receive func(stream, text string), progress func(text string)) *lines {
	if receive == nil && progress == nil {
		return nil
	}
	l := &lines{receive: receive, progress: progress, queue: make(chan [2]string, 512), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if receive != nil {
		l.done.Go(l.forward)
	}
	if progress != nil {
		l.done.Go(l.report)
	}
	return l
}

func (l *lines) put(stream string, text []byte) {
	if l == nil || len(bytes.TrimSpace(text)) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.progress != nil {
		l.latest = append(l.latest[:0], text...)
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	switch {
	case l.receive == nil:
	case len(l.queue) == cap(l.queue): // only we fill it
		l.dropped++
	default:
		l.queue <- [2]string{stream, shown(text)}
	}
}

// shown is a line that may have been cut within a character.
func shown(text []byte) string { return strings.ToValidUTF8(string(text), "") }

// end says what was dropped and waits until all is told.
func (l *lines) end() {
	if l == nil {
		return
	}
	close(l.queue)
	close(l.ended)
	l.done.Wait()
}

func (l *lines) forward() {
	for line := range l.queue {
		l.receive(line[0], line[1])
	}
	l.mu.Lock()
	dropped := l.dropped
	l.mu.Unlock()
	if dropped > 0 {
		l.receive(Stderr, fmt.Sprintf("[%d lines were too many to forward]", dropped))
	}
}

// report tells the latest line at once, and then no more often than
// betweenProgress; the last one of all is always told.
func (l *lines) report() {
	for {
		select {
		case <-l.wake:
			l.tell()
		case <-l.ended:
			l.tell()
			return
		}
		select {
		case <-time.After(betweenProgress):
		case <-l.ended:
		}
	}
}

func (l *lines) tell() {
	l.mu.Lock()
	text := shown(l.latest)
	l.latest = l.latest[:0]
	l.mu.Unlock()
	if text != "" {
		l.progress(text)
	}
}

// logFile is the bounded copy of a stream on disk. A nil one takes nothing.
type logFile struct {
	f     *os.File
	room  int64
	full  bool
	total int64
}

func openLog(path string, most int64) (*logFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &logFile{f: f, room: most}, nil
}

func (l *logFile) write(p []byte) {
	if l == nil || l.full || len(p) == 0 {
		return
	}
	if n := l.room; int64(len(p)) > n {
		for n > 0 && !utf8.RuneStart(p[n]) {
			n--
		}
		p, l.full = p[:n], true
	}
	n, err := l.f.Write(p)
	l.room -= int64(n)
	l.total += int64(n)
	if err != nil {
		l.full = true // a full disk: the run matters more than its log
	}
	if l.full {
		_, _ = fmt.Fprintf(l.f, "\n[the log ends here: %d bytes are kept]\n", l.total)
	}
}

func (l *logFile) close() {
	if l != nil {
		_ = l.f.Close()
	}
}
