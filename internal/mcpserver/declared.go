package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// onlyDeclared answers the methods of a feature that is not declared as unknown.
// The SDK answers them with empty lists, and a client that goes by what works
// would take the feature for one that is there.
func onlyDeclared(caps *mcp.ServerCapabilities) mcp.Middleware {
	declared := map[string]bool{
		"prompts":    caps.Prompts != nil,
		"resources":  caps.Resources != nil,
		"completion": caps.Completions != nil,
		"logging":    caps.Logging != nil,
	}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			feature, _, _ := strings.Cut(method, "/")
			if served, known := declared[feature]; known && !served {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is no method " + method + " here"}
			}
			return next(ctx, method, req)
		}
	}
}
