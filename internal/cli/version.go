package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"handrail/internal/app"
)

// newVersion is `handrail version`.
func newVersion(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noWords,
		RunE:  func(*cobra.Command, []string) error { return printVersion(env) },
	}
}

func printVersion(env Env) error {
	_, err := fmt.Fprintf(env.Out, "handrail %s (%s, %s/%s)\n", app.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
