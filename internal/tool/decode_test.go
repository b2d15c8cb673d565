package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/internal/actor"
	"handrail/internal/audit"
	"handrail/internal/fault"
	"handrail/internal/tool"
)

type inner struct {
	Status *string `json:"status,omitempty"`
	Tag    *string `json:"tag,omitempty"`
}

type sample struct {
	Title  string   `json:"title"`
	Count  *int64   `json:"count,omitempty"`
	Ratio  *float64 `json:"ratio,omitempty"`
	Loud   bool     `json:"loud,omitzero"`
	Tags   []string `json:"tags,omitzero"`
	Filter *inner   `json:"filter,omitempty"`
}

var sampleSpec = tool.Spec{
	Name: "sample", Title: "Sample", Doc: "Echo.",
	Args: tool.Args{
		"title":         {MinLength: 1, MaxLength: 5},
		"count":         {Min: 1, HasMin: true, Max: 1<<53 - 1},
		"tags":          {MaxItems: 2},
		"tags[]":        {MinLength: 1, MaxLength: 3},
		"filter.status": {Enum: []string{"open", "done"}},
	},
}

func echo(_ context.Context, _ *tool.Call, in sample) (sample, error) { return in, nil }

// book is a log that remembers.
type book struct {
	appended, queued []audit.Entry
	refuse           error
}

func (b *book) Append(_ context.Context, e audit.Entry) error {
	if b.refuse != nil {
		return b.refuse
	}
	b.appended = append(b.appended, e)
	return nil
}
func (b *book) Queue(e audit.Entry)         { b.queued = append(b.queued, e) }
func (b *book) Flush(context.Context) error { return nil }

func open(log audit.Log, p tool.Policy) *tool.Door {
	return tool.NewDoor(tool.Options{Log: log, Policy: p, Now: func() time.Time { return time.Unix(1, 0) }})
}

func me() tool.Call { return tool.Call{Who: actor.LocalUser()} }

func TestArgumentsThatFitAreTakenAsTheyWereSent(t *testing.T) {
	rows := []struct{ name, raw, want string }{
		{"plain", `{"title":"milk"}`, `{"title":"milk"}`},
		{"spaces around", " \n{ \"title\" : \"milk\" } \t", `{"title":"milk"}`},
		{"optional nulls count as absent", `{"title":"a","count":null,"tags":null,"filter":null,"loud":null}`, `{"title":"a"}`},
		{"null inside an object", `{"title":"a","filter":{"status":null,"tag":"x"}}`, `{"filter":{"tag":"x"},"title":"a"}`},
		{"1.0 is an integer", `{"title":"a","count":1.0}`, `{"count":1,"title":"a"}`},
		{"1e2 is an integer", `{"title":"a","count":1e2}`, `{"count":100,"title":"a"}`},
		{"the largest exact integer", `{"title":"a","count":9007199254740991}`, `{"count":9007199254740991,"title":"a"}`},
		{"five UTF-16 units", `{"title":"😀😀a"}`, `{"title":"😀😀a"}`},
		{"escapes are the character", `{"title":"\u006d\ud83d\ude00"}`, `{"title":"m😀"}`},
		{"white space is kept", `{"title":" a \n"}`, `{"title":" a \n"}`},
		{"an escaped key is the key", `{"\u0074itle":"a"}`, `{"title":"a"}`},
	}
	d, target := open(&book{}, tool.Argument), tool.New(sampleSpec, echo)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			o := d.Call(t.Context(), me(), target, []byte(r.raw))
			if o.Fault != nil {
				t.Fatalf("refused: %v", o.Fault)
			}
			var got, want any
			if err := json.Unmarshal(o.Data, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(r.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestArgumentsThatDoNotFitAreRefusedByNameAndRuleAndRecordedAsTheyCame(t *testing.T) {
	rows := []struct{ name, raw, says string }{
		{"absent", ``, "title: is required"},
		{"null", `null`, "title: is required"},
		{"a list", `["milk"]`, "arguments: must be an object with count, filter, loud, ratio, tags, title"},
		{"a string", `"milk"`, "arguments: must be an object"},
		{"missing", `{}`, "title: is required"},
		{"required null", `{"title":null}`, "title: must be a string, not null"},
		{"unknown", `{"title":"a","dueAftr":1}`, `"dueAftr" is no argument of this tool; there are: count, filter, loud, ratio, tags, title`},
		{"unknown at depth", `{"title":"a","filter":{"dueAftr":1}}`, `"dueAftr" is no key of filter; there are: status, tag`},
		{"__proto__", `{"title":"a","__proto__":{"x":1}}`, `"__proto__" is no argument`},
		{"__proto__ at depth", `{"title":"a","filter":{"__proto__":1}}`, `"__proto__" is no key of filter`},
		{"another case", `{"Title":"a"}`, `"Title" is no argument`},
		{"twice", `{"title":"a","title":"b"}`, "title: given twice"},
		{"twice by escape", `{"title":"a","\u0074itle":"b"}`, "title: given twice"},
		{"twice in another case", `{"title":"a","TITLE":"b"}`, `"TITLE" is no argument`},
		{"twice at depth", `{"title":"a","filter":{"tag":"x","tag":"y"}}`, "filter.tag: given twice"},
		{"twice with null", `{"title":"a","count":null,"count":2}`, "count: given twice"},
		{"wrong type", `{"title":1}`, "title: must be a string, not a number"},
		{"number as text", `{"title":"a","count":"1"}`, "count: must be an integer, not a string"},
		{"a fraction", `{"title":"a","count":1.5}`, "count: must be an integer"},
		{"tiny fraction", `{"title":"a","count":1.0000001}`, "count: must be an integer"},
		{"zero", `{"title":"a","count":0}`, "count: must be at least 1"},
		{"negative zero", `{"title":"a","count":-0}`, "count: must be at least 1"},
		{"above exact", `{"title":"a","count":9007199254740992}`, "count: must be at most 9007199254740991"},
		{"above int64", `{"title":"a","count":92233720368547758070}`, "count: must be at most 9007199254740991"},
		{"infinite", `{"title":"a","count":1e999}`, "count: must be at most 9007199254740991"},
		{"infinite fraction", `{"title":"a","ratio":1e999}`, "ratio: out of range"},
		{"bool as text", `{"title":"a","loud":"true"}`, "loud: must be a boolean, not a string"},
		{"bool as number", `{"title":"a","loud":1}`, "loud: must be a boolean, not a number"},
		{"empty", `{"title":""}`, "title: must not be empty"},
		{"six units", `{"title":"😀😀ab"}`, "title: at most 5 characters (UTF-16 code units), not 6"},
		{"NUL", `{"title":"a\u0000"}`, "title: must not contain a NUL character"},
		{"too many", `{"title":"a","tags":["a","b","c"]}`, "tags: at most 2 items"},
		{"an item too long", `{"title":"a","tags":["a","abcd"]}`, "tags[1]: at most 3 characters"},
		{"an item that is null", `{"title":"a","tags":[null]}`, "tags[0]: must be a string, not null"},
		{"an array of numbers", `{"title":"a","tags":[1]}`, "tags[0]: must be a string, not a number"},
		{"no item of the list", `{"title":"a","filter":{"status":"OPEN"}}`, `filter.status: must be one of "open", "done"`},
		{"invalid UTF-8", "{\"title\":\"a\xff\"}", "title: not valid Unicode text"},
		{"half a surrogate pair", `{"title":"\ud800"}`, "title: not valid Unicode text"},
		{"invalid UTF-8 in a key", "{\"ti\xfftle\":\"a\"}", "not valid Unicode text"},
		{"cut short", `{"title":"a"`, "not valid JSON"},
		{"text behind", `{"title":"a"} {}`, "text after the end"},
		{"no JSON", `{title:1}`, "not valid JSON"},
		{"deep", `{"title":"a","filter":` + strings.Repeat(`{"tag":`, 200) + `1` + strings.Repeat(`}`, 200) + `}`, "filter.tag: must be a string"},
	}
	target := tool.New(sampleSpec, func(context.Context, *tool.Call, sample) (sample, error) {
		t.Error("the tool ran")
		return sample{}, nil
	})
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			log := &book{}
			o := open(log, tool.Argument).Call(t.Context(), me(), target, []byte(r.raw))
			if o.Fault == nil || o.Fault.Code != fault.InvalidInput {
				t.Fatalf("got %+v, want invalid_input", o)
			}
			if !strings.Contains(o.Fault.Message, r.says) {
				t.Errorf("message %q does not say %q", o.Fault.Message, r.says)
			}
			if len(log.queued) != 1 || log.queued[0].Outcome != audit.Rejected || string(log.queued[0].Args) != r.raw {
				t.Errorf("recorded %+v, want one rejected entry with the raw arguments", log.queued)
			}
		})
	}
}

func TestSchemaAndCheckerAgreeOnWhatIsThere(t *testing.T) {
	target := tool.New(sampleSpec, echo)
	var s struct {
		Type                 string
		Properties           map[string]json.RawMessage
		Required             []string
		AdditionalProperties *bool
	}
	if err := json.Unmarshal(target.InputSchema(tool.Argument), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Errorf("the schema is no closed object: %s", target.InputSchema(tool.Argument))
	}
	if diff := cmp.Diff([]string{"title"}, s.Required); diff != "" {
		t.Error(diff)
	}
	if len(s.Properties) != 6 {
		t.Errorf("%d properties, want 6", len(s.Properties))
	}
}

func FuzzDecodingNeverPanicsAndNeverLetsThroughWhatTheSchemaRefuses(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"title":"a","count":1.0,"tags":["x"],"filter":{"status":"open"}}`, `{"title":"\ud800"}`,
		"{\"title\":\"\xff\"}", `{"title":"a","title":"b"}`, `{"a":[[[[{}]]]]}`, `[1,2]`, `{"title":"a","count":1e400}`,
	} {
		f.Add([]byte(seed))
	}
	d, target := open(audit.Nowhere{}, tool.Argument), tool.New(sampleSpec, echo)
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := d.Call(t.Context(), me(), target, raw)
		if o.Fault != nil {
			if o.Fault.Code != fault.InvalidInput || o.Fault.Message == "" {
				t.Fatalf("fault %v for %q", o.Fault, raw)
			}
			return
		}
		var got sample
		if err := json.Unmarshal(o.Data, &got); err != nil {
			t.Fatalf("data %s: %v", o.Data, err)
		}
		n := len([]rune(got.Title))
		if n == 0 || n > 5 || len(got.Tags) > 2 || got.Count != nil && (*got.Count < 1 || *got.Count > 1<<53-1) {
			t.Fatalf("%q let through %+v", raw, got)
		}
		// What was let through fits when it comes again, and means the same.
		again := d.Call(t.Context(), me(), target, o.Data)
		if again.Fault != nil || string(again.Data) != string(o.Data) {
			t.Fatalf("again %v %s, first %s", again.Fault, again.Data, o.Data)
		}
	})
}
