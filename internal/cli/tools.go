package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"handrail/internal/app"
	"handrail/internal/config"
	"handrail/internal/tool"
)

// newTools is `handrail tools`.
func newTools(env Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools [PRESET]",
		Short: "Show the tools of a preset and their arguments",
		Long: `Show the tools of a preset (` + defaultPreset + ` where none is named): what each does, its
arguments, and what they may be. Tools that the settings leave out are shown
too. --json prints the tools as a client sees them.`,
		ValidArgsFunction: completePreset,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) > 1 {
				return fmt.Errorf("one preset at a time, and there is one word more: %q", words[1])
			}
			_, err := namedPreset(words)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		p, err := namedPreset(words)
		if err != nil {
			return exit{ExitUsage, err}
		}
		offer, err := everything(p)
		if err != nil {
			return exit{ExitFailed, err}
		}
		if asJSON {
			err = printToolsJSON(env, offer)
		} else {
			err = printTools(env, p, offer)
		}
		if err != nil {
			return exit{ExitFailed, err}
		}
		return nil
	}
	return cmd
}

// namedPreset is the preset that the first word names, or the default one.
func namedPreset(words []string) (config.Preset, error) {
	name := defaultPreset
	if len(words) > 0 {
		name = words[0]
	}
	return findPreset(name)
}

func findPreset(name string) (config.Preset, error) {
	p, known := config.FindPreset(name)
	if !known {
		names := config.PresetNames()
		return p, fmt.Errorf("there is no preset %q%s; there are %s", name, meant(name, names, ""), plural(names))
	}
	return p, nil
}

// everything is what a preset can offer, with every tool switched on and its own
// way to confirm.
func everything(p config.Preset) (app.Offer, error) {
	c := config.Config{Preset: p.Name, AllowWrite: p.Writes}
	for _, s := range p.Settings {
		if s.Option == "confirm" {
			c.Confirm = s.Default
		}
	}
	return app.Describe(c)
}

// about is what a tool does to the world, and whether it is off by default.
func about(p config.Preset, t tool.Tool) string {
	if contains(p.Writes, t.Spec.Name) {
		return effects[t.Spec.Effect] + "; off until --allow-write names it"
	}
	return effects[t.Spec.Effect]
}

// effects says in a word what a tool does to the world.
var effects = map[tool.Effect]string{
	tool.Read: "reads", tool.Write: "writes", tool.Replace: "replaces", tool.Destroy: "deletes", tool.Run: "runs a program",
}

func printTools(env Env, preset config.Preset, offer app.Offer) error {
	p := newPaint(env)
	for i, t := range offer.Tools() {
		args, err := arguments(t.InputSchema(offer.Policy))
		if err != nil {
			return err
		}
		before := "\n"
		if i == 0 {
			before = ""
		}
		if _, err := fmt.Fprintf(env.Out, "%s%s: %s (%s)\n  %s\n", before, p.strong(t.Spec.Name), t.Spec.Title, about(preset, t), t.Doc(offer.Policy)); err != nil {
			return err
		}
		var rows [][]string
		for _, a := range args {
			need := ""
			if a.required {
				need = "required"
			}
			rows = append(rows, []string{a.name, need, a.rule, a.doc})
		}
		if err := table(env.Out, "    ", rows); err != nil {
			return err
		}
	}
	if offer.Live() {
		_, err := fmt.Fprintf(env.Out, "\nBeside these, one tool for each task. Here and now: handrail call %s taskfile_list\n", preset.Name)
		return err
	}
	return nil
}

// shownTool is a tool in the output of --json, under the protocol's names.
type shownTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Annotations  shownHints      `json:"annotations"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

type shownHints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

func printToolsJSON(env Env, offer app.Offer) error {
	list := []shownTool{}
	for _, t := range offer.Tools() {
		list = append(list, shownTool{
			Name: t.Spec.Name, Title: t.Spec.Title, Description: t.Doc(offer.Policy),
			Annotations: shownHints(t.Annotations()),
			InputSchema: t.InputSchema(offer.Policy), OutputSchema: t.OutputSchema(),
		})
	}
	enc := json.NewEncoder(env.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(list)
}
