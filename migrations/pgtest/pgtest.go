//go:build unix

// Package pgtest starts PostgreSQL servers for tests: as an unprivileged user,
// on a unix socket in a folder in memory or a temporary one, gone when the test program is gone,
// however it ends. Every test has a database of its own. A server that is not
// installed fails the test; .ci/setup installs it.
package pgtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations"
)

// Version is the release that tests run on unless they ask for another.
// ALIKE_POSTGRES_VERSION overrides it.
func Version() int {
	if v, err := strconv.Atoi(os.Getenv("ALIKE_POSTGRES_VERSION")); err == nil {
		return v
	}
	return 15
}

var everywhere = flag.Bool("releases", false, "run the tests that depend on the release of PostgreSQL, even those that hardly do, on every release")

func supported() []int { return []int{13, 14, 15, 16, 17, 18} }

// Extremes are the releases for a test of what depends on the release: the oldest that Alike supports,
// the newest and Version; with the flag -releases every one.
func Extremes() []int {
	if *everywhere {
		return supported()
	}
	return []int{13, Version(), 18}
}

// Releases are those for a test of what hardly depends on the release: Version; with the flag -releases every one.
func Releases() []int {
	if *everywhere {
		return supported()
	}
	return []int{Version()}
}

var layout = flag.String("layout", "columns", "the layout of attachments that name none, columns or parts")

// InParts reports whether attachments that name no layout have parts.
func InParts() bool { return *layout == "parts" }

// inParts makes parts the layout of attachments that name none, and its parts small.
const inParts = `
create or replace function alike._in_parts(a alike.attachment) returns boolean language sql immutable set search_path = pg_catalog, pg_temp
as $$ select coalesce(a.options ->> 'layout', 'parts') = 'parts' and not a.distributed $$;
create or replace function alike._part_rows() returns integer language sql immutable set search_path = pg_catalog, pg_temp
as $$ select 20 $$`

// A Server is a running PostgreSQL.
type Server struct {
	Version int
	Dir     string // socket, log and data

	bin        string
	parent     string // of Dir
	settings   []string
	credential *syscall.Credential
	lifeline   *os.File      // standard input of the server's shell: closed when we are gone
	ended      chan struct{} // closed when that shell has ended
	serial     atomic.Int64
	template   sync.Mutex
	migrated   bool
}

var (
	sharedMutex sync.Mutex
	shared      = map[int]*Server{}
)

// Shared returns the server of a version that all tests of this program share. It compiles no
// plans: a session loads LLVM for that, which takes longer than the statements of tests.
func Shared(t testing.TB, version int) *Server {
	t.Helper()
	sharedMutex.Lock()
	defer sharedMutex.Unlock()
	if s := shared[version]; s != nil {
		return s
	}
	s := start(t, version, "jit=off")
	shared[version] = s
	return s
}

// Main runs the tests and stops the shared servers; TestMain calls it.
func Main(m *testing.M) {
	code := m.Run()
	sharedMutex.Lock()
	for _, s := range shared {
		s.close()
	}
	sharedMutex.Unlock()
	os.Exit(code)
}

// New starts a server for one test, with settings such as "work_mem=1MB".
func New(t testing.TB, version int, settings ...string) *Server {
	t.Helper()
	s := start(t, version, settings...)
	t.Cleanup(s.close)
	return s
}

// OnDisk starts a server for one test in the temporary folder, also where memory has room.
func OnDisk(t testing.TB, version int, settings ...string) *Server {
	t.Helper()
	s := launch(t, &Server{Version: version, bin: Bin(t, version), parent: os.TempDir(), settings: settings})
	t.Cleanup(s.close)
	return s
}

// From starts a server for one test from a folder of programs.
func From(t testing.TB, bin string, settings ...string) *Server {
	t.Helper()
	s := launch(t, &Server{bin: bin, parent: memory(), settings: settings})
	t.Cleanup(s.close)
	return s
}

// Database returns the URL of a new database with the schema of Alike.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t, Version()).Database(t)
}

// Connect opens a connection for the length of a test.
func Connect(t testing.TB, databaseURL string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// Database makes a database with the schema of Alike and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.template.Lock()
	if !s.migrated {
		s.exec(t, "create database alike_template")
		if err := migrations.Up(context.Background(), s.URL("postgres", "alike_template")); err != nil {
			s.template.Unlock()
			t.Fatal(err)
		}
		// What the first attach with this number of slots computes, and the others look up.
		s.execIn(t, "alike_template", "select alike._keep_bounds(168)")
		if *layout == "parts" {
			s.execIn(t, "alike_template", inParts)
		}
		s.migrated = true
	}
	s.template.Unlock()
	return s.create(t, " template alike_template")
}

// Empty makes a database without anything.
func (s *Server) Empty(t testing.TB) string {
	t.Helper()
	return s.create(t, "")
}

// Owned makes a database without anything that belongs to the role app, which is no
// superuser, and returns the URL for that role.
func (s *Server) Owned(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", s.serial.Add(1))
	s.exec(t, `do $$ begin if to_regrole('app') is null then create role app login createrole; end if; end $$`)
	s.exec(t, "create database "+name+" owner app")
	return s.URL("app", name)
}

func (s *Server) create(t testing.TB, from string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", s.serial.Add(1))
	s.exec(t, "create database "+name+from)
	return s.URL("postgres", name)
}

func (s *Server) exec(t testing.TB, sql string) {
	t.Helper()
	s.execIn(t, "postgres", sql)
}

func (s *Server) execIn(t testing.TB, database, sql string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), s.URL("postgres", database))
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Log())
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}

// URL returns the URL of a database for a role.
func (s *Server) URL(role, database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", url.QueryEscape(role), url.PathEscape(database), url.QueryEscape(s.Dir))
}

// Log returns what the server has written.
func (s *Server) Log() string {
	b, _ := os.ReadFile(filepath.Join(s.Dir, "log")) // absent before the first start
	return string(b)
}

// Bin returns a server version's folder of programs.
func Bin(t testing.TB, version int) string {
	t.Helper()
	tried := []string{fmt.Sprintf("/usr/lib/postgresql/%d/bin", version)}
	for _, cache := range caches() {
		tried = append(tried, filepath.Join(cache, "postgres", strconv.Itoa(version), "bin"))
	}
	for _, bin := range tried {
		if _, err := os.Stat(filepath.Join(bin, "postgres")); err == nil {
			return bin
		}
	}
	t.Fatalf("no PostgreSQL %d in %s; .ci/setup installs it", version, strings.Join(tried, ", "))
	return ""
}

// Installed is the path of something that a part of .ci/setup has put into the cache.
func Installed(t testing.TB, part, path string) string {
	t.Helper()
	for _, cache := range caches() {
		full := filepath.Join(cache, path)
		if _, err := os.Stat(full); err == nil {
			return full
		}
	}
	t.Fatalf("there is no %s; .ci/setup %s installs it", path, part)
	return ""
}

// caches lists the folders in which .ci/setup may have put what tests need.
func caches() (list []string) {
	if cache := os.Getenv("ALIKE_CACHE"); cache != "" {
		list = append(list, cache)
	}
	list = append(list, "/var/cache/alike")
	if cache, err := os.UserCacheDir(); err == nil {
		list = append(list, filepath.Join(cache, "alike"))
	}
	return list
}

// memory is a folder in memory when it and the machine have eight gigabytes to spare, which is more
// than the tests need, and otherwise "", the temporary folder. A server there takes four fifths of
// the processor time, and waits for no disk.
func memory() string {
	const folder, enough = "/dev/shm", 8 << 30
	var space syscall.Statfs_t
	if err := syscall.Statfs(folder, &space); err != nil || uint64(space.Bavail)*uint64(space.Bsize) < enough {
		return ""
	}
	free, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(free), "MemAvailable:")
	var kilobytes uint64
	if fmt.Sscan(rest, &kilobytes); kilobytes<<10 < enough {
		return ""
	}
	return folder
}

func start(t testing.TB, version int, settings ...string) *Server {
	t.Helper()
	return launch(t, &Server{Version: version, bin: Bin(t, version), parent: memory(), settings: settings})
}

func launch(t testing.TB, s *Server) *Server {
	t.Helper()
	var err error
	// A unix socket's path has 107 bytes at most: no test name in it.
	if s.Dir, err = os.MkdirTemp(s.parent, "alike-pg"); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		// The server refuses to run as root.
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid) // both are numbers on every Unix
		gid, _ := strconv.Atoi(u.Gid)
		s.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.Dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	s.fill(t)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// fill makes the data folder of a new server. The first server of a build leaves a copy
// in a cache, since a copy takes a twentieth of the time of initdb. Another build of the
// same release can have other system tables.
func (s *Server) fill(t testing.TB) {
	t.Helper()
	build, err := exec.Command(filepath.Join(s.bin, "postgres"), "--version").Output()
	if err != nil {
		t.Fatalf("postgres --version: %v", err)
	}
	name := fmt.Sprintf("initdb-%x-%d", sha256.Sum256(build), os.Getuid())
	for _, cache := range caches() {
		if _, err := os.Stat(filepath.Join(cache, name)); err == nil && s.Version > 0 {
			clone(t, filepath.Join(cache, name), s.data())
			return
		}
	}
	init := s.command(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	for _, cache := range caches() {
		// Other test programs do the same now. The folder gets its name when it is
		// complete, and the second program to give it that name fails.
		if dir, err := os.MkdirTemp(cache, ".initdb"); err == nil && s.Version > 0 {
			clone(t, s.data(), filepath.Join(dir, "data"))
			os.Rename(filepath.Join(dir, "data"), filepath.Join(cache, name))
			os.RemoveAll(dir)
			return
		}
	}
}

func clone(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
}

// Standby starts a server that follows this one by streaming replication, and
// stops this one for a moment to copy it.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	standby := &Server{Version: s.Version, bin: s.bin, credential: s.credential, settings: append(slices.Clone(s.settings), "primary_conninfo=host="+s.Dir+" user=postgres")}
	var err error
	if standby.Dir, err = os.MkdirTemp(memory(), "alike-pg"); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	clone(t, s.data(), standby.data())
	signal := filepath.Join(standby.data(), "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := s.credential; c != nil {
		for _, path := range []string{standby.Dir, signal} {
			if err := os.Chown(path, int(c.Uid), int(c.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, server := range []*Server{s, standby} {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(standby.close)
	return standby
}

// Upgraded stops this server and starts what pg_upgrade makes of it, a server of the same release,
// since the servers of the others come without that program.
func (s *Server) Upgraded(t testing.TB) *Server {
	t.Helper()
	s.Stop()
	upgraded := start(t, s.Version, s.settings...)
	upgraded.Stop()
	upgrade := s.command(filepath.Join(s.bin, "pg_upgrade"), "-U", "postgres", "-b", s.bin, "-B", s.bin, "-d", s.data(), "-D", upgraded.data(), "-s", s.Dir)
	if out, err := upgrade.CombinedOutput(); err != nil {
		logs, _ := filepath.Glob(filepath.Join(upgraded.data(), "pg_upgrade_output.d/*/log/*"))
		for _, log := range logs {
			if text, _ := os.ReadFile(log); bytes.Contains(text, []byte("error:")) {
				out = append(out, text[max(0, len(text)-4000):]...)
			}
		}
		t.Fatalf("pg_upgrade: %v\n%s", err, out)
	}
	if err := upgraded.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(upgraded.close)
	return upgraded
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = s.Dir
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential, Setpgid: true}
	return c
}

// Start starts a stopped or killed server again and waits until it answers or ends.
func (s *Server) Start() error {
	if s.lifeline != nil {
		s.Stop() // or what is left of it would remove the folder
	}
	args := []string{"-D", s.data(), "-k", s.Dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "max_connections=100", "-c", "max_prepared_transactions=5", "-c", "shared_buffers=64MB",
		"-c", "log_min_messages=warning"}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	// The standard input ends when this process ends, and the server with it and, without a word
	// from Stop, its folder.
	shell := s.command("/bin/sh", append([]string{"-c",
		`exec 3<&0; "$0" "$@" >>log 2>&1 3<&- & server=$!; trap '' INT TERM; { word=$(cat <&3); kill -INT $server 2>/dev/null; ` +
			`[ "$word" ] || { while kill -0 $server 2>/dev/null; do sleep 0.1; done; rm -rf "$PWD"; }; } & wait $server`,
		filepath.Join(s.bin, "postgres")}, args...)...)
	// A pipe of exec's own would be closed when a killed server ends the shell, before Stop's word.
	in, lifeline, err := os.Pipe()
	if err != nil {
		return err
	}
	shell.Stdin, s.lifeline = in, lifeline
	err = shell.Start()
	in.Close()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		shell.Wait() // its status is the server's, whose log has the reason
		close(ended)
	}()
	for {
		c, err := pgx.Connect(context.Background(), s.URL("postgres", "postgres"))
		if err == nil {
			return c.Close(context.Background())
		}
		select {
		case <-ended:
			return fmt.Errorf("PostgreSQL %d did not start:\n%s", s.Version, s.Log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// PID returns the process of the running server.
func (s *Server) PID() (int, error) {
	b, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	return strconv.Atoi(string(first))
}

// Stop ends the server in order.
func (s *Server) Stop() {
	io.WriteString(s.lifeline, "keep") // no reader is left where a test has killed the shell too
	s.lifeline.Close()
	<-s.ended
}

// Kill ends the server as a power cut would: every process of it at once.
func (s *Server) Kill() error {
	pid, err := s.PID()
	if err != nil {
		return err
	}
	// A server does not start while a process of the last one has its memory.
	listed, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return err
	}
	pids := []int{pid}
	for _, child := range strings.Fields(string(listed)) {
		n, err := strconv.Atoi(child)
		if err != nil {
			return err
		}
		pids = append(pids, n)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			return err
		}
	}
	s.Stop()
	for _, pid := range pids {
		for range 1000 {
			if syscall.Kill(pid, 0) == syscall.ESRCH {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

func (s *Server) close() {
	if pid, err := s.PID(); err == nil {
		syscall.Kill(pid, syscall.SIGQUIT) // it need not write what is deleted now
	}
	s.Stop()
	os.RemoveAll(s.Dir) // a leftover does no harm
}
