package mcpserver_test

import (
	"fmt"
	"testing"
)

func TestMethodsOfAFeatureThatIsNotDeclaredAreUnknown(t *testing.T) {
	// Only tools are declared; the SDK would answer these with empty lists.
	c := start(t, newShelf().set())
	rows := []string{
		"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read", "completion/complete",
	}
	for i, method := range rows {
		c.send(ask(i+1, method, `"name":"x","uri":"x://y"`))
		if m := c.next(); dig(m, "error", "code") != -32601.0 {
			t.Errorf("%s: %v", method, m)
		}
	}
	c.rest()

	old := start(t, newShelf().set())
	old.send(hello)
	old.next()
	old.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i, method := range append(rows, "logging/setLevel", "resources/subscribe", "resources/unsubscribe") {
		old.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":"x","uri":"x://y","level":"info"}}`, i+2, method))
		if m := old.next(); dig(m, "error", "code") != -32601.0 {
			t.Errorf("legacy %s: %v", method, m)
		}
	}
	old.rest()
}
