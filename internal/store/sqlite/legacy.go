package sqlite

import (
	"context"

	"handrail/internal/fault"
)

type layout struct{}

func recognise(ctx context.Context, c *conn, f file, all []object) (layout, error) {
	return layout{}, fault.New(fault.InvalidStore, "the database %q has a layout that this program does not know; it was left as it is", f.given)
}

func migrateOriginal(ctx context.Context, c *conn, f file, opt Options, l layout) (error, error) {
	return nil, nil
}
