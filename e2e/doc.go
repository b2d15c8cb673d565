// Package e2e holds no code of the product. Its tests build the handrail
// binary and talk to it from outside: over raw pipes, with other people's
// client libraries, from several processes at once. The npm project here pins
// the clients; clients/ has the scripts that drive them, baseline/ the
// TypeScript server that bench measures Handrail against.
package e2e
