package main

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"flag"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/sketch"
)

var commands = flag.Bool("commands", false, "compile, pack and try the command alike, too (minutes)")

// TestPackages compiles and packs for every platform that it can from here, installs each package with the tool that its
// users have, and asks what is installed.
func TestPackages(t *testing.T) {
	t.Chdir("../..") // go build looks for the module
	out := t.TempDir()
	if err := run(out, tool(t, "packages/zig"), "", "", false, *commands); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(out, name) }

	t.Run("checksums", func(t *testing.T) { checkSums(t, out) })
	t.Run("equal sources", func(t *testing.T) { checkRebuilt(t, out) })

	for _, name := range []string{"linux-x86_64", "linux-aarch64"} {
		t.Run("glibc "+name, func(t *testing.T) { checkSymbols(t, in("libraries/"+name+"/alike.so")) })
	}
	t.Run("linux-aarch64", func(t *testing.T) {
		host := compileHost(t, "aarch64-linux-gnu.2.17", "asks")
		check(t, output(t, "qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", host, in("libraries/linux-aarch64/alike.so"), first))
	})
	t.Run("windows-x86_64", func(t *testing.T) { checkWindows(t, in("libraries/windows-x86_64/alike.dll")) })

	t.Run("command", func(t *testing.T) {
		if *commands { // the long form; the command's own tests run always
			checkCommand(t, out)
		}
	})
	t.Run("pip", func(t *testing.T) { checkPip(t, out) })
	t.Run("npm", func(t *testing.T) { checkNpm(t, out) })
	t.Run("gem", func(t *testing.T) { checkGem(t, in("sqlite-alike-"+sketch.Version+"-x86_64-linux-gnu.gem")) })
	t.Run("crate", func(t *testing.T) { checkCrate(t, out) })
	t.Run("jar", func(t *testing.T) { checkJar(t, in("sqlite-alike-"+sketch.Version+".jar")) })
	t.Run("rqlite", func(t *testing.T) { checkRqlite(t, in("sqlite-alike-"+sketch.Version+"-loadable-linux-x86_64.tar.gz")) })
}

func checkSums(t *testing.T, out string) {
	output(t, "sh", "-c", "cd "+out+" && sha256sum --quiet -c SHA256SUMS")
	sums, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "SHA256SUMS" && !strings.Contains(string(sums), "  "+e.Name()+"\n") {
			t.Errorf("SHA256SUMS lacks %s", e.Name())
		}
	}
}

// checkRebuilt builds one platform again and compares the packages of that platform.
func checkRebuilt(t *testing.T, out string) {
	again := t.TempDir()
	if err := run(again, tool(t, "packages/zig"), "linux-x86_64", "", false, *commands); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(again)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// The jar holds the libraries of all platforms, and SHA256SUMS its sum.
		if e.IsDir() || strings.HasSuffix(e.Name(), ".jar") || e.Name() == "SHA256SUMS" {
			continue
		}
		if a, b := read(t, filepath.Join(out, e.Name())), read(t, filepath.Join(again, e.Name())); !bytes.Equal(a, b) {
			t.Errorf("%s: two builds differ", e.Name())
		}
	}
}

// checkCommand tries the command alike of two platforms.
func checkCommand(t *testing.T, out string) {
	folder := t.TempDir()
	notes := filepath.Join(folder, "notes.txt")
	write(t, notes, "one two three four five six seven eight nine ten\nOne two three four five six seven eight nine ten!\nanother\n")
	want := "one two three four five six seven eight nine ten\nanother\n"
	output(t, "tar", "-xzf", filepath.Join(out, "alike-"+sketch.Version+"-linux-x86_64.tar.gz"), "-C", folder)
	for name, command := range map[string][]string{
		"linux-x86_64":  {filepath.Join(folder, "alike")},
		"linux-aarch64": {"qemu-aarch64", filepath.Join(out, "libraries/linux-aarch64/alike")},
	} {
		if got := output(t, command[0], append(command[1:], "dedup", "-q", notes)...); got != want {
			t.Errorf("%s: alike dedup printed %q, want %q", name, got, want)
		}
	}
}

func checkGem(t *testing.T, gem string) {
	folder := t.TempDir()
	t.Setenv("GEM_HOME", folder)
	output(t, "gem", "install", "--local", "--no-document", "--install-dir", folder, gem)
	check(t, output(t, "ruby", "-rsqlite3", "-rsqlite_alike", "-e", `
		db = SQLite3::Database.new(":memory:")
		SqliteAlike.load(db)
		db.prepare("select 1").close
		File.read(ARGV[0]).split(/;\n/).each { |sql| db.execute(sql).each { |row| puts row.join("|") } }`, first))
}

func checkJar(t *testing.T, jar string) {
	source := filepath.Join(t.TempDir(), "Asks.java")
	write(t, source, javaHost)
	found, err := filepath.Glob(filepath.Join(filepath.Dir(tool(t, "jars/sqlite-jdbc.jar")), "*.jar"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, output(t, "java", "-cp", strings.Join(append(found, jar), ":"), source, first))
}

func TestRefused(t *testing.T) {
	want := `no platform is called "plan9"; there are linux-x86_64, linux-aarch64, windows-x86_64, macos-aarch64, macos-x86_64`
	if err := run(t.TempDir(), "zig", "plan9", "", false, false); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestLicense(t *testing.T) {
	if !bytes.Equal(read(t, "files/LICENSE"), read(t, "../../LICENSE")) {
		t.Error("files/LICENSE is not the project's LICENSE")
	}
}

const first = "sqlext/packages/testdata/first.sql"

// check compares what a host printed for first.sql with what the library says.
func check(t *testing.T, got string) {
	t.Helper()
	profile, err := sketch.ParseProfile("words w=2 bits=8")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(profile)
	if err != nil {
		t.Fatal(err)
	}
	s.Document([]byte("a rose is a rose is a rose"))
	want := "2\n1\n1\n" + strings.ToUpper(hex.EncodeToString(s.AppendSketch(nil))) + "\n"
	if got = strings.ReplaceAll(got, "\r", ""); got != want {
		t.Errorf("the host printed\n%swant\n%s", got, want)
	}
}

// checkSymbols looks for the newest glibc that the library needs.
func checkSymbols(t *testing.T, library string) {
	f, err := elf.Open(library)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	needed, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	versions := 0
	for _, s := range needed {
		if number, ok := strings.CutPrefix(s.Version, "GLIBC_2."); ok {
			versions++
			major, _, _ := strings.Cut(number, ".")
			if n, err := strconv.Atoi(major); err != nil || n > 17 {
				t.Errorf("%s needs %s, newer than 2.17", s.Name, s.Version)
			}
		}
	}
	if versions == 0 {
		t.Error("no symbol has a version of glibc")
	}
	exported, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for _, s := range exported {
		if s.Section != elf.SHN_UNDEF && s.Section != elf.SHN_ABS {
			own = append(own, s.Name)
		}
	}
	if !slices.Equal(own, []string{"sqlite3_alike_init"}) {
		t.Errorf("the library exports %q, want sqlite3_alike_init alone", own)
	}
}

// compileHost compiles a program with its own SQLite for a platform.
func compileHost(t *testing.T, triple, name string) string {
	t.Helper()
	amalgamation := strings.TrimSpace(output(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3"))
	folder := t.TempDir()
	write(t, filepath.Join(folder, "sqlite3.h"), string(read(t, filepath.Join(amalgamation, "sqlite3-binding.h"))))
	host := filepath.Join(folder, name)
	output(t, tool(t, "packages/zig"), "cc", "-target", triple, "-O0", "-g0", "-fno-sanitize=all", "-I", folder, "-o", host,
		"sqlext/packages/testdata/asks.c", filepath.Join(amalgamation, "sqlite3-binding.c"))
	return host
}

// checkWindows asks under Wine, with the library that Wine before 9 lacks.
func checkWindows(t *testing.T, library string) {
	host := compileHost(t, "x86_64-windows-gnu", "asks.exe")
	prefix := t.TempDir()
	t.Setenv("WINEPREFIX", prefix)
	t.Setenv("WINEDEBUG", "-all")
	t.Cleanup(func() { exec.Command("wineserver", "-k", "-w").Run() })
	output(t, "wine", "wineboot", "--init")
	output(t, tool(t, "packages/zig"), "cc", "-target", "x86_64-windows-gnu", "-shared", "-O1",
		"-o", filepath.Join(prefix, "drive_c/windows/system32/bcryptprimitives.dll"), "sqlext/packages/testdata/bcryptprimitives.c", "-ladvapi32")
	statements, err := filepath.Abs(first)
	if err != nil {
		t.Fatal(err)
	}
	check(t, output(t, "wine", host, `Z:`+library, `Z:`+statements))
	if !*commands {
		return
	}
	notes := filepath.Join(prefix, "notes.txt")
	write(t, notes, "one two three\none two three\n")
	if got, want := output(t, "wine", filepath.Join(filepath.Dir(library), "alike.exe"), "dedup", "-q", `Z:`+notes), "one two three\n"; got != want {
		t.Errorf("alike.exe dedup printed %q, want %q", got, want)
	}
}

func checkPip(t *testing.T, out string) {
	pip, folder := tool(t, "packages/bin/pip"), t.TempDir()
	found, err := filepath.Glob(filepath.Join(out, "*.whl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range found {
		if strings.Contains(w, "manylinux") {
			said := output(t, tool(t, "packages/bin/auditwheel"), "show", w)
			if !strings.Contains(said, "manylinux_2_17_") && !strings.Contains(said, "manylinux_2_5_") && !strings.Contains(said, "manylinux_2_12_") {
				t.Errorf("auditwheel says of %s:\n%s", filepath.Base(w), said)
			}
		}
	}
	output(t, tool(t, "packages/bin/python"), append([]string{"-c", `
import packaging.metadata, sys, zipfile
for wheel in sys.argv[1:]:
    z = zipfile.ZipFile(wheel)
    info = next(n[:-len("METADATA")] for n in z.namelist() if n.endswith(".dist-info/METADATA"))
    metadata = packaging.metadata.Metadata.from_email(z.read(info + "METADATA"), validate=True)
    assert metadata.license_files and all(info + "licenses/" + f in z.namelist() for f in metadata.license_files), wheel
`}, found...)...)
	output(t, pip, "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--find-links", out, "--target", folder,
		"sqlite-alike", "datasette-sqlite-alike", "sqlite-utils-sqlite-alike")
	t.Setenv("PYTHONPATH", folder)
	check(t, output(t, tool(t, "packages/bin/python"), "-c", `
import sqlite3, sqlite_alike, sys
assert sqlite_alike.__version__ == "`+sketch.Version+`"
connection = sqlite3.connect(":memory:")
sqlite_alike.load(connection)
for sql in open(sys.argv[1]).read().split(";\n"):
    for row in connection.execute(sql):
        print(*row, sep="|")
try:
    connection.load_extension("x")
except sqlite3.OperationalError as e:
    assert "not authorized" in str(e), e
`, first))

	if got, want := output(t, tool(t, "packages/bin/python"), "-m", "sqlite_alike"), filepath.Join(folder, "sqlite_alike/alike.so")+"\n"; got != want {
		t.Errorf("python -m sqlite_alike printed %s, want %s", got, want)
	}

	t.Run("sqlite-utils", func(t *testing.T) {
		got := output(t, tool(t, "packages/bin/sqlite-utils"), "memory", "select alike_resemblance_exact('a b c', 'a b c') as r")
		if want := `[{"r": 1.0}]` + "\n"; got != want {
			t.Errorf("sqlite-utils printed %q, want %q", got, want)
		}
	})
	t.Run("datasette", func(t *testing.T) {
		address := freeAddress(t)
		host, port, _ := strings.Cut(address, ":")
		serve(t, tool(t, "packages/bin/datasette"), "serve", "--memory", "--host", host, "--port", port)
		const sql = "select alike_resemblance_exact('a b c', 'a b c') as r"
		got := get(t, "http://"+address+"/_memory.json?_shape=array&sql="+url.QueryEscape(sql))
		if want := `[{"r": 1.0}]`; got != want {
			t.Errorf("Datasette answered %q, want %q", got, want)
		}
		page := output(t, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
			"--user-data-dir="+t.TempDir(), "--dump-dom", "http://"+address+"/_memory?sql="+url.QueryEscape("select key, value from (select 'found' as key, alike_version() <> '' as value)"))
		if !strings.Contains(page, `<td class="col-key">found</td>`) || !strings.Contains(page, `<td class="col-value">1</td>`) {
			t.Errorf("the page in the browser:\n%s", page)
		}
	})
}

func checkNpm(t *testing.T, out string) {
	folder := t.TempDir()
	node := tool(t, "node/bin/node")
	write(t, filepath.Join(folder, "package.json"), "{}")
	output(t, "npm", "install", "--prefix", folder, "--offline", "--omit=optional", "--no-audit", "--no-fund",
		filepath.Join(out, "sqlite-alike-"+sketch.Version+".tgz"), filepath.Join(out, "sqlite-alike-linux-x64-"+sketch.Version+".tgz"))
	better := filepath.Join(filepath.Dir(filepath.Dir(node)), "node_modules", "better-sqlite3")
	for name, script := range map[string]string{
		"node.mjs": `import { DatabaseSync } from "node:sqlite";
import { load } from "sqlite-alike";
import { readFileSync } from "node:fs";
const db = new DatabaseSync(":memory:", { allowExtension: true });
load(db);
for (const sql of readFileSync(process.argv[2], "utf8").split(";\n").filter((s) => s.trim()))
  for (const row of db.prepare(sql).all()) console.log(Object.values(row).join("|"));`,
		"better.cjs": `const Database = require(` + strconv.Quote(better) + `);
const db = new Database(":memory:");
require("sqlite-alike").load(db);
for (const sql of require("fs").readFileSync(process.argv[2], "utf8").split(";\n").filter((s) => s.trim())) {
  const statement = db.prepare(sql);
  if (!statement.reader) statement.run();
  else for (const row of statement.raw().all()) console.log(row.join("|"));
}`,
	} {
		file := filepath.Join(folder, name)
		write(t, file, script)
		check(t, output(t, node, "--no-warnings", file, first))
	}
}

const javaHost = `import java.nio.file.*;
import java.sql.*;
import org.sqlite.SQLiteConfig;

class Asks {
    public static void main(String[] args) throws Exception {
        Path library = Files.createTempDirectory("alike").resolve("alike.so");
        Files.copy(Asks.class.getResourceAsStream("/sqlite-alike/linux-x86_64/alike.so"), library);
        SQLiteConfig config = new SQLiteConfig();
        config.enableLoadExtension(true);
        try (Connection db = config.createConnection("jdbc:sqlite::memory:"); Statement statement = db.createStatement()) {
            statement.execute("select load_extension('" + library + "')");
            for (String sql : Files.readString(Path.of(args[0])).split(";\n")) {
                if (!sql.isBlank() && statement.execute(sql)) {
                    for (ResultSet rows = statement.getResultSet(); rows.next();) {
                        StringBuilder row = new StringBuilder(rows.getString(1));
                        for (int i = 2; i <= rows.getMetaData().getColumnCount(); i++) row.append('|').append(rows.getString(i));
                        System.out.println(row);
                    }
                }
            }
        }
        Files.delete(library);
        Files.delete(library.getParent());
    }
}
`

func checkRqlite(t *testing.T, tarball string) {
	address, raft := freeAddress(t), freeAddress(t)
	serve(t, tool(t, "rqlite/rqlited"), "-http-addr", address, "-raft-addr", raft, "-extensions-path", tarball, t.TempDir())
	for { // until the node leads
		if got := get(t, "http://"+address+"/status"); strings.Contains(got, `"ready": true`) || strings.Contains(got, `"ready":true`) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	got := get(t, "http://"+address+"/db/query?q="+url.QueryEscape("select alike_resemblance_exact('a b c', 'a b c')"))
	if !strings.Contains(got, `"values":[[1]]`) {
		t.Errorf("rqlite answered %s", got)
	}
}

// serve starts a server that ends with the test.
func serve(t *testing.T, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(program), said.String())
		}
	})
}

// get asks until the server answers. The test's own time limit ends a wait without end.
func get(t *testing.T, address string) string {
	t.Helper()
	for {
		r, err := http.Get(address)
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// tool returns a program that .ci/setup installs.
func tool(t *testing.T, name string) string {
	t.Helper()
	home, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{os.Getenv("ALIKE_CACHE"), "/var/cache/alike", filepath.Join(home, "alike")} {
		if path := filepath.Join(folder, name); folder != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Fatalf("%s is missing; run .ci/setup packages hosts", name)
	return ""
}

// output runs a program and returns what it printed.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	var failure bytes.Buffer
	c := exec.Command(program, args...)
	c.Stderr = &failure
	b, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, b, failure.String())
	}
	return string(b)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
