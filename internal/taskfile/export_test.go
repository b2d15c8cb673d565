package taskfile

// Cleaner cleans a stream in pieces, as they come.
type Cleaner struct{ c cleaner }

// Clean is what is left of a piece.
func (c *Cleaner) Clean(p string) string { return string(c.c.clean(nil, []byte(p))) }

// End is what is left at the end.
func (c *Cleaner) End() string { return string(c.c.end(nil)) }

// Keep is what is kept, within limit, of a stream that came in pieces.
func Keep(budget, limit int, pieces ...string) (text string, cut bool) {
	k := keep{budget: budget}
	for _, p := range pieces {
		k.add([]byte(p))
	}
	return k.text(limit)
}
