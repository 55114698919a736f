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
	name      string // in the names of files
	os, arch  string // Go's
	triple    string // Zig's
	program   string // Zig's for the command alike, which on Linux is static and needs no libc
	file      string // of the library
	wheel     string // the platform tags of a wheel
	npm       [2]string
	gem       string
	cfg       string // Rust's condition
	extension []byte
	command   []byte
}

// manylinux_2_17 needs a glibc of 2012, which Zig links against and auditwheel confirms.
var targets = []target{
	{name: "linux-x86_64", os: "linux", arch: "amd64", triple: "x86_64-linux-gnu.2.17", program: "x86_64-linux-musl", file: "alike.so",
		wheel: "manylinux2014_x86_64.manylinux_2_17_x86_64", npm: [2]string{"linux", "x64"}, gem: "x86_64-linux-gnu",
		cfg: `all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")`},
	{name: "linux-aarch64", os: "linux", arch: "arm64", triple: "aarch64-linux-gnu.2.17", program: "aarch64-linux-musl", file: "alike.so",
		wheel: "manylinux2014_aarch64.manylinux_2_17_aarch64", npm: [2]string{"linux", "arm64"}, gem: "aarch64-linux-gnu",
		cfg: `all(target_os = "linux", target_arch = "aarch64", target_env = "gnu")`},
	{name: "windows-x86_64", os: "windows", arch: "amd64", triple: "x86_64-windows-gnu", program: "x86_64-windows-gnu", file: "alike.dll",
		wheel: "win_amd64", npm: [2]string{"win32", "x64"}, gem: "x64-mingw-ucrt",
		cfg: `all(target_os = "windows", target_arch = "x86_64")`},
	{name: "macos-aarch64", os: "darwin", arch: "arm64", file: "alike.dylib",
		wheel: "macosx_12_0_arm64", npm: [2]string{"darwin", "arm64"}, gem: "arm64-darwin",
		cfg: `all(target_os = "macos", target_arch = "aarch64")`},
	{name: "macos-x86_64", os: "darwin", arch: "amd64", file: "alike.dylib",
		wheel: "macosx_12_0_x86_64", npm: [2]string{"darwin", "x64"}, gem: "x86_64-darwin",
		cfg: `all(target_os = "macos", target_arch = "x86_64")`},
}

func (t target) path(libraries string) string { return filepath.Join(libraries, t.name, t.file) }

// commandPath is the command alike, beside the library.
func (t target) commandPath(libraries string) string {
	return filepath.Join(libraries, t.name, map[bool]string{true: "alike.exe", false: "alike"}[t.os == "windows"])
}

// compiles reports whether the library can be compiled here: macOS needs Apple's own headers.
func (t target) compiles() bool { return t.triple != "" || runtime.GOOS == "darwin" }

// compile makes the library and, when asked, the command.
func (t target) compile(zig, libraries string, command bool) error {
	library, err := filepath.Abs(t.path(libraries))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(library), 0o755); err != nil {
		return err
	}
	flags, static := "", ""
	if t.os == "linux" {
		exports, err := filepath.Abs("sqlext/loadable/exports.map")
		if err != nil {
			return err
		}
		flags, static = " -extldflags=-Wl,--version-script="+exports, " -linkmode=external '-extldflags=-static -s'"
	}
	if err := t.build(zig, t.triple, "-buildmode=c-shared", "-ldflags=-s -w -buildid="+flags, "-o", library, "./sqlext/loadable"); err != nil {
		return err
	}
	if !command {
		return nil
	}
	return t.build(zig, t.program, "-buildvcs=auto", "-ldflags=-s -w -buildid="+static, "-o", t.commandPath(filepath.Dir(filepath.Dir(library))), "./sqlext/alike")
}

func (t target) build(zig, triple string, args ...string) error {
	cc := fmt.Sprintf("%s cc -target %s", zig, triple)
	if t.os == "darwin" {
		cc = "clang -mmacosx-version-min=12.0 -arch " + map[string]string{"arm64": "arm64", "amd64": "x86_64"}[t.arch]
	}
	c := exec.Command("go", append([]string{"build", "-trimpath"}, args...)...)
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS="+t.os, "GOARCH="+t.arch, "CC="+cc)
	if b, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, b)
	}
	return nil
}
