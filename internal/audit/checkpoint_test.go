package audit_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/internal/audit"
	"handrail/internal/fault"
)

// zeros is a source of randomness that makes the same key every time.
type zeros byte

func (z zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(z)
	}
	return len(b), nil
}

func keys(t *testing.T, seed byte) (secret, public string) {
	t.Helper()
	secret, public, err := audit.NewKey(zeros(seed), "laptop")
	if err != nil {
		t.Fatal(err)
	}
	return secret, public
}

// signed is a checkpoint of the record as it is, read back.
func signed(t *testing.T, m memory) audit.Checkpoint {
	t.Helper()
	secret, public := keys(t, 1)
	text, err := audit.Checkpoint{Heads: verified(t, m).Heads}.Sign(secret)
	if err != nil {
		t.Fatal(err)
	}
	c, err := audit.ParseCheckpoint(text, public)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestACheckpointIsANoteThatAPersonCanRead(t *testing.T) {
	secret, public := keys(t, 1)
	m := record(5)
	text, err := audit.Checkpoint{Heads: verified(t, m).Heads}.Sign("\n" + secret + "\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "handrail audit\nann 3 " + m[4].Sum.String() + "\nbob 2 " + m[3].Sum.String() + "\n\n— laptop "
	if !strings.HasPrefix(text, want) {
		t.Errorf("the note is\n%s\nwant\n%s", text, want)
	}
	for _, form := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
		c, err := audit.ParseCheckpoint(form, public+"\n")
		if err != nil || !slices.Equal(c.Heads, verified(t, m).Heads) {
			t.Errorf("read back as %v, %v", c.Heads, err)
		}
	}
	if derived, err := audit.PublicKey(secret); err != nil || derived != public {
		t.Errorf("the public key of the secret one is %q, %v; want %q", derived, err, public)
	}
}

func TestACheckpointKeepsUsersOfAnyName(t *testing.T) {
	secret, public := keys(t, 1)
	var heads []audit.Head
	for i, user := range []string{"", "-", "%2D", "a b", "new\nline", "ünï", "a/b", "\x00", "x\ty", "\u2028"} {
		heads = append(heads, audit.Head{User: user, Size: int64(i + 1), Sum: audit.Hash{byte(i)}})
	}
	text, err := audit.Checkpoint{Heads: heads}.Sign(secret)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := audit.ParseCheckpoint(text, public); err != nil || !slices.Equal(c.Heads, heads) {
		t.Errorf("read back as %v, %v", c.Heads, err)
	}
}

func TestACheckpointProvesWhatTheChainAloneCannot(t *testing.T) {
	m := record(12)
	c := signed(t, m)
	for what, later := range map[string]memory{
		"unchanged": m,
		"continued": append(slices.Clone(m), record(20)[12:]...),
	} {
		if rep, err := audit.CheckCheckpoint(t.Context(), later, c); err != nil || len(rep.Breaks) != 0 {
			t.Errorf("%s: %+v, %v", what, rep.Breaks, err)
		}
	}
	forged := slices.Clone(m)
	forged[2].Outcome = audit.Rejected
	grown := slices.Clone(record(20))
	grown[2].At = grown[2].At.Add(time.Hour)
	for what, x := range map[string]struct {
		m     memory
		user  string
		says  string
		chain bool // the chain alone looks whole
	}{
		"the tail cut off":             {m[:9], "bob", "the last ones were removed", true},
		"everything removed":           {memory{}, "ann", "the last ones were removed", true},
		"one user removed":             {slices.DeleteFunc(slices.Clone(m), func(e audit.Entry) bool { return e.User == "bob" }), "bob", "6 entries of this user were signed and 0 are there", true},
		"written anew":                 {forged.chained(), "ann", "written anew", true},
		"written anew and longer":      {grown.chained(), "ann", "written anew", true},
		"altered":                      {forged, "ann", "altered", false},
		"cut off and filled up again":  {append(slices.Clone(m[:8]), record(12)[8:]...).chained()[:11], "bob", "removed", true},
		"cut and continued with other": {append(slices.Clone(m[:10]), grown[2], grown[3]).chained(), "ann", "written anew", true},
	} {
		rep, err := audit.CheckCheckpoint(t.Context(), x.m, c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(rep.Breaks, func(b audit.Break) bool { return b.User == x.user && strings.Contains(b.Why, x.says) }) {
			t.Errorf("%s: found %+v, want %s: %q", what, rep.Breaks, x.user, x.says)
		}
		if alone := len(verified(t, x.m).Breaks) == 0; alone != x.chain {
			t.Errorf("%s: the chain alone looks whole: %v", what, alone)
		}
	}
}

func TestACheckpointThatWasNotSignedByTheKeyIsNotBelieved(t *testing.T) {
	secret, public := keys(t, 1)
	_, stranger := keys(t, 2)
	text, err := audit.Checkpoint{Heads: verified(t, record(6)).Heads}.Sign(secret)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ text, key, says string }{
		"another key":     {text, stranger, "not signed"},
		"altered":         {strings.Replace(text, "ann 3", "ann 2", 1), public, "not signed"},
		"a line removed":  {strings.Replace(text, "handrail audit\n", "", 1), public, "not signed"},
		"unsigned":        {text[:strings.Index(text, "\n\n")+2], public, "not signed"},
		"no note":         {"hello", public, "not signed"},
		"nothing":         {"", public, "not signed"},
		"a secret as key": {text, secret, "no key to check"},
		"no key":          {text, "", "no key to check"},
	} {
		_, err := audit.ParseCheckpoint(c.text, c.key)
		if fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(fault.Of(err).Message, c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestASecretThatIsNoneIsRefusedAndNeverRepeated(t *testing.T) {
	secret, public := keys(t, 1)
	for _, bad := range []string{"", "hello", public, secret[:len(secret)-4], strings.Replace(secret, "laptop", "desktop", 1)} {
		_, err := audit.Checkpoint{Heads: []audit.Head{{User: "ann", Size: 1}}}.Sign(bad)
		if fault.CodeOf(err) != fault.InvalidInput || (bad != "" && strings.Contains(err.Error(), bad)) {
			t.Errorf("signing: %v", err)
		}
		if _, err := audit.PublicKey(bad); fault.CodeOf(err) != fault.InvalidInput || (bad != "" && strings.Contains(err.Error(), bad)) {
			t.Errorf("deriving: %v", err)
		}
	}
	if _, err := (audit.Checkpoint{}).Sign(secret); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("an empty checkpoint: %v", err)
	}
	for _, name := range []string{"", "two words", "a+b"} {
		if _, _, err := audit.NewKey(zeros(1), name); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("a key called %q: %v", name, err)
		}
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	secret, public, err := audit.NewKey(zeros(1), "laptop")
	if err != nil {
		f.Fatal(err)
	}
	text, err := audit.Checkpoint{Heads: []audit.Head{{User: "ann", Size: 3}}}.Sign(secret)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(text))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := audit.ParseCheckpoint(string(b), public)
		if err == nil && (len(c.Heads) != 1 || !bytes.Contains(b, []byte("ann 3 "))) {
			t.Errorf("believed %q", b)
		}
	})
}
