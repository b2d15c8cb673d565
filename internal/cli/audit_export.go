package cli

import (
	"github.com/spf13/cobra"

	"handrail/internal/audit"
)

// newAuditExport is `handrail audit export`.
func newAuditExport(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the whole record as JSON lines that can be verified offline",
		Long: `Print every entry as one JSON object a line, with everything that its hash
covers. ` + "`handrail audit verify --export FILE`" + ` verifies the lines without the
database.`,
		Example: `  handrail audit export > record.jsonl
  handrail audit verify --export record.jsonl`,
		Args: noWords,
	}
	place := addPlace(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, r, err := place.open(cmd.Context(), cmd, env)
		if err != nil {
			return err
		}
		return done(writeEntries(cmd.Context(), env.Out, r, audit.Filter{}), r.Close())
	}
	return cmd
}
