package main

import (
	"flag"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// make dist has the same version of what packs the .deb and the .rpm.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.2"

var roots = flag.Bool("roots", false, "pack the .deb, the .rpm and the image, and run the quickstart in each (as root, with the network, minutes)")

// tcp lets clients in another root reach a server that listens on a socket in this one.
func tcp(t *testing.T, s *pgtest.Server) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(s.Dir, ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			go func() { io.Copy(server, client); server.Close() }()
			go func() { io.Copy(client, server); client.Close() }()
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func execute(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "VERSION=1.2.3")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// quickstart does what the compose file does, in its order, with the worker of another
// root: the roles, the schema, a table of the application's, and the worker.
func quickstart(t *testing.T, worker func(url string, args ...string) string) {
	t.Helper()
	s := pgtest.New(t, pgtest.Version())
	roles := exec.Command("deploy/roles.sh")
	roles.Env = append(os.Environ(), "PGHOST="+s.Dir, "POSTGRES_PASSWORD=secret")
	if out, err := roles.CombinedOutput(); err != nil {
		t.Fatalf("roles.sh: %v\n%s", err, out)
	}
	port := tcp(t, s)
	url := func(role string) string { return "postgres://" + role + "@127.0.0.1:" + port + "/app?sslmode=disable" }
	worker(url("postgres"), "migrate", "up")
	c := pgtest.Connect(t, s.URL("app", "app"))
	for _, sql := range []string{
		"create table documents (id bigint primary key, body text)",
		`insert into documents values (1, 'the harbour committee met on tuesday and agreed to postpone the vote on the new breakwater'),
			(2, 'The Harbour Committee met on Tuesday, and agreed to postpone the vote on the new breakwater.'), (3, 'the library is closed for the holidays')`,
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	worker(url("app"), "attach", "documents", "body")
	worker(url("alike_job"), "run", "--once")
	if got := worker(url("app"), "pairs", "documents", "--json"); !strings.Contains(got, `"key":"1","other":"2"`) {
		t.Errorf("pairs are %s, want 1 and 2", got)
	}
}

// What nfpm.yaml packs is there, but for what is built first.
func TestPacked(t *testing.T) {
	b, err := os.ReadFile("deploy/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if source, ok := strings.CutPrefix(strings.TrimSpace(line), "- src: "); ok && !strings.HasPrefix(source, "build/") {
			if _, err := os.Stat(filepath.Join("..", strings.TrimSpace(source))); err != nil {
				t.Errorf("nfpm.yaml packs what is not there: %v", err)
			}
		}
	}
}

// top is the folder of the module.
func top(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestInstalled installs the packages into an empty root each and runs the quickstart there.
func TestInstalled(t *testing.T) {
	if !*roots {
		return
	}
	folder := t.TempDir()
	top := top(t)
	// nfpm reads what it packs from the folder that it runs in.
	for _, name := range []string{"pgworker", "LICENSE"} {
		if err := os.Symlink(filepath.Join(top, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	dist := filepath.Join(folder, "build/dist")
	execute(t, top, "go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", filepath.Join(dist, "pgworker-linux-amd64"), "./pgworker")
	execute(t, top, "go", "test", "-count=1", "-run=^TestManPages$", "./pgworker", "-args", "-man", filepath.Join(folder, "build/man"))
	base := filepath.Join(folder, "debian")
	execute(t, folder, "debootstrap", "--variant=minbase", "bookworm", base)
	inRoot := func(url string, args ...string) string {
		t.Helper()
		return execute(t, folder, "chroot", append([]string{base, "env", "DATABASE_URL=" + url, "pgworker"}, args...)...)
	}
	gone := func() {
		t.Helper()
		for _, name := range []string{"usr/bin/pgworker", "usr/lib/systemd/system/alike-worker.service", "usr/share/man/man1/pgworker-run.1"} {
			if _, err := os.Stat(filepath.Join(base, name)); !os.IsNotExist(err) {
				t.Errorf("after the removal %s is there: %v", name, err)
			}
		}
	}
	execute(t, top, "env", "GOBIN="+folder, "go", "install", nfpm)
	for _, kind := range []string{"deb", "rpm"} {
		execute(t, folder, filepath.Join(folder, "nfpm"), "package", "-f", "pgworker/deploy/nfpm.yaml", "-p", kind, "-t", "build/dist")
	}
	deb, rpm := filepath.Join(dist, "alike-worker_1.2.3_amd64.deb"), filepath.Join(dist, "alike-worker-1.2.3-1.x86_64.rpm")
	t.Run("deb", func(t *testing.T) {
		execute(t, folder, "dpkg", "--root="+base, "-i", deb)
		secrets, err := os.Stat(filepath.Join(base, "etc/alike/worker.env"))
		if err != nil || secrets.Mode().Perm() != 0o600 {
			t.Errorf("the file for the password: %v %v", secrets, err)
		}
		quickstart(t, inRoot)
		execute(t, folder, "dpkg", "--root="+base, "-r", "alike-worker")
		gone()
		execute(t, folder, "dpkg", "--root="+base, "-P", "alike-worker")
		if _, err := os.Stat(filepath.Join(base, "etc/alike")); !os.IsNotExist(err) {
			t.Errorf("purged, and /etc/alike is there: %v", err)
		}
	})
	t.Run("rpm", func(t *testing.T) {
		// The root has what scripts of the package need, and no package that rpm knows.
		tool := []string{"--root=" + base, "--dbpath=/var/lib/rpm", "--nodeps"}
		execute(t, folder, "rpm", append(tool, "-i", rpm)...)
		execute(t, folder, "rpm", append(tool, "-V", "alike-worker")...)
		quickstart(t, inRoot)
		execute(t, folder, "rpm", append(tool, "-e", "alike-worker")...)
		gone()
	})
	t.Run("image", func(t *testing.T) { checkImage(t, folder, base, dist) })
}

// checkImage builds the image from the packages in dist, on a root in the place of Debian's, and runs the quickstart in it.
func checkImage(t *testing.T, folder, base, dist string) {
	buildah := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(execute(t, folder, "buildah", append([]string{"--root", filepath.Join(folder, "storage"), "--runroot", filepath.Join(folder, "run"), "--storage-driver", "vfs"}, args...)...))
	}
	c := buildah("from", "scratch")
	buildah("add", "-q", c, base, "/")
	buildah("commit", "-q", c, "docker.io/library/debian:bookworm-slim")
	buildah("rm", c)
	buildah("bud", "-q", "--pull-never", "--isolation=chroot", "--network=host", "-t", "alike/pgworker", "-f", filepath.Join(top(t), "pgworker/Dockerfile"), dist)
	c = buildah("from", "--pull-never", "localhost/alike/pgworker")
	if got := buildah("run", "--isolation=chroot", c, "--", "id", "-un"); got != "nobody" {
		t.Errorf("the image runs as %s, want nobody", got)
	}
	quickstart(t, func(url string, args ...string) string {
		t.Helper()
		return buildah(append([]string{"run", "--isolation=chroot", "--network=host", "--env", "DATABASE_URL=" + url, c, "--", "pgworker"}, args...)...)
	})
	buildah("rm", c)
}
