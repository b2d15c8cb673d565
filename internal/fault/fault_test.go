package fault_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"handrail/internal/fault"
)

// The wire contract's words, by hand: clients decide by them.
var contract = []string{"invalid_input", "not_found", "conflict", "confirmation_required", "declined", "too_large",
	"invalid_store", "unavailable", "timeout", "cancelled", "task_failed", "internal_error"}

func TestTheCodesAreThoseOfTheContract(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "fault.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Code" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
		}
		return true
	})
	if !slices.Equal(got, contract) {
		t.Errorf("the codes are %v, want %v", got, contract)
	}
}

func TestEveryErrorIsAFault(t *testing.T) {
	if fault.Of(nil) != nil || fault.CodeOf(nil) != "" {
		t.Error("no error is a fault")
	}
	cause := errors.New("SELECT secret FROM /etc/passwd")
	wrapped := fault.Wrap(cause, fault.Unavailable, "the store is busy")
	for _, row := range []struct {
		err  error
		code fault.Code
		says string
	}{
		{fault.New(fault.NotFound, "no task %d", 7), fault.NotFound, "no task 7"},
		{wrapped, fault.Unavailable, "the store is busy"},
		{fmt.Errorf("while adding: %w", wrapped), fault.Unavailable, "the store is busy"},
		{errors.Join(errors.New("x"), wrapped), fault.Unavailable, "the store is busy"},
		{context.DeadlineExceeded, fault.Timeout, "deadline"},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), fault.Timeout, "deadline"},
		{context.Canceled, fault.Cancelled, "gave up"},
		{fault.Wrap(context.Canceled, fault.Unavailable, "stopped"), fault.Unavailable, "stopped"},
		{cause, fault.Internal, ""},
	} {
		f := fault.Of(row.err)
		if f.Code != row.code || fault.CodeOf(row.err) != row.code || !strings.Contains(f.Message, row.says) || (row.says == "") != (f.Message == "") {
			t.Errorf("%v is %q: %q", row.err, f.Code, f.Message)
		}
		if strings.Contains(f.Message, "SELECT") {
			t.Errorf("the caller sees the cause: %q", f.Message)
		}
	}
	if !errors.Is(wrapped, cause) || !strings.Contains(wrapped.Error(), "SELECT") {
		t.Error("the operator does not see the cause")
	}
}
