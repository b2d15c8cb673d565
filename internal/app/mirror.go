package app

import (
	"context"
	"log/slog"
	"sync"
)

// mirror is a log handler that also sends every record to the clients that asked
// for a log, whatever the operator's level is: theirs decides.
type mirror struct {
	slog.Handler
	attrs []slog.Attr
	to    *audience
}

// audience is who gets the records, once there is somebody.
type audience struct {
	mu   sync.Mutex
	send func(ctx context.Context, level slog.Level, data any)
}

func (a *audience) is(send func(ctx context.Context, level slog.Level, data any)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.send = send
}

// Enabled implements slog.Handler.
func (m mirror) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (m mirror) Handle(ctx context.Context, r slog.Record) error {
	m.to.mu.Lock()
	send := m.to.send
	m.to.mu.Unlock()
	if send != nil {
		data := map[string]any{"msg": r.Message}
		for _, a := range m.attrs {
			put(data, a)
		}
		r.Attrs(func(a slog.Attr) bool { put(data, a); return true })
		send(ctx, r.Level, data)
	}
	if !m.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return m.Handler.Handle(ctx, r)
}

// causeKey is the attribute that is for the operator alone: it may hold paths.
const causeKey = "cause"

func put(data map[string]any, a slog.Attr) {
	if a.Key == causeKey {
		return
	}
	value := a.Value.Resolve().Any()
	if err, ok := value.(error); ok {
		value = err.Error()
	}
	data[a.Key] = value
}

// WithAttrs implements slog.Handler.
func (m mirror) WithAttrs(attrs []slog.Attr) slog.Handler {
	return mirror{m.Handler.WithAttrs(attrs), append(m.attrs[:len(m.attrs):len(m.attrs)], attrs...), m.to}
}

// WithGroup implements slog.Handler. Clients see the attributes without groups.
func (m mirror) WithGroup(name string) slog.Handler {
	return mirror{m.Handler.WithGroup(name), m.attrs, m.to}
}
