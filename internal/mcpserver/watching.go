package mcpserver

import (
	"maps"
	"slices"
	"sync"
)

// watching is whatever hears of changes for a server: on from the start, or
// from the first subscription to resources.
type watching struct {
	begin func(announce func(Notice)) (stop func(), err error)
	late  bool

	mu     sync.Mutex
	stop   func() // of what runs
	served int    // sessions or users that are served
	// uris are the resources subscribed to through the SDK: canonical, and how many
	// times as clients wrote them.
	uris map[string]map[string]int
}

// startWatch begins to serve; the function that it returns ends that.
func (s *Server) startWatch() (stop func()) {
	s.watch.mu.Lock()
	s.watch.served++
	s.watch.mu.Unlock()
	if !s.watch.late {
		s.watchNow()
	}
	return func() {
		s.watch.mu.Lock()
		s.watch.served--
		stop := s.watch.stop
		if s.watch.served == 0 {
			s.watch.stop = nil
		} else {
			stop = nil
		}
		s.watch.mu.Unlock()
		if stop != nil {
			stop()
		}
	}
}

// watchNow begins to watch if nobody does yet. A server that cannot hear of
// changes still serves.
func (s *Server) watchNow() {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.begin == nil || s.watch.stop != nil || s.watch.served == 0 {
		return
	}
	stop, err := s.watch.begin(s.Announce)
	if err != nil {
		s.logger.Error("changes are not announced", "error", err)
		return
	}
	s.watch.stop = stop
}

// subscribed counts subscriptions through the SDK.
func (w *watching) subscribed(uri string, n int) {
	canonical := canonicalURI(uri)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uris == nil {
		w.uris = map[string]map[string]int{}
	}
	if w.uris[canonical] == nil {
		w.uris[canonical] = map[string]int{}
	}
	if w.uris[canonical][uri] += n; w.uris[canonical][uri] <= 0 {
		delete(w.uris[canonical], uri)
	}
	if len(w.uris[canonical]) == 0 {
		delete(w.uris, canonical)
	}
}

// written are the ways in which clients of the SDK wrote a canonical URI; all
// of them for the empty one.
func (w *watching) written(canonical string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if canonical != "" {
		return slices.Collect(maps.Keys(w.uris[canonical]))
	}
	var all []string
	for _, uris := range w.uris {
		all = slices.AppendSeq(all, maps.Keys(uris))
	}
	return all
}
