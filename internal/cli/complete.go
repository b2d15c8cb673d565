package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
	"handrail/internal/config"
)

func contains(list []string, s string) bool { return slices.Contains(list, s) }

// completeTool proposes the tools of a preset, each with its title.
func completeTool(p config.Preset) cobra.CompletionFunc {
	return func(_ *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(words) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return toolCompletions(p, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// toolCompletions are the tools of a preset that begin so, each with its title.
func toolCompletions(p config.Preset, begun string) []cobra.Completion {
	offer, err := everything(p)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, t := range offer.Tools() {
		if strings.HasPrefix(t.Spec.Name, begun) {
			out = append(out, cobra.CompletionWithDesc(t.Spec.Name, t.Spec.Title))
		}
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

// completeOneOf proposes those of a list that begin as the word does.
func completeOneOf(list []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		for _, s := range list {
			if strings.HasPrefix(s, begun) {
				out = append(out, s)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
