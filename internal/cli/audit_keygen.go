package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"handrail/internal/audit"
)

// newAuditKeygen is `handrail audit keygen`.
func newAuditKeygen(env Env) *cobra.Command {
	name := keyName("handrail")
	cmd := &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key pair to sign checkpoints with",
		Long: `Write a new private key to FILE, readable by you alone, and its public key to
FILE.pub. Neither file may be there already. Keep the private key where those
who can write the database cannot read it; give the public key to whoever
verifies.`,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) != 1 {
				return errors.New("keygen takes one word: the file for the private key")
			}
			return nil
		},
	}
	cmd.Flags().Var(&name, "name", "The name in the key, which stands on every checkpoint")
	must(cmd.RegisterFlagCompletionFunc("name", cobra.NoFileCompletions))
	cmd.RunE = func(_ *cobra.Command, words []string) error {
		private, public, err := audit.NewKey(rand.Reader, string(name))
		if err != nil {
			return exit{ExitFailed, err}
		}
		if err := createKeys(words[0], private, public); err != nil {
			return exit{ExitFailed, err}
		}
		if _, err := fmt.Fprintf(env.Out, "The private key is in %s, the public key in %s.pub:\n%s\n", words[0], words[0], public); err != nil {
			return exit{ExitFailed, err}
		}
		return nil
	}
	return cmd
}

// createKeys writes both files or none.
func createKeys(path, private, public string) error {
	if _, err := os.Lstat(path + ".pub"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s.pub is there already; a key is never overwritten", path)
	}
	if err := createFile(path, private, 0o600); err != nil {
		return err
	}
	if err := createFile(path+".pub", public, 0o644); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func createFile(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; it is never overwritten", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// keyName is a name that a signed note can carry.
type keyName string

func (n *keyName) String() string { return string(*n) }
func (n *keyName) Type() string   { return "NAME" }

// Set implements pflag.Value.
func (n *keyName) Set(v string) error {
	if v == "" || !utf8.ValidString(v) || strings.ContainsRune(v, '+') || strings.IndexFunc(v, unicode.IsSpace) >= 0 || strings.IndexFunc(v, hidden) >= 0 {
		return fmt.Errorf("%q is no name for a key: it must not be empty and has no space and no +", v)
	}
	*n = keyName(v)
	return nil
}
