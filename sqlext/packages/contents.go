package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

// contents says what is inside a binary: the modules that Go wrote into it, with their licences.
type contents struct {
	main    debug.Module
	modules []module
}

type module struct {
	path, version, license string
}

func readContents(binary string) (c contents, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return c, err
	}
	c.main = info.Main
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return c, fmt.Errorf("go env: %w", err)
	}
	text, err := licenseOf(strings.TrimSpace(string(root)))
	if err != nil {
		return c, err
	}
	c.modules = []module{{"std", strings.TrimPrefix(info.GoVersion, "go"), text}}
	out, err := exec.Command("go", "list", "-m", "-json=Path,Dir", "all").Output()
	if err != nil {
		return c, fmt.Errorf("go list: %w", err)
	}
	folders := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return c, err
		}
		folders[m.Path] = m.Dir
	}
	for _, m := range info.Deps {
		text, err := licenseOf(folders[m.Path])
		if err != nil {
			return c, fmt.Errorf("%s: %w", m.Path, err)
		}
		c.modules = append(c.modules, module{m.Path, m.Version, text})
	}
	return c, nil
}

// licenseOf returns a module's licence. Debian's Go has it elsewhere, but the release is not built there.
func licenseOf(folder string) (string, error) {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*"} {
		found, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are well formed
		if len(found) > 0 {
			b, err := os.ReadFile(found[0])
			return string(b), err
		}
	}
	return "", fmt.Errorf("%s has no licence", folder)
}

// notices returns the licence texts that go with a binary.
func (c contents) notices() []byte {
	var b strings.Builder
	for _, m := range c.modules {
		fmt.Fprintf(&b, "%s %s\n\n%s\n\n%s\n\n", m.path, m.version, m.license, strings.Repeat("-", 80))
	}
	return []byte(b.String())
}

// bom is a list of parts in the form of CycloneDX 1.6.
func (c contents) bom(name string) []byte {
	type text struct {
		Content string `json:"content"`
	}
	type license struct {
		License struct {
			Name string `json:"name"`
			Text text   `json:"text"`
		} `json:"license"`
	}
	type component struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		Purl     string    `json:"purl"`
		Licenses []license `json:"licenses,omitempty"`
	}
	of := func(kind, path, version string) component {
		purl := "pkg:golang/" + path + "@" + version
		return component{Type: kind, Ref: purl, Name: path, Version: version, Purl: purl}
	}
	var list struct {
		Format   string `json:"bomFormat"`
		Spec     string `json:"specVersion"`
		Version  int    `json:"version"`
		Metadata struct {
			Component component `json:"component"`
		} `json:"metadata"`
		Components []component `json:"components"`
	}
	list.Format, list.Spec, list.Version = "CycloneDX", "1.6", 1
	list.Metadata.Component = of("application", c.main.Path, c.main.Version)
	list.Metadata.Component.Name = name
	list.Metadata.Component.Version = sketch.Version
	for _, m := range c.modules {
		part := of("library", m.path, m.version)
		var l license
		l.License.Name = "the licence of " + m.path
		l.License.Text.Content = m.license
		part.Licenses = []license{l}
		list.Components = append(list.Components, part)
	}
	b, err := json.MarshalIndent(list, "", " ")
	must(err)
	return append(b, '\n')
}
