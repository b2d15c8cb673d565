package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/internal/app"
	"handrail/internal/config"
)

// newAudit is `handrail audit`: everything that reads the record.
func newAudit(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read, verify, sign and export the record of calls",
		Long: `Every call of a tool is on the record: who called what, with which arguments,
how it ended and when. Entries are chained by their hashes, so that one that is
changed, left out or put in is found. These commands read the record of a
database; they never create, change or migrate the file.

The database is the one of --db, else the one that the preset of --preset would
use (` + defaultPreset + `, with its environment).`,
	}
	cmd.AddCommand(newAuditList(env), newAuditVerify(env), newAuditCheckpoint(env), newAuditKeygen(env), newAuditExport(env))
	return cmd
}

// place is which record a command reads.
type place struct {
	db     textFlag
	preset *choiceFlag
}

// addPlace makes the options that name a record.
func addPlace(cmd *cobra.Command) *place {
	p := &place{db: textFlag{kind: "FILE"}, preset: &choiceFlag{value: defaultPreset, kind: "NAME", what: "preset", choices: config.PresetNames()}}
	var vars []string
	for _, preset := range config.Presets {
		for _, s := range preset.Settings {
			if contains(recordOptions, s.Option) && s.Env != "" && !contains(vars, s.Env) {
				vars = append(vars, s.Env)
			}
		}
	}
	cmd.Flags().Var(&p.db, "db", "The database that keeps the record ("+strings.Join(vars, ", ")+")")
	cmd.Flags().Var(p.preset, "preset", "Read the database that this preset would use")
	must(cmd.RegisterFlagCompletionFunc("preset", completePreset))
	return p
}

// path is the path of the database that keeps the record.
func (p *place) path(cmd *cobra.Command, env Env) (string, error) {
	preset, err := findPreset(p.preset.value)
	if err != nil {
		return "", exit{ExitUsage, err}
	}
	if p.db.value != "" {
		return p.db.value, nil
	}
	// Only the settings that say where the record is: a preset's other settings
	// have nothing to do with reading it.
	preset.Settings = slices.DeleteFunc(slices.Clone(preset.Settings), func(s config.Setting) bool { return !contains(recordOptions, s.Option) })
	c, err := config.Load(preset, nil, env.Getenv)
	if err := usage(cmd, split(err)); err != nil {
		return "", err
	}
	switch {
	case c.DB != "":
		return c.DB, nil
	case c.AuditDB == "", c.AuditDB == config.AuditOff:
		return "", exit{ExitUsage, fmt.Errorf("the settings of %s keep no record; name a database with --db", preset.Name)}
	}
	return c.AuditDB, nil
}

// recordOptions are the options that say where a preset keeps its record.
var recordOptions = []string{"db", "audit-db"}

// open opens the record for reading.
func (p *place) open(ctx context.Context, cmd *cobra.Command, env Env) (path string, r app.Record, err error) {
	if path, err = p.path(cmd, env); err != nil {
		return "", nil, err
	}
	if r, err = app.OpenRecord(ctx, path, env.Now); err != nil {
		err = failure(err)
		if p.db.value == "" {
			err = fmt.Errorf("%w (--db names another)", err)
		}
		return "", nil, exit{ExitFailed, err}
	}
	return path, r, nil
}

// done turns what a reading command ended with into its exit status.
func done(err, closing error) error {
	var e exit
	if err = errors.Join(err, closing); err == nil || errors.As(err, &e) {
		return err
	}
	return exit{ExitFailed, failure(err)}
}

// choiceFlag is a flag with a fixed list of values; empty where the default
// means all.
type choiceFlag struct {
	value, kind, what string
	choices           []string
}

func (f *choiceFlag) String() string { return f.value }
func (f *choiceFlag) Type() string   { return f.kind }

// Set implements pflag.Value.
func (f *choiceFlag) Set(v string) error {
	if !contains(f.choices, v) {
		return fmt.Errorf("there is no %s %q%s; there are %s", f.what, v, meant(v, f.choices, ""), plural(f.choices))
	}
	f.value = v
	return nil
}
