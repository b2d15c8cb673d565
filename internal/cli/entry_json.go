package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
	"unicode/utf8"

	"handrail/internal/audit"
)

// shownEntry is an entry as a JSON object, under the names of the table's
// columns. It has everything that the entry's hash covers.
type shownEntry struct {
	Seq     int64  `json:"seq"`
	At      string `json:"at"`
	UserID  string `json:"user_id"`
	Pos     int64  `json:"pos"`
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"`
	Code    string `json:"code"`
	// Args is the text of the arguments; ArgsBase64 stands in its place where
	// they are no valid UTF-8.
	Args       *string `json:"args,omitempty"`
	ArgsBase64 *string `json:"args_base64,omitempty"`
	ArgsBytes  int64   `json:"args_bytes"`
	ArgsSHA256 string  `json:"args_sha256"`
	DurationUS int64   `json:"duration_us"`
	PrevHash   string  `json:"prev_hash"`
	Hash       string  `json:"hash"`
}

const microTime = "2006-01-02T15:04:05.000000Z"

// entryLine is the one way to write an entry as JSON.
func entryLine(e audit.Entry) ([]byte, error) {
	s := shownEntry{
		Seq: e.Seq, At: e.At.UTC().Format(microTime), UserID: e.User, Pos: e.Pos, CallID: e.CallID, Tool: e.Tool,
		Outcome: string(e.Outcome), Code: e.Code, ArgsBytes: e.ArgsBytes, ArgsSHA256: e.ArgsSum.String(),
		DurationUS: e.Duration.Microseconds(), PrevHash: e.Prev.String(), Hash: e.Sum.String(),
	}
	if utf8.Valid(e.Args) {
		text := string(e.Args)
		s.Args = &text
	} else {
		text := base64.StdEncoding.EncodeToString(e.Args)
		s.ArgsBase64 = &text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return []byte(visibleJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))), nil
}

// parseEntryLine reads what entryLine wrote, and nothing else: a line that
// means the same and is written in another way (a key twice, in other case) is
// refused, so that no two readers can see different entries in it.
func parseEntryLine(line []byte) (audit.Entry, error) {
	var s shownEntry
	if err := json.Unmarshal(line, &s); err != nil {
		return audit.Entry{}, errors.New("not an entry as `handrail audit export` writes it")
	}
	e := audit.Entry{
		Seq: s.Seq, User: s.UserID, Pos: s.Pos, CallID: s.CallID, Tool: s.Tool, Outcome: audit.Outcome(s.Outcome), Code: s.Code,
		ArgsBytes: s.ArgsBytes, Duration: time.Duration(s.DurationUS) * time.Microsecond,
	}
	e.At, _ = time.Parse(microTime, s.At)
	switch {
	case s.ArgsBase64 != nil:
		e.Args, _ = base64.StdEncoding.DecodeString(*s.ArgsBase64)
	case s.Args != nil && *s.Args != "":
		e.Args = []byte(*s.Args)
	}
	e.ArgsSum, _ = audit.ParseHash(s.ArgsSHA256)
	e.Prev, _ = audit.ParseHash(s.PrevHash)
	e.Sum, _ = audit.ParseHash(s.Hash)
	again, err := entryLine(e)
	if err != nil || !bytes.Equal(again, line) {
		return audit.Entry{}, errors.New("not an entry as `handrail audit export` writes it")
	}
	return e, nil
}

func writeEntries(ctx context.Context, w io.Writer, r audit.Reader, f audit.Filter) error {
	out := bufio.NewWriter(w)
	for e, err := range r.Entries(ctx, f) {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		line, err := entryLine(e)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// exported reads the entries of an export. It is an audit.Reader that knows no
// filter: verification reads everything.
type exported struct{ in io.Reader }

// longestLine bounds a line of an export, in bytes: arguments are kept up to
// 8 KiB, and escapes make them six times as long at most.
const longestLine = 1 << 20

// Entries implements audit.Reader.
func (x exported) Entries(ctx context.Context, _ audit.Filter) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		lines := bufio.NewScanner(x.in)
		lines.Buffer(nil, longestLine)
		for n := 1; lines.Scan(); n++ {
			e, err := parseEntryLine(lines.Bytes())
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(audit.Entry{}, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(audit.Entry{}, err)
		}
	}
}
