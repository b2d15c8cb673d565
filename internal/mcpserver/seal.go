package mcpserver

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// MinSecret is the least length of a secret for request states, in bytes.
const MinSecret = 32

// SealTTL is how long the question before a destroying call can be answered.
const SealTTL = 5 * time.Minute

// Seal makes and opens request states: what a server hands to a client with a
// question, to get it back with the answer. It is encrypted and bound to the
// user, the tool, the arguments and the target as it was shown; it works once
// and for SealTTL. Safe for concurrent use.
type Seal struct {
	current cipher.AEAD
	others  []cipher.AEAD // accepted too, for rotation
	now     func() time.Time
	store   Spender

	mu    sync.Mutex
	spent map[string]time.Time // nonces of answers that were used, until they expire
}

// Spender remembers, beyond this process, which confirmations were used.
type Spender interface {
	// Spend marks one as used and reports whether it was not before. It may forget
	// it after until.
	Spend(ctx context.Context, nonce string, until time.Time) (fresh bool, err error)
}

// SpendIn has a store remember which confirmations were used, so that none can be
// used again after a restart or at another replica. Call it before the seal is
// used.
func (s *Seal) SpendIn(store Spender) { s.store = store }

// NewSeal makes a seal from a secret of at least MinSecret bytes; previous
// secrets are accepted too. Without a secret the key is random: states then
// end with the process, and no other replica can open them.
func NewSeal(secret string, previous []string, now func() time.Time) (*Seal, error) {
	if secret == "" {
		secret = rand.Text() + rand.Text()
	}
	s := &Seal{now: now, spent: map[string]time.Time{}}
	for i, text := range append([]string{secret}, previous...) {
		if len(text) < MinSecret {
			return nil, fmt.Errorf("a secret for request states needs at least %d bytes", MinSecret)
		}
		aead, err := newAEAD(text)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			s.current = aead
		} else {
			s.others = append(s.others, aead)
		}
	}
	return s, nil
}

func newAEAD(secret string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "handrail request state", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealed is what a request state says.
type sealed struct {
	Nonce   string `json:"n"`
	User    string `json:"u"`
	Tool    string `json:"t"`
	Args    string `json:"a"` // SHA-256 of the canonical arguments
	Target  string `json:"g"`
	Expires int64  `json:"e"` // Unix seconds
}

// stateVersion is bound to every state, so that another meaning of the same
// bytes can never open.
var stateVersion = []byte("handrail-state-1")

// close makes the request state of a question.
func (s *Seal) close(user, tool string, args []byte, target string) (string, error) {
	sum := sha256.Sum256(args)
	b, err := json.Marshal(sealed{
		Nonce: rand.Text(), User: user, Tool: tool, Args: base64.RawStdEncoding.EncodeToString(sum[:]),
		Target: target, Expires: s.now().Add(SealTTL).Unix(),
	})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.current.Seal(nil, nil, b, stateVersion)), nil
}

// Why a request state does not stand for a confirmation.
var (
	errStateBroken = errors.New("the confirmation was altered or is not from this server; nothing was changed. Call again without requestState to be asked anew")
	errStateOther  = errors.New("the confirmation is for another call; nothing was changed. Call again without requestState to be asked anew")
	errStateStale  = errors.New("the confirmation came too late; nothing was changed. Call again without requestState to be asked anew")
	errStateTarget = errors.New("it is no longer what was shown when the question was asked; nothing was changed. Call again without requestState to be asked anew")
	errStateSpent  = errors.New("the confirmation was used already; nothing was changed. Call again without requestState to be asked anew")
)

// open opens a request state and checks that it is for this very call. It does
// not spend it.
func (s *Seal) open(state, user, tool string, args []byte, target string) (sealed, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(raw)) != len(state) { // line breaks, which Go skips
		return sealed{}, errStateBroken
	}
	plain, err := s.current.Open(nil, nil, raw, stateVersion)
	for _, other := range s.others {
		if err == nil {
			break
		}
		plain, err = other.Open(nil, nil, raw, stateVersion)
	}
	var st sealed
	if err != nil || json.Unmarshal(plain, &st) != nil {
		return sealed{}, errStateBroken
	}
	sum := sha256.Sum256(args)
	switch {
	case st.User != user, st.Tool != tool, st.Args != base64.RawStdEncoding.EncodeToString(sum[:]):
		return sealed{}, errStateOther
	case s.now().Unix() > st.Expires:
		return sealed{}, errStateStale
	case st.Target != target:
		return sealed{}, errStateTarget
	}
	return st, nil
}

// spend uses a state up: the second time it fails.
func (s *Seal) spend(ctx context.Context, st sealed) error {
	if !s.spendHere(st) {
		return errStateSpent
	}
	if s.store == nil {
		return nil
	}
	fresh, err := s.store.Spend(ctx, st.Nonce, time.Unix(st.Expires, 0).Add(time.Second))
	if err == nil && !fresh {
		err = errStateSpent
	}
	return err
}

// spendHere is spend as far as this process knows.
func (s *Seal) spendHere(st sealed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for nonce, until := range s.spent {
		if now.After(until) {
			delete(s.spent, nonce)
		}
	}
	if _, used := s.spent[st.Nonce]; used {
		return false
	}
	s.spent[st.Nonce] = time.Unix(st.Expires, 0).Add(time.Second)
	return true
}
