package demo

import (
	"context"
	"time"
	_ "time/tzdata" // zones are known on machines without a zone database too

	"handrail/internal/fault"
	"handrail/internal/tool"
)

type zone struct {
	TimeZone *string `json:"timeZone,omitempty"`
}

type clock struct {
	Time     string `json:"time"`
	TimeZone string `json:"timeZone"`
}

func currentTime(now func() time.Time) tool.Tool {
	return tool.New(tool.Spec{
		Name: "current-time", Title: "Current time", Doc: "Return the time now, in a time zone or in UTC.",
		Args: tool.Args{"timeZone": {Doc: "IANA name, such as Asia/Shanghai; UTC without it.", MinLength: 1, MaxLength: 100}},
	}, func(_ context.Context, _ *tool.Call, in zone) (clock, error) {
		name := "UTC"
		if in.TimeZone != nil {
			name = *in.TimeZone
		}
		place, err := time.LoadLocation(name)
		if err != nil || name == "Local" { // which would tell where the server stands
			return clock{}, fault.New(fault.InvalidInput, "timeZone: %q is no IANA time zone, such as Europe/Paris", name)
		}
		return clock{now().In(place).Format(time.RFC3339), name}, nil
	})
}
