package note

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"handrail/internal/fault"
)

// Read returns one note. Its hash and size are those of the whole file, its
// content at most MaxReadBytes of it. Faults: invalid_input (path), not_found,
// invalid_store (UTF-16 text), unavailable (the file may not be read, or does
// not hold still).
func (v *Vault) Read(ctx context.Context, path string) (Content, error) {
	names, err := ParseNotePath("path", path)
	if err != nil {
		return Content{}, err
	}
	var c Content
	err = retry(ctx, path, func() error {
		p, err := v.walkFile("path", names, noteRule)
		if err != nil {
			return err
		}
		defer p.close()
		if p.info == nil {
			return fault.New(fault.NotFound, "there is no note %q%s", path, p.nearMiss())
		}
		c, err = v.readPlace(ctx, &p)
		return err
	})
	if err != nil {
		return Content{}, err
	}
	c.Path = path
	return c, nil
}

// nearMiss names the note that was meant, where only its case or the encoding of
// its accents is another.
func (p *place) nearMiss() string {
	if len(p.missing) > 0 {
		return ""
	}
	names, err := folderNames(p.dir)
	if err != nil {
		return ""
	}
	for _, have := range names {
		if twinKey(have) == twinKey(p.name) && nameRule(have) == "" {
			return fmt.Sprintf("; there is %q in that folder", have)
		}
	}
	return ""
}

func (v *Vault) readPlace(ctx context.Context, p *place) (Content, error) {
	f, info, err := p.open()
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	limit := v.limits.MaxReadBytes
	hash := sha256.New()
	// One byte more tells a note of exactly the limit from a longer one.
	head, err := io.ReadAll(io.TeeReader(io.LimitReader(f, int64(limit)+1), hash))
	if err != nil {
		return Content{}, err
	}
	total := int64(len(head))
	if len(head) > limit {
		n, err := io.Copy(hash, &patient{ctx, f})
		if err != nil {
			return Content{}, err
		}
		total += n
	}
	// An editor that writes in place may have changed the file meanwhile: what
	// was read is then neither the old note nor the new one.
	if now, err := f.Stat(); err != nil || total != now.Size() || !sameVersion(info, now) {
		return Content{}, errSwapped
	}
	if isUTF16(head) {
		return Content{}, fault.New(fault.InvalidStore, "the note is UTF-16 text; save it as UTF-8 to read it here")
	}
	c := Content{
		Truncated: len(head) > limit, TotalBytes: total,
		SHA256: hex.EncodeToString(hash.Sum(nil)), ModifiedAt: stampText(info.ModTime()),
	}
	c.Content, c.InvalidUTF8 = validText(cutText(head, limit))
	c.Hidden, c.HiddenMore = findHidden(c.Content)
	return c, nil
}

// patient reads until its context ends, so that a huge file does not outlive
// the call that asked for it.
type patient struct {
	ctx context.Context
	r   io.Reader
}

func (p *patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// cutText returns at most limit bytes of text and does not cut a character in
// two.
func cutText(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for back := 0; back < utf8.UTFMax && cut >= 0; back++ {
		if utf8.RuneStart(text[cut]) {
			return text[:cut]
		}
		cut--
	}
	return text[:limit] // no UTF-8 here anyway
}

// validText returns text with each byte that is no UTF-8 shown as U+FFFD, and
// how many those are.
func validText(text []byte) (string, int) {
	if utf8.Valid(text) {
		return string(text), 0
	}
	var out strings.Builder
	bad := 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		out.WriteRune(r)
		text = text[n:]
	}
	return out.String(), bad
}
