// Package audit owns the record of calls: what an entry holds, how entries are
// chained so that a forged, missing or reordered one is found, and how the
// head of a chain is signed. It refuses to know where entries are kept: stores
// implement Log and Reader.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"time"
	"unicode/utf8"
)

// Outcome says how a call ended, in one word of the wire contract.
type Outcome string

// The outcomes, complete.
const (
	// OK: the call did what it was asked to.
	OK Outcome = "ok"
	// Rejected: the call was refused before anything ran (bad arguments, a size,
	// a conflict, a missing confirmation).
	Rejected Outcome = "rejected"
	// NotFound: what the call named is not there.
	NotFound Outcome = "not_found"
	// Declined: a person said no, or the confirmation did not fit the call.
	Declined Outcome = "declined"
	// Asked: the call is waiting for a person's answer; nothing was changed.
	Asked Outcome = "asked"
	// Started: a change outside the database begins; another entry with the same
	// call id says how it ended. An entry that never ends is a crash.
	Started Outcome = "started"
	// Error: everything else.
	Error Outcome = "error"
)

// Outcomes lists every outcome, in the order of the contract.
var Outcomes = []Outcome{OK, Rejected, NotFound, Declined, Asked, Started, Error}

// MaxArgs is the number of bytes of a call's raw arguments that an entry
// keeps; the full length and the SHA-256 of all of them stand beside.
const MaxArgs = 8 << 10

// Hash is a SHA-256 digest.
type Hash [sha256.Size]byte

// String is the digest in lower-case hexadecimal, 64 characters.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what Hash.String writes.
func ParseHash(s string) (Hash, bool) {
	var h Hash
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) || hex.EncodeToString(b) != s {
		return Hash{}, false
	}
	copy(h[:], b)
	return h, true
}

// Entry is one line of the record. Seq, Pos, Prev and Sum are set by the store
// when it appends; everything else is set by the caller.
type Entry struct {
	// Seq orders the entries of all users of one database, from 1.
	Seq int64
	// Pos is the place in the user's own chain: 1, 2, 3 … without a gap.
	Pos int64
	// At is when the call began, UTC, kept to the microsecond.
	At time.Time
	// User is whose call it was.
	User string
	// CallID joins a Started entry to the entry that says how it ended.
	CallID string
	// Tool is the tool's name.
	Tool string
	// Outcome is how it ended.
	Outcome Outcome
	// Code is the fault's code where there was a fault, else empty.
	Code string
	// Args are the first MaxArgs bytes of the raw arguments, as they came, cut
	// at a character's boundary.
	Args []byte
	// ArgsBytes is the full length of the raw arguments, in bytes.
	ArgsBytes int64
	// ArgsSum is the SHA-256 of all of the raw arguments.
	ArgsSum Hash
	// Duration is how long the call took, kept to the microsecond.
	Duration time.Duration
	// Prev is the Sum of the entry before in the user's chain; zero at Pos 1.
	Prev Hash
	// Sum is the hash of everything above.
	Sum Hash
}

// SetArgs keeps raw as an entry keeps it: the cut text, the full length and
// the digest of all of it.
func (e *Entry) SetArgs(raw []byte) {
	e.ArgsBytes = int64(len(raw))
	e.ArgsSum = sha256.Sum256(raw)
	cut := raw
	if len(cut) > MaxArgs {
		cut = cut[:MaxArgs]
		// Back to the beginning of the character that the cut goes through; bytes
		// that are no text are cut where they are.
		for n := MaxArgs; n > MaxArgs-utf8.UTFMax; n-- {
			if utf8.RuneStart(raw[n]) {
				cut = raw[:n]
				break
			}
		}
	}
	e.Args = append([]byte(nil), cut...)
}

// Chain places the entry behind prev, the last entry of the same user (nil for
// the first): it sets Pos and Prev, and Sum from all the rest. Seq must be set.
func (e *Entry) Chain(prev *Entry) {
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.Duration = e.Duration.Truncate(time.Microsecond)
	e.Pos, e.Prev = 1, Hash{}
	if prev != nil {
		e.Pos, e.Prev = prev.Pos+1, prev.Sum
	}
	e.Sum = e.Digest()
}

// Digest computes what Sum must be: SHA-256 over a version word and every
// field, each behind its length, so that no two entries share an encoding.
func (e *Entry) Digest() Hash {
	h := sha256.New()
	writeField(h, []byte("handrail audit entry 1"))
	writeInt(h, e.Seq)
	writeInt(h, e.Pos)
	writeInt(h, e.At.UTC().UnixMicro())
	writeField(h, []byte(e.User))
	writeField(h, []byte(e.CallID))
	writeField(h, []byte(e.Tool))
	writeField(h, []byte(e.Outcome))
	writeField(h, []byte(e.Code))
	writeField(h, e.Args)
	writeInt(h, e.ArgsBytes)
	writeField(h, e.ArgsSum[:])
	writeInt(h, e.Duration.Microseconds())
	writeField(h, e.Prev[:])
	return Hash(h.Sum(nil))
}

func writeField(h hash.Hash, b []byte) {
	writeInt(h, int64(len(b)))
	h.Write(b)
}

func writeInt(h hash.Hash, n int64) {
	var buf [8]byte
	binary.BigEndian.PutUint64(buf[:], uint64(n))
	h.Write(buf[:])
}

// Log is where entries are written. Implementations place each entry behind
// the last one of its user (Entry.Chain), for any number of processes at once.
type Log interface {
	// Append commits the entry durably before it returns.
	Append(ctx context.Context, e Entry) error
	// Queue hands the entry over; it is committed within 50 ms. A failure is
	// reported to the operator, never to the caller.
	Queue(e Entry)
	// Flush returns once everything queued before it is committed, or has failed
	// and been reported.
	Flush(ctx context.Context) error
}

// Nowhere is the Log of a server that was told to keep none.
type Nowhere struct{}

// Append does nothing.
func (Nowhere) Append(context.Context, Entry) error { return nil }

// Queue does nothing.
func (Nowhere) Queue(Entry) {}

// Flush does nothing.
func (Nowhere) Flush(context.Context) error { return nil }

// Broken is the Log of a server whose record cannot be opened: reads and
// refusals are answered, and changes, which must be recorded first, are not
// begun.
type Broken struct {
	// Err is why there is no record.
	Err error
	// Report tells the operator of each entry that is lost.
	Report func(error)
}

// Append fails.
func (b Broken) Append(context.Context, Entry) error { return b.Err }

// Queue reports that the entry is lost.
func (b Broken) Queue(e Entry) {
	b.Report(fmt.Errorf("a call of %s (%s) is not recorded: %w", e.Tool, e.Outcome, b.Err))
}

// Flush has nothing to do.
func (b Broken) Flush(context.Context) error { return nil }
