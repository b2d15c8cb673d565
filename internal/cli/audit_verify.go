package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
)

// newAuditVerify is `handrail audit verify`.
func newAuditVerify(env Env) *cobra.Command {
	var export, checkpoint, key string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Recompute the record and name the first entry that does not fit",
		Long: `Recompute the chain of every user and name the first entry of each that was
altered, left out, put in or moved.

Without a checkpoint this cannot tell a record whose end was cut off, nor one
that was written anew from the start by somebody who can write the file. With
--checkpoint (a file that ` + "`handrail audit checkpoint`" + ` wrote and that you kept
elsewhere) and --key (the public key) both are found, up to the checkpoint.

--export FILE verifies what ` + "`handrail audit export`" + ` wrote instead of a database;
- reads standard input.`,
		Args: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("checkpoint") != cmd.Flags().Changed("key") {
				return fmt.Errorf("--checkpoint and --key go together: the file and the public key that it is checked with")
			}
			return noWords(cmd, words)
		},
	}
	place := addPlace(cmd)
	cmd.Flags().StringVar(&export, "export", "", "Verify an export instead of a database (`FILE` or -)")
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "Also check the record against this checkpoint `FILE`")
	cmd.Flags().StringVar(&key, "key", "", "The public key of the checkpoint (`FILE`)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		what, r, closing, err := recordOf(cmd, env, place, export)
		if err != nil {
			return err
		}
		v := verifier{env: env, paint: newPaint(env), what: what}
		if checkpoint != "" {
			err = v.against(cmd.Context(), r, checkpoint, key)
		} else {
			err = v.alone(cmd.Context(), r)
		}
		return done(err, closing())
	}
	return cmd
}

// recordOf opens what is verified: an export where one is named, else the
// database.
func recordOf(cmd *cobra.Command, env Env, place *place, export string) (what string, r audit.Reader, closing func() error, err error) {
	switch export {
	case "":
		path, r, err := place.open(cmd.Context(), cmd, env)
		if err != nil {
			return "", nil, nil, err
		}
		return "The record in " + path, r, r.Close, nil
	case "-":
		return "The exported record", exported{env.In}, func() error { return nil }, nil
	}
	f, err := os.Open(export)
	if err != nil {
		return "", nil, nil, exit{ExitFailed, err}
	}
	return "The exported record " + export, exported{f}, f.Close, nil
}

// verifier prints what verification found.
type verifier struct {
	env   Env
	paint paint
	what  string
}

// alone verifies without a checkpoint.
func (v verifier) alone(ctx context.Context, r audit.Reader) error {
	report, err := audit.Verify(ctx, r)
	if err != nil {
		return err
	}
	v.report(report)
	if len(report.Breaks) > 0 {
		return exit{status: ExitBroken}
	}
	v.say("")
	v.say("Not proved: that the end was not cut off, or that the whole record was not")
	v.say("written anew by somebody who can write the file. A checkpoint that was kept")
	v.say("elsewhere proves both up to its time (handrail audit checkpoint).")
	return nil
}

func (v verifier) say(format string, args ...any) {
	fmt.Fprintf(v.env.Out, visibleLines(format)+"\n", args...)
}

func (v verifier) report(rep audit.Report) {
	v.say("%s: %s of %s.", visible(v.what), count(rep.Entries, "entry", "entries"), count(int64(len(rep.Heads)), "user", "users"))
	broken := map[string]audit.Break{}
	for _, b := range rep.Breaks {
		broken[b.User] = b
	}
	for _, h := range rep.Heads {
		if b, bad := broken[h.User]; bad {
			v.say("  %s  %s: %s", v.paint.bad("BROKEN"), visible(h.User), visible(b.Why))
			delete(broken, h.User)
			continue
		}
		v.say("  %s   %s: %s, each as it was written and in its place", v.paint.good("whole"), visible(h.User), count(h.Size, "entry", "entries"))
	}
	for _, b := range rep.Breaks {
		if _, left := broken[b.User]; left { // of a user without any entry
			v.say("  %s  %s: %s", v.paint.bad("BROKEN"), visible(b.User), visible(b.Why))
		}
	}
	if len(rep.Open) == 0 {
		return
	}
	v.say("Begun and not ended (a crash, or still running):")
	for _, e := range rep.Open {
		v.say("  entry %d  %s  %s  %s  %s", e.Seq, e.At.Format(time.DateTime), visible(e.User), visible(e.Tool), shownArguments(e, shownArgs))
	}
}

// count is a number with its noun.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// plural joins words with commas and an "and".
func plural(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
