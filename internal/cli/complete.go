package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
	"handrail/internal/config"
)

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// completeTool proposes the tools of a preset, each with its title.
func completeTool(p config.Preset) cobra.CompletionFunc {
	return func(_ *cobra.Command, words []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(words) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return toolCompletions(p), cobra.ShellCompDirectiveNoFileComp
	}
}

func toolCompletions(p config.Preset) []cobra.Completion {
	offer, err := everything(p)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, t := range offer.Tools() {
		out = append(out, cobra.CompletionWithDesc(t.Spec.Name, t.Spec.Title))
	}
	return out
}

func completePreset(_ *cobra.Command, words []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(words) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, p := range config.Presets {
		out = append(out, cobra.CompletionWithDesc(p.Name, p.Doc))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// outcomeNames lists the outcomes of the record as text.
func outcomeNames() []string {
	names := make([]string, len(audit.Outcomes))
	for i, o := range audit.Outcomes {
		names[i] = string(o)
	}
	return names
}
