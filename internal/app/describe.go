package app

import (
	"slices"

	"handrail/internal/config"
	"handrail/internal/tool"
	"handrail/internal/toolset"
)

// Offer is what a preset offers to clients.
type Offer struct {
	// Sets are its toolsets.
	Sets []toolset.Set
	// Policy is how its destroying tools are confirmed.
	Policy tool.Policy
}

// Tools are the tools of all its sets, in order.
func (o Offer) Tools() []tool.Tool {
	var all []tool.Tool
	for _, s := range o.Sets {
		all = append(all, s.Tools...)
	}
	return all
}

// Live reports whether it also has tools that come and go, which only somebody who
// opens it can name.
func (o Offer) Live() bool {
	return slices.ContainsFunc(o.Sets, func(s toolset.Set) bool { return s.Live != nil })
}

// Describe is what these settings offer, without opening anything: for help,
// documentation and completion. Its tools have no data behind them and must not
// be called.
func Describe(c config.Config) (Offer, error) {
	s, err := sets(c, data{})
	return Offer{Sets: s, Policy: tool.Policy(c.Confirm)}, err
}
