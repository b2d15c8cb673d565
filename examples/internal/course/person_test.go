package course_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The lessons in which a person takes part: who chooses a prompt, loses patience,
// or is asked.

func TestLesson04ProposesValuesAndMakesThePrompt(t *testing.T) {
	inEveryEra(t, func(t *testing.T, era string) {
		h := start(t, "lesson04", era, nil)
		propose := func(field, typed string, filled map[string]string) []string {
			res, err := h.Complete(t.Context(), &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "plan-day"},
				Argument: mcp.CompleteParamsArgument{Name: field, Value: typed},
				Context:  &mcp.CompleteContext{Arguments: filled},
			})
			if err != nil {
				t.Fatal(err)
			}
			return res.Completion.Values
		}
		for _, tt := range []struct {
			field, typed string
			filled       map[string]string
			want         []string
		}{
			{"country", "", nil, []string{"China", "Italy"}},
			{"country", "IT", nil, []string{"Italy"}},
			{"city", "n", map[string]string{"country": "China"}, []string{"Nanjing"}},
			{"city", "n", nil, []string{"Nanjing", "Naples"}},
			{"city", "q", nil, []string{}},
			{"weather", "", nil, []string{}},
		} {
			if got := propose(tt.field, tt.typed, tt.filled); !slices.Equal(got, tt.want) {
				t.Errorf("%s %q with %v: %v, want %v", tt.field, tt.typed, tt.filled, got, tt.want)
			}
		}
		res, err := h.GetPrompt(t.Context(), &mcp.GetPromptParams{
			Name: "plan-day", Arguments: map[string]string{"country": "Italy", "city": "Turin"},
		})
		if err != nil || len(res.Messages) != 1 || res.Messages[0].Role != "user" {
			t.Fatalf("%v, %v", res, err)
		}
		says(t, res.Messages[0].Content.(*mcp.TextContent).Text, "Turin", "Italy")
		if _, err := h.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "plan-day"}); err == nil {
			t.Error("a prompt was made of nothing")
		}
	})
}

func TestLesson05ReportsProgressAndStopsWhenCancelled(t *testing.T) {
	inEveryEra(t, func(t *testing.T, era string) {
		progress := make(chan *mcp.ProgressNotificationParams, 200)
		h := start(t, "lesson05", era, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
		})
		says(t, text(h.call(t, "process_steps", map[string]any{"steps": 3}, false)), `{"completed":3}`)
		h.call(t, "process_steps", map[string]any{"steps": 101}, true)
		if s := notices(h); strings.Contains(s, "progress") {
			t.Errorf("progress without a token:\n%s", s)
		}

		long := &mcp.CallToolParams{Name: "process_steps", Arguments: map[string]any{"steps": 100, "delayMs": 100}}
		long.SetProgressToken("bar")
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		failed := make(chan error, 1)
		go func() {
			_, err := h.CallTool(ctx, long)
			failed <- err
		}()
		for done := 1.0; done <= 2; done++ {
			if p := soon(t, "progress", progress); p.Progress != done || p.Total != 100 || p.ProgressToken != "bar" {
				t.Errorf("progress %v", p)
			}
		}
		giveUp()
		if err := soon(t, "the end of the call", failed); !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended with %v", err)
		}
		for deadline := time.Now().Add(patience); !strings.Contains(h.stderr.String(), "cancelled: stopped after"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the server went on working")
			}
		}
	})
}

// answer is a person who always answers the same.
func answer(action string, confirm any) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		if !strings.Contains(req.Params.Message, "diary") || !strings.Contains(req.Params.Message, "Monday: rain") {
			return nil, errors.New("the question does not say what it is about: " + req.Params.Message)
		}
		res := &mcp.ElicitResult{Action: action}
		if confirm != nil {
			res.Content = map[string]any{"confirm": confirm}
		}
		return res, nil
	}}
}

func TestLesson06DeletesOnlyWhatAPersonAgreedTo(t *testing.T) {
	diary := map[string]any{"name": "diary"}
	inEveryEra(t, func(t *testing.T, era string) {
		if era == "2024-11-05" {
			return // a client of that version has no elicitation to declare
		}
		for _, no := range []*mcp.ClientOptions{answer("decline", nil), answer("cancel", nil), answer("accept", false)} {
			h := start(t, "lesson06", era, no)
			says(t, text(h.call(t, "delete_note", diary, true)), "did not agree", "nothing was deleted")
		}
		h := start(t, "lesson06", era, answer("accept", true))
		says(t, text(h.call(t, "delete_note", diary, false)), "deleted diary")
		says(t, text(h.call(t, "delete_note", diary, true)), "there is no note")
	})
}

func TestLesson06TellsAClientThatCannotAskWhatIsMissing(t *testing.T) {
	inEveryEra(t, func(t *testing.T, era string) {
		h := start(t, "lesson06", era, nil)
		says(t, text(h.call(t, "delete_note", map[string]any{"name": "diary"}, true)), "cannot ask", "elicitation")
	})
}

func TestLesson06RefusesAStateThatIsForgedOrForAnotherNote(t *testing.T) {
	options := answer("accept", true)
	options.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	h := start(t, "lesson06", eras[0], options)
	params := func(note string) *mcp.CallToolParams {
		return &mcp.CallToolParams{Name: "delete_note", Arguments: map[string]any{"name": note}}
	}
	first, err := h.CallTool(t.Context(), params("diary"))
	if err != nil || !first.NeedsInput() || first.RequestState == "" {
		t.Fatalf("%v, %v", first, err)
	}
	if strings.Contains(first.RequestState, "diary") || strings.Contains(first.RequestState, "rain") {
		t.Error("the state can be read")
	}
	yes := mcp.InputResponseMap{"confirm": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}}
	for _, tt := range []struct{ note, state, want string }{
		{"recipe", first.RequestState, "not ours, or is for another call"},
		{"diary", first.RequestState[:len(first.RequestState)-4], "not ours"},
		{"diary", "x", "not ours"},
	} {
		retry := params(tt.note)
		retry.RequestState, retry.InputResponses = tt.state, yes
		res, err := h.CallTool(t.Context(), retry)
		if err != nil || !res.IsError {
			t.Fatalf("%s with %q: %v, %v", tt.note, tt.state, res, err)
		}
		says(t, text(res), tt.want)
	}
	retry := params("diary")
	retry.RequestState, retry.InputResponses = first.RequestState, yes
	if res, err := h.CallTool(t.Context(), retry); err != nil || res.IsError {
		t.Errorf("the true state was refused: %v, %v", res, err)
	}
}
