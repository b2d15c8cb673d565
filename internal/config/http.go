package config

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	jsonx "github.com/go-json-experiment/json"
)

var policies = []string{"argument", "ask", "auto"}

// minSecret is the least length of a secret, in bytes.
const minSecret = 32

// redacted says only whether a secret is set.
func redacted(set bool) string {
	if set {
		return "set, not shown"
	}
	return ""
}

// folded is for an option that another one shows the effect of.
func folded(*Config) string { return "" }

func choice(field func(*Config) *string, choices []string) func(*Config, Preset, string) error {
	return func(c *Config, _ Preset, v string) error {
		if !slices.Contains(choices, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(choices, ", "))
		}
		*field(c) = v
		return nil
	}
}

func names(field func(*Config) *[]string) func(*Config, Preset, string) error {
	return func(c *Config, _ Preset, v string) error {
		for _, name := range strings.Split(v, ",") {
			if name = strings.TrimSpace(name); name != "" {
				*field(c) = append(*field(c), name)
			}
		}
		return nil
	}
}

func setListen(c *Config, _ Preset, v string) error {
	host, port, err := net.SplitHostPort(v)
	if err != nil {
		return fmt.Errorf("%q is no HOST:PORT", v)
	}
	if err := validPort(port); err != nil {
		return err
	}
	c.Listen = net.JoinHostPort(host, port)
	return nil
}

func setPort(c *Config, _ Preset, v string) error {
	c.Port = v
	return validPort(v)
}

func validPort(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q is no port from 0 to 65535", v)
	}
	return nil
}

func setRate(c *Config, _ Preset, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1_000_000 {
		return fmt.Errorf("%q is no whole number from 0 to 1000000", v)
	}
	c.Rate = n
	return nil
}

// setTokens takes the JSON object of users and tokens. The error shows nothing
// of it.
func setTokens(c *Config, _ Preset, v string) error {
	tokens := map[string]string{}
	if err := jsonx.Unmarshal([]byte(v), &tokens); err != nil {
		return errors.New("must be a JSON object that gives each user, once, a token as a string")
	}
	c.Tokens = tokens
	return nil
}

func setSecret(field func(*Config) *string) func(*Config, Preset, string) error {
	return func(c *Config, _ Preset, v string) error {
		if len(v) < minSecret {
			return fmt.Errorf("has %d bytes; it needs at least %d", len(v), minSecret)
		}
		*field(c) = v
		return nil
	}
}

// fromFile sets an option to what a file holds, without the line's end.
func fromFile(set func(*Config, Preset, string) error) func(*Config, Preset, string) error {
	return func(c *Config, p Preset, path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return errors.New("the file cannot be read: " + reason(err))
		}
		return set(c, p, string(bytes.TrimRight(b, "\r\n")))
	}
}

// reason is an error without the path that the person gave anyway.
func reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
