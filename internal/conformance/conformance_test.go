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
	"slices"
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

// extensions begin the names of the scenarios of what is not served yet: the
// Tasks extension, and skills. They are reported, not required.
func extension(scenario string) bool {
	return strings.HasPrefix(scenario, "tasks-") || strings.HasPrefix(scenario, "sep-2640-skills-")
}

func never(string, check) bool { return false }

// checks are how many checks must succeed at least: less, and the suite or the
// fixtures have silently lost some.
var checks = map[string]int{"2026-07-28": 153, "2025-11-25": 84}

func TestTheOfficialSuitePassesInBothErasOnOneURL(t *testing.T) {
	suite(t)
	address := serveFixtures(t)
	for revision, least := range checks {
		t.Run(revision, func(t *testing.T) {
			scored, beside := requirements(t, revision)
			later := slices.Clone(beside)
			later = slices.DeleteFunc(later, func(name string) bool { return !extension(name) })
			required := append(scored, slices.DeleteFunc(beside, extension)...)
			found := runSuite(t, address, "--requirements", revision)
			t.Logf("%d scenarios, checks %v; of the extensions %d scenarios, checks %v", len(required), found.count(required), len(later), found.count(later))
			found.require(t, required, never)
			if n := found.count(required)["SUCCESS"]; n < least {
				t.Errorf("%d checks succeeded, and %d did once", n, least)
			}
		})
	}
}

func TestEveryScenarioOfTheSuitePasses(t *testing.T) {
	suite(t)
	names := all(t)
	found := runSuite(t, serveFixtures(t), "--suite", "all")
	later := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !extension(name) })
	required := slices.DeleteFunc(names, extension)
	t.Logf("%d scenarios, checks %v; of the extensions %d scenarios, checks %v", len(required), found.count(required), len(later), found.count(later))
	found.require(t, required, never)
}
