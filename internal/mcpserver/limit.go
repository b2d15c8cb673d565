package mcpserver

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// rates bounds how often each user may call.
type rates struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu    sync.Mutex
	users map[string]*rate.Limiter
}

func newRates(perSecond, burst int, now func() time.Time) *rates {
	return &rates{rate: rate.Limit(perSecond), burst: max(burst, perSecond), now: now, users: map[string]*rate.Limiter{}}
}

// take is how long the user must wait before another request; zero: not at
// all, and the request is counted.
func (r *rates) take(user string) time.Duration {
	if r.rate <= 0 {
		return 0
	}
	r.mu.Lock()
	l := r.users[user]
	if l == nil {
		l = rate.NewLimiter(r.rate, r.burst)
		r.users[user] = l
	}
	r.mu.Unlock()
	now := r.now()
	reserved := l.ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait > 0 {
		reserved.CancelAt(now)
	}
	return wait
}

// limit holds a user to the rate.
func (h *HTTP) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait := h.rate.take(whoIs(r).User); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			h.refuse(w, http.StatusTooManyRequests, "too many requests; wait and try again")
			return
		}
		next.ServeHTTP(w, r)
	})
}
