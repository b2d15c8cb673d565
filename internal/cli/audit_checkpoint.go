package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
)

func newAuditCheckpoint(env Env) *cobra.Command { return &cobra.Command{Use: "checkpoint"} }

func (v verifier) against(ctx context.Context, r audit.Reader, checkpoint, key string) error {
	return errors.New("")
}
