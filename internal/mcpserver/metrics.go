package mcpserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// metricSet counts what an operator watches. No metric names a user.
type metricSet struct{ set *metrics.Set }

func newMetricSet() *metricSet { return &metricSet{metrics.NewSet()} }

// observe adds the gauges of users and of what they hold open.
func (m *metricSet) observe(u *users) {
	for name, read := range map[string]func(usage) int{
		"handrail_users":    func(n usage) int { return n.users },
		"handrail_sessions": func(n usage) int { return n.sessions },
		"handrail_streams":  func(n usage) int { return n.streams },
		"handrail_calls":    func(n usage) int { return n.calls },
	} {
		m.set.NewGauge(name, func() float64 { return float64(read(u.usage())) })
	}
}

var knownPaths = map[string]bool{"/mcp": true, "/health": true, "/ready": true, "/metrics": true}

func (m *metricSet) request(r *http.Request, status int, took time.Duration) {
	path := r.URL.Path
	if !knownPaths[path] {
		path = "other"
	}
	method := r.Method
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	m.set.GetOrCreateCounter(fmt.Sprintf(`handrail_http_requests_total{path=%q,method=%q,status="%d"}`, path, method, status)).Inc()
	if path == "/mcp" && method == http.MethodPost {
		m.set.GetOrCreateHistogram("handrail_http_request_duration_seconds").Update(took.Seconds())
	}
}

func (m *metricSet) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	m.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}
