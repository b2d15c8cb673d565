package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
)

// listed is how many entries `audit list` shows where no limit is named.
const listed = 50

// newAuditList is `handrail audit list`.
func newAuditList(env Env) *cobra.Command {
	var (
		filter  audit.Filter
		asJSON  bool
		limit   = countFlag(listed)
		outcome = choiceFlag{kind: "OUTCOME", what: "outcome", choices: outcomeNames()}
		since   = timeFlag{now: env.Now}
		until   = timeFlag{now: env.Now, end: true}
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List calls, oldest first",
		Long: `List the newest calls that match, oldest first.

A TIME is a day (2027-03-01), a moment (2027-03-01T09:30, 2027-03-01T09:30:00Z)
or an age (30m, 12h, 7d), in UTC; both bounds are inclusive.`,
		Example: `  handrail audit list --outcome rejected --since 7d
  handrail audit list --tool delete_task --limit 0 --json`,
		Args: noWords,
	}
	place := addPlace(cmd)
	cmd.Flags().StringVar(&filter.User, "user", "", "Only calls of this `USER`")
	cmd.Flags().StringVar(&filter.Tool, "tool", "", "Only calls of this `TOOL`")
	cmd.Flags().Var(&outcome, "outcome", "Only calls that ended so: "+strings.Join(outcome.choices, ", "))
	cmd.Flags().Var(&since, "since", "Only calls at this time or later")
	cmd.Flags().Var(&until, "until", "Only calls at this time or earlier")
	cmd.Flags().Var(&limit, "limit", "The newest N that match; 0 for all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object a line, with the hashes")
	must(cmd.RegisterFlagCompletionFunc("outcome", completeOneOf(outcome.choices)))
	must(cmd.RegisterFlagCompletionFunc("tool", func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		p, _ := findPreset(place.preset.value)
		return toolCompletions(p, begun), cobra.ShellCompDirectiveNoFileComp
	}))
	for _, name := range []string{"user", "since", "until", "limit"} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter.Outcome = audit.Outcome(outcome.value)
		filter.Since, filter.Until = since.at, until.at
		filter.Limit, filter.Newest = int(limit), limit > 0
		_, r, err := place.open(cmd.Context(), cmd, env)
		if err != nil {
			return err
		}
		if asJSON {
			err = writeEntries(cmd.Context(), env.Out, r, filter)
		} else {
			err = printEntries(cmd, env, r, filter)
		}
		return done(err, r.Close())
	}
	return cmd
}

// shownArgs is how many characters of the arguments a table shows.
const shownArgs = 80

func printEntries(cmd *cobra.Command, env Env, r audit.Reader, f audit.Filter) error {
	rows := [][]string{{"SEQ", "TIME (UTC)", "USER", "TOOL", "OUTCOME", "TOOK", "ARGUMENTS"}}
	for e, err := range r.Entries(cmd.Context(), f) {
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			strconv.FormatInt(e.Seq, 10), e.At.Format(time.DateTime), visible(e.User), visible(e.Tool),
			shownOutcome(e), e.Duration.String(), shownArguments(e, shownArgs),
		})
	}
	if len(rows) == 1 {
		_, err := fmt.Fprintln(env.Out, "No call matches.")
		return err
	}
	return table(env.Out, "", rows)
}

func shownOutcome(e audit.Entry) string {
	if e.Code == "" || e.Code == string(e.Outcome) {
		return visible(string(e.Outcome))
	}
	return visible(fmt.Sprintf("%s (%s)", e.Outcome, e.Code))
}

func shownArguments(e audit.Entry, n int) string {
	return clip(visible(string(e.Args)), n)
}

// countFlag is a number from 0 up.
type countFlag int

func (f *countFlag) String() string { return strconv.Itoa(int(*f)) }
func (f *countFlag) Type() string   { return "N" }

// Set implements pflag.Value.
func (f *countFlag) Set(v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<31-1 {
		return fmt.Errorf("%q is no number from 0 up", v)
	}
	*f = countFlag(n)
	return nil
}

// timeFlag is a day, a moment or an age; end makes a day mean its last
// microsecond.
type timeFlag struct {
	now  func() time.Time
	end  bool
	text string
	at   time.Time
}

func (f *timeFlag) String() string { return f.text }
func (f *timeFlag) Type() string   { return "TIME" }

// Set implements pflag.Value.
func (f *timeFlag) Set(v string) error {
	f.text = v
	if day, err := time.Parse(time.DateOnly, v); err == nil {
		if f.at = day; f.end {
			f.at = day.AddDate(0, 0, 1).Add(-time.Microsecond)
		}
		return nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime} {
		if at, err := time.Parse(layout, v); err == nil {
			f.at = at.UTC()
			return nil
		}
	}
	age, err := parseAge(v)
	if err != nil {
		return fmt.Errorf("%q is no time; write a day (2027-03-01), a moment (2027-03-01T09:30) or an age (12h, 7d)", v)
	}
	f.at = f.now().UTC().Add(-age)
	return nil
}

func parseAge(v string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(v, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	age, err := time.ParseDuration(v)
	if err == nil && age < 0 {
		err = strconv.ErrRange
	}
	return age, err
}
