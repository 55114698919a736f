package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// target is a platform, under the names that each package index has for it.
type target struct {
	name     string // in the names of files
	os, arch string // Go's
	triple   string // Zig's
	file     string // of the library
	wheel    string // the platform tags of a wheel
	npm      [2]string
	gem      string
	library  []byte
}

// manylinux_2_17 needs a glibc of 2012, which Zig links against and auditwheel confirms.
var targets = []target{
	{name: "linux-x86_64", os: "linux", arch: "amd64", triple: "x86_64-linux-gnu.2.17", file: "alike.so",
		wheel: "manylinux2014_x86_64.manylinux_2_17_x86_64", npm: [2]string{"linux", "x64"}, gem: "x86_64-linux-gnu"},
	{name: "linux-aarch64", os: "linux", arch: "arm64", triple: "aarch64-linux-gnu.2.17", file: "alike.so",
		wheel: "manylinux2014_aarch64.manylinux_2_17_aarch64", npm: [2]string{"linux", "arm64"}, gem: "aarch64-linux-gnu"},
	{name: "windows-x86_64", os: "windows", arch: "amd64", triple: "x86_64-windows-gnu", file: "alike.dll",
		wheel: "win_amd64", npm: [2]string{"win32", "x64"}, gem: "x64-mingw-ucrt"},
	{name: "macos-aarch64", os: "darwin", arch: "arm64", file: "alike.dylib",
		wheel: "macosx_12_0_arm64", npm: [2]string{"darwin", "arm64"}, gem: "arm64-darwin"},
	{name: "macos-x86_64", os: "darwin", arch: "amd64", file: "alike.dylib",
		wheel: "macosx_12_0_x86_64", npm: [2]string{"darwin", "x64"}, gem: "x86_64-darwin"},
}

func (t target) path(libraries string) string { return filepath.Join(libraries, t.name, t.file) }

// compiles reports whether the library can be compiled here: macOS needs Apple's own headers.
func (t target) compiles() bool { return t.triple != "" || runtime.GOOS == "darwin" }

func (t target) compile(zig, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	cc := fmt.Sprintf("%s cc -target %s", zig, t.triple)
	flags := "-s -w -buildid="
	switch t.os {
	case "darwin":
		cc = "clang -mmacosx-version-min=12.0 -arch " + map[string]string{"arm64": "arm64", "amd64": "x86_64"}[t.arch]
	case "linux":
		exports, err := filepath.Abs("sqlext/loadable/exports.map")
		if err != nil {
			return err
		}
		flags += " -extldflags=-Wl,--version-script=" + exports
	}
	c := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags="+flags, "-o", file, "./sqlext/loadable")
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS="+t.os, "GOARCH="+t.arch, "CC="+cc)
	if b, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, b)
	}
	return nil
}
