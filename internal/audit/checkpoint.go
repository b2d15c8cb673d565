package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"handrail/internal/fault"
)

// checkpointOrigin is the first line of every checkpoint, so that a signature
// made for anything else is never taken for one.
const checkpointOrigin = "handrail audit"

// keyAlgorithm is the byte before a key that says Ed25519.
const keyAlgorithm = 1

// Checkpoint is the ends of chains at some moment. Signed and kept elsewhere,
// it proves later that the record still begins with all of what it held then.
type Checkpoint struct {
	// Heads are the ends, at most one a user, each of at least one entry.
	Heads []Head
}

// NewKey makes a pair of keys in the text form of golang.org/x/mod/sumdb/note:
// secret signs checkpoints and must be kept, public checks them. name says
// whose key it is, without white space or a plus sign.
func NewKey(random io.Reader, name string) (secret, public string, err error) {
	secret, public, err = note.GenerateKey(random, name)
	if err != nil {
		return "", "", fmt.Errorf("making a key: %w", err)
	}
	if _, err := note.NewSigner(secret); err != nil {
		return "", "", fault.Wrap(err, fault.InvalidInput, "the name of a key must not be empty and have no white space and no +")
	}
	return secret, public, nil
}

// PublicKey is the public key of a secret one. InvalidInput where secret is no
// key; the message never repeats it.
func PublicKey(secret string) (string, error) {
	signer, err := note.NewSigner(strings.TrimSpace(secret))
	if err != nil {
		return "", badSecret()
	}
	// PRIVATE+KEY+name+hash+base64 of the algorithm and the seed.
	fields := strings.SplitN(strings.TrimSpace(secret), "+", 5)
	key, err := base64.StdEncoding.DecodeString(fields[4])
	if err != nil || len(key) != 1+ed25519.SeedSize || key[0] != keyAlgorithm {
		return "", badSecret()
	}
	public, _ := ed25519.NewKeyFromSeed(key[1:]).Public().(ed25519.PublicKey)
	return note.NewEd25519VerifierKey(signer.Name(), public)
}

// badSecret has no cause: what the cause quotes could be the key.
func badSecret() error {
	return fault.New(fault.InvalidInput, "this is no key to sign checkpoints with")
}

// Sign writes the checkpoint as a signed note: the origin, then a line for each
// chain with its user (percent-encoded), its size and the hash of its last
// entry, then the signature. secret is what NewKey made, white space around it
// ignored. InvalidInput: no such key, or nothing to sign.
func (c Checkpoint) Sign(secret string) (string, error) {
	signer, err := note.NewSigner(strings.TrimSpace(secret))
	if err != nil {
		return "", badSecret()
	}
	if len(c.Heads) == 0 {
		return "", fault.New(fault.InvalidInput, "the record is empty: there is nothing to sign")
	}
	var b strings.Builder
	b.WriteString(checkpointOrigin + "\n")
	for _, h := range c.Heads {
		fmt.Fprintf(&b, "%s %d %s\n", escapeUser(h.User), h.Size, h.Sum)
	}
	signed, err := note.Sign(&note.Note{Text: b.String()}, signer)
	if err != nil {
		return "", fmt.Errorf("signing the checkpoint: %w", err)
	}
	return string(signed), nil
}

// escapeUser leaves no character in a user's name that could end its field; the
// empty name is a minus sign, and a minus sign is written out.
func escapeUser(user string) string {
	switch user {
	case "":
		return "-"
	case "-":
		return "%2D"
	}
	return url.PathEscape(user)
}

func unescapeUser(s string) (string, bool) {
	if s == "-" {
		return "", true
	}
	user, err := url.PathUnescape(s)
	return user, err == nil && escapeUser(user) == s
}

// ParseCheckpoint reads a checkpoint and believes it only if the key public
// signed it. InvalidInput: no such key, no such signature, or another text.
func ParseCheckpoint(text, public string) (Checkpoint, error) {
	verifier, err := note.NewVerifier(strings.TrimSpace(public))
	if err != nil {
		return Checkpoint{}, fault.New(fault.InvalidInput, "this is no key to check checkpoints with")
	}
	// A note may have come through a program that writes other line ends.
	signed := bytes.ReplaceAll([]byte(text), []byte("\r\n"), []byte("\n"))
	n, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return Checkpoint{}, fault.Wrap(err, fault.InvalidInput, "the checkpoint is not signed by the key %s, or was altered", verifier.Name())
	}
	lines := strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")
	if lines[0] != checkpointOrigin {
		return Checkpoint{}, fault.New(fault.InvalidInput, "the signed text is no checkpoint of a record")
	}
	var c Checkpoint
	seen := map[string]bool{}
	for _, line := range lines[1:] {
		h, ok := parseHead(line)
		if !ok || seen[h.User] {
			return Checkpoint{}, fault.New(fault.InvalidInput, "the checkpoint has a line that cannot be understood: %q", line)
		}
		seen[h.User] = true
		c.Heads = append(c.Heads, h)
	}
	if len(c.Heads) == 0 {
		return Checkpoint{}, fault.New(fault.InvalidInput, "the checkpoint says nothing about any chain")
	}
	return c, nil
}

func parseHead(line string) (h Head, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 {
		return h, false
	}
	if h.User, ok = unescapeUser(fields[0]); !ok {
		return h, false
	}
	size, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || size < 1 || strconv.FormatInt(size, 10) != fields[1] {
		return h, false
	}
	h.Size = size
	h.Sum, ok = ParseHash(fields[2])
	return h, ok
}

// CheckCheckpoint verifies every chain as Verify does, and besides that each
// chain of the checkpoint still has the entry that was its last one then, at
// its place: that nothing before it was written anew, and that the end was not
// cut off below it. What is missing is in the report's Breaks.
func CheckCheckpoint(ctx context.Context, r Reader, c Checkpoint) (Report, error) {
	return verify(ctx, r, c.Heads)
}
