package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
)

// newAuditCheckpoint is `handrail audit checkpoint`.
func newAuditCheckpoint(env Env) *cobra.Command {
	var key, out string
	cmd := &cobra.Command{
		Use:   "checkpoint",
		Short: "Sign how long the record is now, to prove later that nothing was cut off",
		Long: `Verify the record and print a signed statement of where each user's chain ends
now. Keep it where those who can write the database cannot write, such as
another machine: ` + "`handrail audit verify --checkpoint`" + ` then finds a cut tail and
a record written anew. A record that does not verify is not signed.

The key is read from a file and never taken from the command line; make one with
` + "`handrail audit keygen`" + `.`,
		Example: `  handrail audit keygen audit.key
  handrail audit checkpoint --key audit.key --out 2027-03-01.checkpoint`,
		Args: func(cmd *cobra.Command, words []string) error {
			if key == "" {
				return errors.Join(errors.New("--key is required: the file with the private key"), noWords(cmd, words))
			}
			return noWords(cmd, words)
		},
	}
	place := addPlace(cmd)
	cmd.Flags().StringVar(&key, "key", "", "The private key (`FILE`)")
	cmd.Flags().StringVar(&out, "out", "", "Write to this `FILE`, which must not be there yet, instead of standard output")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		secret, err := readSmall(key)
		if err != nil {
			return exit{ExitFailed, err}
		}
		what, r, err := place.open(cmd.Context(), cmd, env)
		if err != nil {
			return err
		}
		signed, err := sign(cmd.Context(), env, what, r, secret)
		if err := done(err, r.Close()); err != nil {
			return err
		}
		if out != "" {
			err = createFile(out, signed, 0o644)
		} else {
			_, err = io.WriteString(env.Out, signed)
		}
		return done(err, nil)
	}
	return cmd
}

// sign verifies the record and signs its heads.
func sign(ctx context.Context, env Env, path string, r audit.Reader, secret string) (string, error) {
	report, err := audit.Verify(ctx, r)
	if err != nil {
		return "", err
	}
	if len(report.Breaks) > 0 {
		env.Out = env.Err // a checkpoint may be on its way from standard output to a file
		verifier{env: env, what: "Not signed. The record in " + path}.report(report)
		return "", exit{status: ExitBroken}
	}
	return audit.Checkpoint{Heads: report.Heads}.Sign(secret)
}

// against verifies with a checkpoint.
func (v verifier) against(ctx context.Context, r audit.Reader, checkpoint, key string) error {
	text, err := readSmall(checkpoint)
	if err != nil {
		return err
	}
	public, err := readSmall(key)
	if err != nil {
		return err
	}
	c, err := audit.ParseCheckpoint(text, public)
	if err != nil {
		return err
	}
	report, err := audit.CheckCheckpoint(ctx, r, c)
	if err != nil {
		return err
	}
	v.report(report)
	if len(report.Breaks) > 0 {
		return exit{status: ExitBroken}
	}
	for _, h := range c.Heads {
		v.say("The checkpoint is signed and agrees: %s still has the %s of then.", visible(h.User), count(h.Size, "entry", "entries"))
	}
	v.say("")
	v.say("Not proved: that nothing newer than the checkpoint was cut off.")
	return nil
}

// maxSmall bounds keys and checkpoints, in bytes: a checkpoint has a line a
// user.
const maxSmall = 16 << 20

func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxSmall)
	}
	return string(b), errors.Join(err, f.Close())
}
