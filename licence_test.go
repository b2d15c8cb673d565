package handrail_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// linked is a package of a program, as go list -deps -json prints it.
type linked struct {
	ImportPath string
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// licences are those that an MIT program may be linked with, each with words that
// are in its text and in no other's here: small letters, single spaces.
var licences = []struct{ name, words string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"BSD", "redistribution and use in source and binary forms"},
}

func TestEveryLinkedModuleHasALicenceThatAllowsIt(t *testing.T) {
	modules := map[string]string{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		maps.Copy(modules, linkedModules(t, goos, "./cmd/..."))
	}
	if len(modules) < 5 {
		t.Fatalf("only %d modules are linked, so nothing was checked", len(modules))
	}
	count := map[string]int{}
	for path, dir := range modules {
		name, err := licenceOf(dir)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		count[name]++
	}
	t.Logf("%d modules: %v", len(modules), count)
}

// linkedModules maps "path@version" of every module linked into the programs on
// a platform to its folder.
func linkedModules(t *testing.T, goos, programs string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Module", programs)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	modules := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p linked
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return modules
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main {
			modules[p.Module.Path+"@"+p.Module.Version] = p.Module.Dir
		}
	}
}

// licenceOf names the licence of the module in dir.
func licenceOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		base := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".txt"), ".md"))
		if !e.IsDir() && slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "LICENSE-MIT", "LICENSE.MIT"}, base) {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		plain := strings.ToLower(strings.Join(strings.Fields(string(text)), " "))
		plain = strings.ReplaceAll(plain, "license, version", "license version")
		for _, l := range licences {
			if strings.Contains(plain, l.words) {
				return l.name, nil
			}
		}
	}
	return "", errors.New("no file in it is a licence known to allow this: read it, and add it to licence_test.go or drop the module; it has " + strings.Join(names, ", "))
}
