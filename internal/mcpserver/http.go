package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"handrail/internal/actor"
)

// HTTPOptions make an HTTP. Tokens and NewServer are required.
type HTTPOptions struct {
	// Tokens say who calls.
	Tokens *Tokens
	// NewServer makes the server of one user, when the user first calls.
	NewServer func(actor.Actor) (*Server, error)
	// Listen is the address; it decides which hosts and origins are ours.
	Listen string
	// Hosts and Origins are the names by which clients may call us and from which
	// pages may: host names without scheme and port. On a loopback address the
	// loopback names are always among them; on any other both are required.
	Hosts, Origins []string
	// Rate is how many requests a user may send a second, in the long run, and
	// Burst how many at once; zero is no bound.
	Rate, Burst int
	// Ready reports whether the stores can be reached.
	Ready func(context.Context) error
	// ReadTimeout is how long a client may take to send a request, its body
	// included; 30 s by default.
	ReadTimeout time.Duration
	// Now is the clock.
	Now func() time.Time
	// Logger is for the operator.
	Logger *slog.Logger
}

// The bounds of the HTTP side.
const (
	// maxBody is the longest request body, in bytes.
	maxBody = MaxLine
	// maxHeader is the most bytes of a request's header.
	maxHeader = 64 << 10
	// defaultReadTimeout is how long a client may take to send a request, and
	// headerTimeout how long for its header alone.
	defaultReadTimeout = 30 * time.Second
	headerTimeout      = 10 * time.Second
	// maxCalls and maxStreams bound what one user runs and holds open at once.
	maxCalls   = 256
	maxStreams = 4096
	// ShutdownTimeout is how long running calls may take once we are to stop.
	ShutdownTimeout = 10 * time.Second
)

// HTTP serves every user over Streamable HTTP, both eras of the protocol on
// one URL.
type HTTP struct {
	tokens         *Tokens
	hosts, origins []string
	users          *users
	rate           *rates
	readTimeout    time.Duration
	ready          func(context.Context) error
	logger         *slog.Logger
	metrics        *metricSet
	handler        http.Handler

	stopping context.Context // done when we are to stop
	stop     context.CancelFunc
}

// NewHTTP makes the HTTP side. It refuses what would be unsafe: an address off
// loopback without allowed hosts and origins, a name with scheme or port.
func NewHTTP(o HTTPOptions) (*HTTP, error) {
	hosts, origins, err := o.names()
	if err != nil {
		return nil, err
	}
	h := &HTTP{tokens: o.Tokens, hosts: hosts, origins: origins, ready: o.Ready, logger: o.Logger, metrics: newMetricSet()}
	if o.Now == nil {
		o.Now = time.Now
	}
	if h.readTimeout = o.ReadTimeout; h.readTimeout == 0 {
		h.readTimeout = defaultReadTimeout
	}
	h.stopping, h.stop = context.WithCancel(context.Background())
	h.users = newUsers(o.NewServer, o.Now, h.stopping, o.Logger)
	h.rate = newRates(o.Rate, o.Burst, o.Now)
	h.metrics.observe(h.users)
	h.handler = h.routes()
	return h, nil
}

// Check lists what would make NewHTTP refuse these options, without opening
// anything.
func (o HTTPOptions) Check() error {
	_, _, err := o.names()
	return err
}

func (o HTTPOptions) names() (hosts, origins []string, err error) {
	var problems []error
	for _, list := range []struct {
		what  string
		names []string
		to    *[]string
	}{{"allowed-hosts", o.Hosts, &hosts}, {"allowed-origins", o.Origins, &origins}} {
		for _, name := range list.names {
			if !validName(name) {
				problems = append(problems, fmt.Errorf("%s: %q is no host name; write it without scheme and port", list.what, name))
			}
			*list.to = append(*list.to, strings.ToLower(strings.Trim(name, "[]")))
		}
		switch {
		case Loopback(o.Listen):
			*list.to = append(*list.to, loopbackNames...)
		case len(list.names) == 0:
			problems = append(problems, fmt.Errorf("%s: required, because %s can be reached from other machines", list.what, o.Listen))
		}
	}
	return hosts, origins, errors.Join(problems...)
}

// validName reports whether name is a host name or an IP address, and nothing
// more.
func validName(name string) bool {
	if net.ParseIP(strings.Trim(name, "[]")) != nil {
		return true
	}
	return name != "" && len(name) <= 253 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
	})
}

func (h *HTTP) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", h.guard(h.authenticate(h.limit(http.HandlerFunc(h.serveMCP)))))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /ready", h.serveReady)
	mux.Handle("GET /metrics", h.guard(http.HandlerFunc(h.metrics.serve)))
	return h.observe(mux)
}

// ServeHTTP implements http.Handler.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Serve answers on the listener until ctx is done. Then it takes no more
// connections, ends subscriptions in order, lets calls finish within
// ShutdownTimeout, and returns nil.
func (h *HTTP) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		// ReadTimeout also bounds what the server reads of a body that nobody wanted,
		// before it sends the refusal; inspect lifts it for requests that are read.
		Handler: h, ReadHeaderTimeout: min(headerTimeout, h.readTimeout), ReadTimeout: h.readTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(h.logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer h.users.close()
	select {
	case err := <-failed:
		h.stop()
		return err
	case <-ctx.Done():
	}
	h.stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), ShutdownTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		h.logger.Warn("calls were still running at the end of the grace period; they are cut off", "error", err)
		return server.Close()
	}
	return nil
}

func (h *HTTP) serveReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if h.stopping.Err() != nil {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "stopping"})
		return
	}
	if h.ready != nil {
		if err := h.ready(ctx); err != nil {
			h.logger.Warn("not ready", "error", err)
			writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "the store cannot be reached"})
			return
		}
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone hears nothing, and needs to hear nothing.
	_ = json.NewEncoder(w).Encode(v)
}

// refuse answers a request that is not served, in words that tell nothing about
// anybody.
func (h *HTTP) refuse(w http.ResponseWriter, status int, why string) {
	writeJSON(w, status, map[string]string{"error": why})
}

// observe gives every request an id, counts it and logs what went wrong.
func (h *HTTP) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !validRequestID(id) {
			id = rand.Text()
		}
		w.Header().Set("X-Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		began := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			if p := recover(); p != nil {
				h.logger.Error("request failed", "path", r.URL.Path, "request", id, "error", fmt.Sprint(p))
				if !seen.written {
					h.refuse(seen, http.StatusInternalServerError, "something went wrong inside the server; see request "+id+" in its log")
				}
			}
			h.metrics.request(r, seen.status, time.Since(began))
			h.logger.Debug("request", "method", r.Method, "path", r.URL.Path, "status", seen.status, "request", id, "duration", time.Since(began))
		}()
		next.ServeHTTP(seen, r)
	})
}

// validRequestID bounds what a caller's own request id may put into our log.
func validRequestID(id string) bool {
	return id != "" && len(id) <= 64 && !slices.ContainsFunc([]byte(id), func(c byte) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	})
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status  int
	written bool
}

func (s *statusWriter) WriteHeader(status int) {
	if !s.written {
		s.status, s.written = status, true
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusWriter) Write(b []byte) (int, error) {
	s.written = true
	return s.ResponseWriter.Write(b)
}

// Unwrap lets deadlines and flushing through.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
