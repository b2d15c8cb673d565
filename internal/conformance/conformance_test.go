package conformance_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"handrail/internal/actor"
	"handrail/internal/conformance"
	"handrail/internal/mcpserver"
)

const token = "conformance-conformance-conformance"

// serveFixtures serves the fixtures through the whole of our HTTP side, and is
// the URL of a proxy before it.
func serveFixtures(t *testing.T) string {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	tokens, err := mcpserver.NewTokens(map[string]string{"suite": token})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := mcpserver.NewHTTP(mcpserver.HTTPOptions{
		Tokens: tokens, Listen: l.Addr().String(), Rate: 500, Burst: 1000, Logger: logger,
		NewServer: func(who actor.Actor) (*mcpserver.Server, error) { return conformance.NewServer(who, logger) },
	})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- h.Serve(t.Context(), l) }() // the context ends before the cleanup
	t.Cleanup(func() {
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return proxy(t, l.Addr().String(), token)
}

// proxy stands before a server and adds the bearer token, which the suite cannot
// send. Everything else, the Host header too, it passes on as it came.
func proxy(t *testing.T, addr, token string) string {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: addr}
	reverse := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		ErrorLog:     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A proxy that still reads the body when the answer begins loses its
		// connection now and then: net/http closes the body at the first write.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p.URL + "/mcp"
}

// extension begins the names of the scenarios of an extension that is not served
// yet: they are reported, not required.
const extension = "tasks-"

func TestTheOfficialSuitePassesInBothErasOnOneURL(t *testing.T) {
	address := serveFixtures(t)
	for _, set := range []string{"2026-07-28", "2025-11-25"} {
		found := runSuite(t, address, "--requirements", set)
		rest, later := report{}, report{}
		for name, checks := range found {
			if strings.HasPrefix(name, extension) {
				later[name] = checks
			} else {
				rest[name] = checks
			}
		}
		t.Logf("%s: %d scenarios, checks %v; of the Tasks extension %d scenarios, checks %v", set, len(rest), rest.count(), len(later), later.count())
		if len(rest) < 30 {
			t.Errorf("%s: only %d scenarios ran: %v", set, len(rest), rest.scenarios())
		}
		for _, name := range rest.scenarios() {
			failed, warned := rest.bad(name)
			for _, c := range failed {
				t.Errorf("%s, %s: %s: %s", set, name, c.ID, c.ErrorMessage)
			}
			for _, c := range warned {
				t.Logf("%s, %s warns: %s: %s", set, name, c.ID, c.ErrorMessage)
			}
		}
	}
}
