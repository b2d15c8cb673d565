package demo

import (
	"context"
	"math"

	"handrail/internal/fault"
	"handrail/internal/tool"
)

type operands struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type result struct {
	Result float64 `json:"result"`
}

func add() tool.Tool {
	return arithmetic("add", "Add", "Add two numbers.", func(a, b float64) float64 { return a + b })
}

func multiply() tool.Tool {
	return arithmetic("multiply", "Multiply", "Multiply two numbers.", func(a, b float64) float64 { return a * b })
}

func arithmetic(name, title, doc string, f func(a, b float64) float64) tool.Tool {
	return tool.New(tool.Spec{Name: name, Title: title, Doc: doc, Args: tool.Args{"a": {Doc: "One number."}, "b": {Doc: "The other number."}}},
		func(_ context.Context, _ *tool.Call, in operands) (result, error) {
			out := f(in.A, in.B)
			if math.IsInf(out, 0) || math.IsNaN(out) {
				return result{}, fault.New(fault.InvalidInput, "a, b: the result is too large for a number")
			}
			return result{out}, nil
		})
}
