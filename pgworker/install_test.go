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
	"github.com/alike-sql/alike/sketch"
)

var dist = flag.String("dist", "", "the folder that make dist wrote, whose packages to install into empty roots (as root, with the network, minutes)")

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

// TestInstalled installs each package of the worker into an empty root and runs the quickstart there.
func TestInstalled(t *testing.T) {
	if *dist == "" {
		return
	}
	folder := t.TempDir()
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
	deb, rpm := filepath.Join(*dist, "alike-worker_"+sketch.Version+"_amd64.deb"), filepath.Join(*dist, "alike-worker-"+sketch.Version+"-1.x86_64.rpm")
	t.Run("deb", func(t *testing.T) {
		execute(t, folder, "dpkg", "--root="+base, "-i", deb)
		secrets, err := os.Stat(filepath.Join(base, "etc/alike/worker.env"))
		if err != nil || secrets.Mode().Perm() != 0o600 {
			t.Errorf("the file for the password: %v %v", secrets, err)
		}
		if said, want := execute(t, folder, "chroot", base, "pgworker", "--version"), "pgworker version "+sketch.Version+", commit "; !strings.HasPrefix(said, want) {
			t.Errorf("pgworker --version says %s, want %s", said, want)
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
	t.Run("image", func(t *testing.T) { checkImage(t, folder, base) })
}

// checkImage builds the image from the released binary, on a root in the place of Debian's, and runs the quickstart in it.
func checkImage(t *testing.T, folder, base string) {
	dockerfile, err := filepath.Abs("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	buildah := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(execute(t, folder, "buildah", append([]string{"--root", filepath.Join(folder, "storage"), "--runroot", filepath.Join(folder, "run"), "--storage-driver", "vfs"}, args...)...))
	}
	c := buildah("from", "scratch")
	buildah("add", "-q", c, base, "/")
	buildah("commit", "-q", c, "docker.io/library/debian:bookworm-slim")
	buildah("rm", c)
	buildah("bud", "-q", "--pull-never", "--isolation=chroot", "--network=host", "-t", "alike/pgworker", "-f", dockerfile, *dist)
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
