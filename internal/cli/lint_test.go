package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/internal/config"
)

// Some hosts refuse a whole server for one schema they do not understand, each
// for other reasons (claude-code 45106 and 51836, vscode 243602).
func TestEveryHostAcceptsEveryTool(t *testing.T) {
	name := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,51}$`)
	for _, p := range config.Presets {
		var list toolList
		if err := json.Unmarshal(listTools(t, p), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) == 0 {
			t.Errorf("%s has no tools", p.Name)
		}
		for _, tool := range list.Tools {
			if !name.MatchString(tool.Name) {
				t.Errorf("%s %s: a name begins with a letter and has at most 52 letters, digits, _ and -", p.Name, tool.Name)
			}
			for _, fault := range lintDescribed(tool.InputSchema, "inputSchema") {
				t.Errorf("%s %s: %s", p.Name, tool.Name, fault)
			}
			tool.lint(t, p.Name)
		}
	}
}

// The tools of tasks have the authors' names, and schemas of ours: those of this
// repository's own Taskfile, and of one with every kind of variable.
func TestEveryHostAcceptsTheToolsOfTasks(t *testing.T) {
	name := regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)
	p, _ := config.FindPreset("taskfile")
	own, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for root, task := range map[string]string{own: "build", "": "deploy"} {
		b := setUp(t, p)
		if at := slices.Index(b.flags, "--root"); root != "" {
			b.flags[at+1] = root
		}
		out, _ := b.serve(t, modern(t, 1, "tools/list", nil))
		var reply struct{ Result toolList }
		if len(out) != 1 || json.Unmarshal([]byte(out[0]), &reply) != nil {
			t.Fatalf("tools/list answered %q", out)
		}
		found := false
		for _, tool := range reply.Result.Tools {
			found = found || tool.Name == task
			if !name.MatchString(tool.Name) {
				t.Errorf("%q is no name of a tool", tool.Name)
			}
			tool.lint(t, "taskfile")
		}
		if !found {
			t.Errorf("%s has no tool for its task %s", root, task)
		}
	}
}

// toolList is the result of tools/list.
type toolList struct{ Tools []offered }

type offered struct {
	Name, Title, Description string
	InputSchema              map[string]any
	OutputSchema             map[string]any
	Annotations              map[string]any
}

// lint reports what some host refuses.
func (tool offered) lint(t *testing.T, preset string) {
	t.Helper()
	at := preset + " " + tool.Name
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

// lintDescribed finds properties that no model could guess the meaning of.
func lintDescribed(v any, at string) (faults []string) {
	s, _ := v.(map[string]any)
	if items, there := s["items"]; there {
		faults = append(faults, lintDescribed(items, at+"[]")...)
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		if text, _ := p.(map[string]any)["description"].(string); text == "" {
			faults = append(faults, at+"."+name+" is not described")
		}
		faults = append(faults, lintDescribed(p, at+"."+name)...)
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
