package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"handrail/internal/config"
)

// Some hosts refuse a whole server for one schema they do not understand, each
// for other reasons (claude-code 45106 and 51836, vscode 243602).
func TestEveryHostAcceptsEveryTool(t *testing.T) {
	name := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,51}$`)
	for _, p := range config.Presets {
		var list struct {
			Tools []struct {
				Name, Title, Description string
				InputSchema              map[string]any
				OutputSchema             map[string]any
				Annotations              map[string]any
			}
		}
		if err := json.Unmarshal(listTools(t, p), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) == 0 {
			t.Errorf("%s has no tools", p.Name)
		}
		for _, tool := range list.Tools {
			at := p.Name + " " + tool.Name
			if !name.MatchString(tool.Name) {
				t.Errorf("%s: a name begins with a letter and has at most 52 letters, digits, _ and -", at)
			}
			if tool.Title == "" || tool.Description == "" {
				t.Errorf("%s has no title or no description", at)
			}
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"} {
				if _, there := tool.Annotations[hint]; !there {
					t.Errorf("%s does not say %s", at, hint)
				}
			}
			for _, s := range []struct {
				kind   string
				schema map[string]any
			}{{"inputSchema", tool.InputSchema}, {"outputSchema", tool.OutputSchema}} {
				if s.schema["type"] != "object" {
					t.Errorf("%s: %s is no object", at, s.kind)
				}
				for _, fault := range lintSchema(s.schema, s.kind) {
					t.Errorf("%s: %s", at, fault)
				}
			}
			for _, fault := range lintClosed(tool.InputSchema, "inputSchema") {
				t.Errorf("%s: %s", at, fault)
			}
		}
	}
}

// lintSchema finds what some host refuses, at any depth.
func lintSchema(v any, at string) (faults []string) {
	s, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, word := range []string{"$ref", "$dynamicRef", "$defs", "anyOf", "oneOf", "allOf", "not", "exclusiveMinimum", "exclusiveMaximum"} {
		if _, there := s[word]; there {
			faults = append(faults, fmt.Sprintf("%s has %s", at, word))
		}
	}
	typ, single := s["type"].(string)
	// A result may say null where a field is always there, and be described only.
	_, list := s["type"].([]any)
	described := s["type"] == nil && s["description"] != nil
	if !single && !(strings.HasPrefix(at, "outputSchema") && (list || described)) {
		faults = append(faults, at+" has not exactly one type")
	}
	if items, there := s["items"]; there {
		faults = append(faults, lintSchema(items, at+"[]")...)
	} else if typ == "array" {
		faults = append(faults, at+" is an array without items")
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		faults = append(faults, lintSchema(p, at+"."+name)...)
	}
	return faults
}

// lintClosed finds objects that would take keys nobody declared.
func lintClosed(v any, at string) (faults []string) {
	s, _ := v.(map[string]any)
	// The variables of a task are its author's; the call is checked against them.
	if s["type"] == "object" && s["additionalProperties"] != false && at != "inputSchema.vars" {
		faults = append(faults, at+" is not closed: additionalProperties must be false")
	}
	if items, there := s["items"]; there {
		faults = append(faults, lintClosed(items, at+"[]")...)
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		faults = append(faults, lintClosed(p, at+"."+name)...)
	}
	return faults
}

// Every host puts the list of tools into the model's context.
func TestTheToolListStaysWithinItsBudget(t *testing.T) {
	const tokens = 3000
	for _, p := range config.Presets {
		n := len(listTools(t, p)) / 4
		t.Logf("%s: %d tokens", p.Name, n)
		if n > tokens {
			t.Errorf("tools/list of %s takes %d tokens (bytes / 4), more than %d", p.Name, n, tokens)
		}
	}
}
