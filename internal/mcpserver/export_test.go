package mcpserver

// ThroughSDK makes every call of the server go through the SDK.
func (s *Server) ThroughSDK() { s.plainCalls = false }

// WentDirect is how many calls went past it.
func (s *Server) WentDirect() int64 { return s.wentDirect.Load() }

// PlainMessage takes a message apart and reports whether it is well and plain.
func PlainMessage(line []byte) bool {
	f := parseMessage(line)
	return f.malformed == nil && f.plain
}
