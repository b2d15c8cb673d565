package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var spendSentences = []sentence{
	{"a confirmation is used once, whoever tries, also another process", func(t *testing.T, s Store) {
		other := s.Another(t)
		until := time.Now().Add(time.Hour)
		var fresh atomic.Int32
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				by := s
				if i%2 == 0 {
					by = other
				}
				ok, err := by.Spend(t.Context(), "nonce", until)
				if err != nil {
					t.Error(err)
				}
				if ok {
					fresh.Add(1)
				}
			})
		}
		all.Wait()
		if n := fresh.Load(); n != 1 {
			t.Errorf("it was used %d times", n)
		}
		if ok, err := other.Spend(t.Context(), "another", until); !ok || err != nil {
			t.Errorf("another confirmation: %v, %v", ok, err)
		}
	}},
	{"a confirmation that has expired is forgotten", func(t *testing.T, s Store) {
		for range 2 {
			if ok, err := s.Spend(t.Context(), "old", time.Unix(1, 0)); !ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		}
	}},
}
