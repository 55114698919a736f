package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

var dist = flag.String("dist", "", "the folder that make dist wrote, whose packages to install into an empty root (as root, with the network, minutes)")

// firstBlock returns the statements of the README's first block without the shell's own commands,
// and the rows that the README shows below it, the values separated by bars.
func firstBlock(t *testing.T) (statements, rows string) {
	_, page, _ := strings.Cut(string(read(t, "README.md")), "\n```sql\n")
	block, page, _ := strings.Cut(page, "\n```\n")
	_, page, _ = strings.Cut(page, "\n```text\n")
	shown, _, found := strings.Cut(page, "\n```\n")
	if !found {
		t.Fatal("the README has no block of SQL with a result")
	}
	for line := range strings.Lines(block + "\n") {
		if !strings.HasPrefix(line, ".") {
			statements += line
		}
	}
	lines := strings.Split(shown, "\n")
	for i, line := range lines {
		below := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "---")
		if !below && !strings.HasPrefix(line, "---") {
			rows += strings.Join(strings.Fields(line), "|") + "\n"
		}
	}
	return statements, rows
}

// TestInstalled installs the packages of the extension and of the command into an empty root with the programs that
// load them, and runs the README's first block there in each. The crate, the plugins and rqlite's tarball are tried
// by TestPackages.
func TestInstalled(t *testing.T) {
	if *dist == "" {
		return
	}
	t.Chdir("../..")
	statements, want := firstBlock(t)
	root := filepath.Join(t.TempDir(), "debian")
	output(t, "debootstrap", "--variant=minbase", "--include=python3-venv,sqlite3,ruby-sqlite3,default-jre-headless", "bookworm", root)
	in := func(t *testing.T, script string) string {
		t.Helper()
		return output(t, "chroot", root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "sh", "-euc", script)
	}
	same := func(t *testing.T, got string) {
		t.Helper()
		if got != want {
			t.Errorf("the first block gave\n%swant\n%s", got, want)
		}
	}
	output(t, "cp", "-r", *dist, filepath.Join(root, "dist"))
	write(t, filepath.Join(root, "first.sql"), statements)

	t.Run("tarball", func(t *testing.T) {
		same(t, in(t, "mkdir /shell; cd /shell; tar -xzf /dist/sqlite-alike-"+sketch.Version+"-loadable-linux-x86_64.tar.gz; sqlite3 -cmd '.load ./alike' :memory: </first.sql"))
	})
	t.Run("pip", func(t *testing.T) {
		write(t, filepath.Join(root, "first.py"), `
import sqlite3, sqlite_alike
connection = sqlite3.connect(":memory:")
sqlite_alike.load(connection)
for sql in open("/first.sql").read().split(";\n"):
    for row in connection.execute(sql):
        print(*row, sep="|")
`)
		same(t, in(t, "python3 -m venv /venv; /venv/bin/pip install -q --disable-pip-version-check --no-index --find-links /dist sqlite-alike; /venv/bin/python /first.py"))
		line := regexp.MustCompile(`(?m)^pip install sqlite-alike && (sqlite3 .*)$`).FindSubmatch(read(t, "README.md"))
		if line == nil {
			t.Fatal("the README does not install the wheel and start sqlite3 in one line")
		}
		same(t, in(t, "PATH=/venv/bin:$PATH; "+string(line[1])+" </first.sql"))
	})
	t.Run("gem", func(t *testing.T) {
		write(t, filepath.Join(root, "first.rb"), `
require "sqlite3"
require "sqlite_alike"
db = SQLite3::Database.new(":memory:")
SqliteAlike.load(db)
File.read("/first.sql").split(";\n").each { |sql| db.execute(sql).each { |row| puts row.join("|") } }
`)
		same(t, in(t, "gem install --silent --local --no-document /dist/sqlite-alike-"+sketch.Version+"-x86_64-linux-gnu.gem; ruby /first.rb"))
	})
	t.Run("npm", func(t *testing.T) {
		node := filepath.Dir(filepath.Dir(tool(t, "node/bin/node")))
		output(t, "cp", node+"/bin/node", filepath.Join(root, "usr/bin/node"))
		write(t, filepath.Join(root, "npm/package.json"), "{}")
		output(t, "npm", "install", "--prefix", filepath.Join(root, "npm"), "--offline", "--omit=optional", "--no-audit", "--no-fund",
			filepath.Join(*dist, "sqlite-alike-"+sketch.Version+".tgz"), filepath.Join(*dist, "sqlite-alike-linux-x64-"+sketch.Version+".tgz"))
		output(t, "cp", "-r", node+"/node_modules", filepath.Join(root, "npm"))
		write(t, filepath.Join(root, "npm/first.js"), `
const Database = process.argv[2] === "node" ? require("node:sqlite").DatabaseSync : require("better-sqlite3");
const db = new Database(":memory:", process.argv[2] === "node" ? { allowExtension: true } : {});
require("sqlite-alike").load(db);
for (const sql of require("fs").readFileSync("/first.sql", "utf8").split(";\n").filter((s) => s.trim())) {
  const statement = db.prepare(sql);
  if (!/^\s*select/.test(sql)) statement.run();
  else for (const row of statement.all()) console.log(Object.values(row).join("|"));
}
`)
		same(t, in(t, "node --no-warnings /npm/first.js node"))
		same(t, in(t, "node /npm/first.js better"))
	})
	t.Run("jar", func(t *testing.T) {
		write(t, filepath.Join(root, "jar/Asks.java"), javaHost)
		found, err := filepath.Glob(filepath.Join(filepath.Dir(tool(t, "jars/sqlite-jdbc.jar")), "*.jar"))
		if err != nil {
			t.Fatal(err)
		}
		output(t, "cp", append(found, filepath.Join(*dist, "sqlite-alike-"+sketch.Version+".jar"), filepath.Join(root, "jar"))...)
		output(t, "javac", "--release", "11", "-cp", strings.Join(found, ":"), filepath.Join(root, "jar/Asks.java"))
		output(t, "mount", "-t", "proc", "proc", filepath.Join(root, "proc")) // where Java finds itself
		t.Cleanup(func() { output(t, "umount", filepath.Join(root, "proc")) })
		same(t, in(t, "java -cp '/jar:/jar/*' Asks /first.sql"))
	})
	t.Run("command", func(t *testing.T) {
		in(t, "mkdir /alike; tar -xzf /dist/alike-"+sketch.Version+"-linux-x86_64.tar.gz -C /alike; /alike/alike --version | grep -F ' "+sketch.Version+", commit '")
		got := in(t, `printf '%s\n' 'one two three four five six seven eight nine ten' 'another' 'One, two, three, four, five, six, seven, eight, nine, ten!' >/notes.txt; /alike/alike dedup -q /notes.txt`)
		if want := "one two three four five six seven eight nine ten\nanother\n"; got != want {
			t.Errorf("alike dedup printed %q, want %q", got, want)
		}
	})
	// Every file that is published has its checksum, and a licence is in each archive.
	output(t, "sh", "-c", "cd "+*dist+" && sha256sum --quiet -c SHA256SUMS")
	entries, err := os.ReadDir(*dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && !strings.Contains(e.Name(), sketch.Version) && !strings.HasPrefix(e.Name(), "pgworker") && e.Name() != "SHA256SUMS" && e.Name() != "sqlite-alike.cdx.json" {
			t.Errorf("make dist wrote %s, which is not of version %s", e.Name(), sketch.Version)
		}
	}
}
