package mcpserver

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// loopbackNames are the hosts that mean this machine.
var loopbackNames = []string{"localhost", "127.0.0.1", "::1"}

// Loopback reports whether a listening address is reached only from this
// machine. An address without a host is every interface.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// hostName is the name in a Host header, without a port, as it compares.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// originHost is the name in an Origin header; ok is false for one that is no
// web origin, such as "null".
func originHost(origin string) (name string, ok bool) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" {
		return "", false
	}
	return strings.ToLower(u.Hostname()), true
}

// guard refuses foreign hosts (a page that rebinds its name to us) and foreign
// origins (a page that calls us), answers preflights, and tells browsers whom
// they may show the answer to.
func (h *HTTP) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(h.hosts, hostName(r.Host)) {
			h.refuse(w, http.StatusForbidden, "this host name is not served here")
			return
		}
		origins := r.Header.Values("Origin")
		if len(origins) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		name, ok := originHost(origins[0])
		if !ok || len(origins) > 1 || !slices.Contains(h.origins, name) {
			h.refuse(w, http.StatusForbidden, "this origin is not served here")
			return
		}
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", origins[0])
		header.Add("Vary", "Origin")
		header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, X-Request-Id, Retry-After")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
			header.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
