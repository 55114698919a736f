package sqlext_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	faultDensity = flag.Int("density", 1, "how many places the statements fail at: all up to this one, and a sample of the others that is denser the larger it is")
	faultASAN    = flag.Bool("asan", false, "fail with the address sanitizer, which takes three times as long")
)

// buildHost compiles testdata/host.c.
func buildHost(t *testing.T, flags ...string) string {
	t.Helper()
	host := filepath.Join(t.TempDir(), "host")
	build := exec.Command("gcc", append(flags, "-O1", "-g", "-o", host, "testdata/host.c", "-lsqlite3")...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return host
}

// Whatever is interrupted, refused, or has no memory or disk left undoes its
// statement and nothing else: testdata/host.c says how that is tried.
func TestFaults(t *testing.T) {
	sanitizer := []string{"-fsanitize=address,undefined", "-fno-omit-frame-pointer"}
	sanitized := buildHost(t, sanitizer...)
	host := sanitized
	if !*faultASAN {
		host = buildHost(t)
	}
	for _, kind := range []string{"none", "memory", "disk", "interrupt", "deadline", "authorizer"} {
		program, scripts := host, []string{"host.script"}
		if kind == "none" {
			program, scripts = sanitized, []string{"host.script", "functions.sql"}
		}
		for _, script := range scripts {
			t.Run(kind+" "+script, func(t *testing.T) {
				t.Parallel()
				command := exec.Command(program, library(), "testdata/"+script, kind, fmt.Sprint(*faultDensity))
				// What the Go runtime keeps for good is no leak.
				command.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
				out, err := command.CombinedOutput()
				if err != nil || !strings.HasPrefix(string(out), "ok") || kind != "none" && strings.Contains(string(out), " 0 failures") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
