package cli

import (
	"context"
	"log/slog"

	"handrail/internal/app"
)

// newLogger writes JSON lines to stderr, each with the service, its version and
// an event, by which an operator can filter.
func newLogger(env Env, level slog.Level) *slog.Logger {
	return slog.New(stamped{slog.NewJSONHandler(env.Err, &slog.HandlerOptions{Level: level}), false})
}

// stamped puts on every record what all records have.
type stamped struct {
	slog.Handler
	event bool // the logger's own attributes have an event
}

const (
	eventKey = "event"
	// plainEvent is the event of a record that names none.
	plainEvent = "server.message"
)

// Handle implements slog.Handler.
func (s stamped) Handle(ctx context.Context, r slog.Record) error {
	event := s.event
	r.Attrs(func(a slog.Attr) bool {
		event = event || a.Key == eventKey
		return !event
	})
	r = r.Clone()
	if !event {
		r.AddAttrs(slog.String(eventKey, plainEvent))
	}
	r.AddAttrs(slog.String("service", "handrail"), slog.String("version", app.Version))
	return s.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (s stamped) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		s.event = s.event || a.Key == eventKey
	}
	return stamped{s.Handler.WithAttrs(attrs), s.event}
}

// WithGroup implements slog.Handler.
func (s stamped) WithGroup(name string) slog.Handler {
	return stamped{s.Handler.WithGroup(name), s.event}
}
