package mcpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"handrail/internal/actor"
)

// MinToken is the least length of a bearer token, in bytes.
const MinToken = 32

// Tokens knows users by their bearer tokens. It keeps only hashes.
type Tokens struct {
	users  []string
	hashes [][sha256.Size]byte
}

// NewTokens takes a map from user to token. The error lists every user without
// a name, every token that is too short and every token of two users; it never
// shows a token.
func NewTokens(byUser map[string]string) (*Tokens, error) {
	t := &Tokens{}
	var problems []error
	if len(byUser) == 0 {
		problems = append(problems, errors.New("no user has a token"))
	}
	owner := map[[sha256.Size]byte]string{}
	for _, user := range slices.Sorted(maps.Keys(byUser)) {
		token := byUser[user]
		sum := sha256.Sum256([]byte(token))
		if user == "" || len(user) > 200 || strings.ContainsFunc(user, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			problems = append(problems, fmt.Errorf("%q is no name of a user", user))
		}
		if len(token) < MinToken {
			problems = append(problems, fmt.Errorf("the token of %q has %d bytes; it needs at least %d", user, len(token), MinToken))
		}
		if first, twice := owner[sum]; twice {
			problems = append(problems, fmt.Errorf("%q and %q have the same token", first, user))
		}
		owner[sum] = user
		t.users = append(t.users, user)
		t.hashes = append(t.hashes, sum)
	}
	return t, errors.Join(problems...)
}

// who is the user of a token, in the same time for every token of one length.
func (t *Tokens) who(token string) (actor.Actor, bool) {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range t.hashes {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.hashes[i][:]), i, found)
	}
	if found < 0 {
		return actor.Actor{}, false
	}
	return actor.Actor{User: t.users[found]}, true
}

type whoKey struct{}

// authenticate lets only requests with a known token pass, and says whose they
// are.
func (h *HTTP) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		who, known := h.tokens.who(strings.TrimSpace(token))
		if !strings.EqualFold(kind, "bearer") || !known || len(r.Header.Values("Authorization")) != 1 {
			challenge := `Bearer realm="handrail"`
			if token != "" {
				challenge += `, error="invalid_token"`
			}
			w.Header().Set("WWW-Authenticate", challenge)
			h.refuse(w, http.StatusUnauthorized, "a bearer token of a known user is needed")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, who)))
	})
}

func whoIs(r *http.Request) actor.Actor {
	who, _ := r.Context().Value(whoKey{}).(actor.Actor)
	return who
}
