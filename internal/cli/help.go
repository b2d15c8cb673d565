package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"handrail/internal/config"
)

// The shape of the help.
const (
	helpWidth  = 80
	optionWide = 26 // of an option with its value, before the text begins
)

const (
	allFlags     = "{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	wrappedFlags = "{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}"
)

// usageTemplate is the library's, with lines that fit and the exit statuses.
func usageTemplate(cmd *cobra.Command) string {
	return strings.Replace(cmd.UsageTemplate(), allFlags, wrappedFlags, 1) + "\n" + exitHelp + "\n"
}

// optionsHelp describes the settings of a preset.
func optionsHelp(p config.Preset) string {
	var own, http, secret strings.Builder
	for _, s := range p.Settings {
		switch o := s.About(); {
		case o.Secret:
			entry(&secret, s.Env, o.Doc, only(o.OnlyHTTP, "with --http only"), defaultHelp(s))
		case o.OnlyHTTP:
			entry(&http, flagHelp(o), o.Doc, s.Env, defaultHelp(s))
		default:
			entry(&own, flagHelp(o), o.Doc, s.Env, defaultHelp(s))
		}
	}
	entry(&own, "-h, --help", "This help.")
	text := "Options (an option beats its variable, which beats the default):\n" + own.String()
	if http.Len() > 0 {
		text += "\nOptions with --http only:\n" + http.String()
	}
	if secret.Len() > 0 {
		text += "\nVariables for what must not stand on a command line:\n" + secret.String()
	}
	return strings.TrimSuffix(text, "\n")
}

func flagHelp(o config.Option) string {
	if o.Value == "" {
		return "--" + o.Name
	}
	return "--" + o.Name + " " + o.Value
}

func defaultHelp(s config.Setting) string {
	switch {
	case s.Required:
		return "required"
	case s.DefaultDoc != "":
		return "default: " + s.DefaultDoc
	}
	return "default: " + s.Default
}

// entry writes an option and its text beside it, or below it where it is long,
// and then, on a line of their own, its variable and default.
func entry(b *strings.Builder, option, doc string, more ...string) {
	notes := ""
	for _, m := range more {
		if m != "" && notes != "" {
			notes += "; "
		}
		notes += m
	}
	lines := wrap(doc, helpWidth-optionWide-4)
	if notes != "" {
		lines = append(lines, wrap("["+notes+"]", helpWidth-optionWide-4)...)
	}
	if n := utf8.RuneCountInString(option); n <= optionWide {
		fmt.Fprintf(b, "  %s%s  %s\n", option, strings.Repeat(" ", optionWide-n), lines[0])
		lines = lines[1:]
	} else {
		fmt.Fprintf(b, "  %s\n", option)
	}
	for _, line := range lines {
		fmt.Fprintf(b, "  %*s  %s\n", optionWide, "", line)
	}
}

// wrap breaks a text into lines of at most n characters, where no word is longer.
func wrap(text string, n int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > n {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// shapeHelpLater shapes the help when it is first asked for: a server that starts
// has no use for it, and it takes a tenth of the start.
func shapeHelpLater(root *cobra.Command) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		root.SetUsageFunc(nil)
		shapeHelp(root)
		return cmd.UsageFunc()(cmd)
	})
}

// shapeHelp gives every command its usage. One that takes a preset's settings
// shows the options in the order of the table, each with its variable and its
// default.
func shapeHelp(root *cobra.Command) {
	plain := usageTemplate(root)
	var shape func(*cobra.Command)
	shape = func(cmd *cobra.Command) {
		if p, is := config.FindPreset(cmd.Annotations[presetNote]); is {
			if cmd.Annotations[localNote] != "" {
				p = withoutHTTP(p)
			}
			cmd.SetUsageTemplate(strings.Replace(plain, "Flags:\n"+wrappedFlags, optionsHelp(p), 1))
		}
		for _, c := range cmd.Commands() {
			shape(c)
		}
	}
	shape(root)
	root.SetUsageTemplate(plain)
}
