package mcpserver

// ThroughSDK makes every call of the server go through the SDK.
func (s *Server) ThroughSDK() { s.plainCalls = false }

// WentDirect is how many calls went past it.
func (s *Server) WentDirect() int64 { return s.wentDirect.Load() }
