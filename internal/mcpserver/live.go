package mcpserver

import (
	"bytes"
	"encoding/json"
	"sync"

	"handrail/internal/tool"
)

// living are the tools that come and go, as they are registered.
type living struct {
	any         bool // set once: whether any set has such tools
	mu          sync.Mutex
	generations []uint64 // of each set that has such tools
	registered  map[string]registered
}

// registered is a tool as clients see it, and what stands behind it.
type registered struct {
	shown  []byte
	origin string
}

// refresh makes the tools that come and go what they are now, and announces a
// difference. What is looked up under the lock is the newest there is, so an
// older state never lands on a newer one.
func (s *Server) refresh() {
	s.living.mu.Lock()
	defer s.living.mu.Unlock()
	var wanted []tool.Tool
	at, same := 0, true
	for _, set := range s.sets {
		if set.Live == nil {
			continue
		}
		generation, tools := set.Live()
		if at == len(s.living.generations) {
			s.living.generations = append(s.living.generations, generation)
			same = false
		}
		same = same && s.living.generations[at] == generation
		s.living.generations[at] = generation
		at++
		wanted = append(wanted, tools...)
	}
	if !same && s.replace(wanted) {
		s.feed.Announce(Notice{Kind: ToolsChanged})
	}
}

// replace registers what is new or different and removes what is gone. It
// reports whether there was any.
func (s *Server) replace(wanted []tool.Tool) (changed bool) {
	now := map[string]registered{}
	for _, t := range wanted {
		name := t.Spec.Name
		if _, taken := s.tools[name]; taken {
			s.logger.Warn("a tool is left out: its name is taken", "event", "tools.collision", "tool_name", name)
			continue
		}
		described := s.describe(t)
		shown, err := json.Marshal(described)
		if err != nil { // strings, and JSON that is valid
			panic(err)
		}
		is := registered{shown, t.Spec.Origin}
		now[name] = is
		if was, there := s.living.registered[name]; !there || was.origin != is.origin || !bytes.Equal(was.shown, is.shown) {
			s.sdk.AddTool(described, s.handle(t))
			changed = true
		}
	}
	var gone []string
	for name := range s.living.registered {
		if _, stays := now[name]; !stays {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.sdk.RemoveTools(gone...)
		changed = true
	}
	s.living.registered = now
	return changed
}
