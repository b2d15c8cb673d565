package app

import (
	"errors"
	"fmt"
	"os"

	"handrail/internal/config"
	"handrail/internal/mcpserver"
)

// Check lists what would stop these settings from being served, beyond what
// config.Load finds: a folder that is not there, an address, names or tokens
// that are not safe. It opens and makes nothing, so that a person hears of
// everything at once and no file is left behind by a start that fails.
func Check(c config.Config) error {
	var problems []error
	if c.Root != "" {
		switch info, err := os.Stat(c.Root); {
		case errors.Is(err, os.ErrNotExist):
			problems = append(problems, fmt.Errorf("root: there is no folder %q", c.Root))
		case err != nil:
			problems = append(problems, fmt.Errorf("root: the folder %q cannot be looked at: %w", c.Root, reason(err)))
		case !info.IsDir():
			problems = append(problems, fmt.Errorf("root: %q is no folder", c.Root))
		}
	}
	if c.HTTP {
		if len(c.Tokens) > 0 { // none at all is for config to say
			_, err := mcpserver.NewTokens(c.Tokens)
			problems = append(problems, err)
		}
		o := mcpserver.HTTPOptions{Listen: c.Listen, Hosts: c.AllowedHosts, Origins: c.AllowedOrigins}
		problems = append(problems, o.Check())
	}
	return errors.Join(problems...)
}

// reason is an error of the file system without the path that stands beside it.
func reason(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}
