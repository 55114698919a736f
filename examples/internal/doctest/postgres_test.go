package doctest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// postgresBin holds the server programs of Debian's package.
const postgresBin = "/usr/lib/postgresql/15/bin"

// server is a PostgreSQL server for the pages, with a database for each.
type server struct {
	dir       string
	databases int
}

// as makes a command run as postgres when the test is root's: the server
// refuses to.
func (s *server) as(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	if os.Getuid() == 0 {
		if account, err := user.Lookup("postgres"); err == nil {
			uid, _ := strconv.Atoi(account.Uid)
			gid, _ := strconv.Atoi(account.Gid)
			os.Chown(s.dir, uid, gid)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		}
	}
	return cmd
}

func startPostgres(t *testing.T) *server {
	dir, err := os.MkdirTemp("", "doctest")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir}
	data := filepath.Join(dir, "data")
	if out, err := s.as(filepath.Join(postgresBin, "initdb"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", data).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	start := s.as(filepath.Join(postgresBin, "pg_ctl"), "-D", data, "-w", "-l", filepath.Join(dir, "log"),
		"-o", fmt.Sprintf("-c listen_addresses= -c unix_socket_directories=%s -c fsync=off", dir), "start")
	if err := start.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		t.Fatalf("pg_ctl start: %v\n%s", err, log)
	}
	t.Cleanup(func() {
		if out, err := s.as(filepath.Join(postgresBin, "pg_ctl"), "-D", data, "-w", "-m", "immediate", "stop").CombinedOutput(); err != nil {
			t.Errorf("pg_ctl stop: %v\n%s", err, out)
		}
		os.RemoveAll(dir)
	})
	return s
}

func (s *server) url(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s", database, s.dir)
}

// database makes the next one and returns its address.
func (s *server) database(t *testing.T) string {
	s.databases++
	name := fmt.Sprintf("page%d", s.databases)
	output1(t, s.dir, "psql", "-X", "-q", s.url("postgres"), "-c", "create database "+name)
	return s.url(name)
}
