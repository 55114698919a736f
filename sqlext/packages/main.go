// Command packages compiles the SQLite extension and the command alike for every platform that it can from here, and packs
// what it compiled: tarballs, Python wheels, npm packages, gems, crates and a jar, with their checksums. Equal sources give equal bytes.
//
//	go run ./sqlext/packages -o build/dist
//
// Zig (its wheel is called ziglang) compiles C for Linux with a glibc as old as 2.17 and for Windows. For macOS run the
// command on macOS with -compile, copy its libraries folder here, and run it again.
//
// No package index has sqlite-dist, which packs extensions for the same places, so the archives are written here.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("packages: ")
	out := flag.String("o", "build/dist", "the folder for the packages")
	zig := flag.String("zig", "zig", "the zig that compiles for other platforms")
	only := flag.String("only", "", "the platforms, as linux-x86_64,windows-x86_64; every one unless given")
	compileOnly := flag.Bool("compile", false, "compile the libraries and pack nothing")
	commands := flag.Bool("commands", true, "compile and pack the command alike, too; with SQLite inside it takes minutes the first time")
	man := flag.String("man", "", "the folder with the man pages of the command alike")
	worker := flag.String("worker", "", "write the list of parts of this worker, too")
	flag.Parse()
	if *worker != "" {
		if err := workerParts(*out, *worker); err != nil {
			log.Fatal(err)
		}
	}
	if err := run(*out, *zig, *only, *man, *compileOnly, *commands); err != nil {
		log.Fatal(err)
	}
}

func run(out, zig, only, man string, compileOnly, commands bool) error {
	wanted, err := choose(only)
	if err != nil {
		return err
	}
	libraries := filepath.Join(out, "libraries")
	var found []target
	for _, t := range wanted {
		if t.compiles() {
			log.Printf("%s: compiling", t.name)
			if err := t.compile(zig, libraries, commands); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		if t.extension, err = os.ReadFile(t.path(libraries)); err == nil && commands {
			t.command, err = os.ReadFile(t.commandPath(libraries))
		}
		if err != nil {
			log.Printf("%s: left out: %v", t.name, err)
			continue
		}
		found = append(found, t)
	}
	if compileOnly {
		return nil
	}
	if len(found) == 0 {
		return fmt.Errorf("no library was compiled")
	}
	if err := pack(out, man, found); err != nil {
		return err
	}
	return checksums(out)
}

// choose returns the platforms with these names.
func choose(only string) ([]target, error) {
	if only == "" {
		return targets, nil
	}
	var chosen []target
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no platform is called %q; there are %s", name, names(targets))
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

func names(ts []target) string {
	var all []string
	for _, t := range ts {
		all = append(all, t.name)
	}
	return strings.Join(all, ", ")
}

// pack writes every package of the platforms.
func pack(out, man string, found []target) error {
	// The library's modules are the same on every platform.
	c, err := readContents(found[0].path(filepath.Join(out, "libraries")))
	if err != nil {
		return err
	}
	r := release{notices: c.notices()}
	if man != "" {
		pages, err := filepath.Glob(filepath.Join(man, "*.1"))
		if err != nil || len(pages) == 0 {
			return fmt.Errorf("no man pages in %s: %w", man, err)
		}
		for _, page := range pages {
			b, err := os.ReadFile(page)
			if err != nil {
				return err
			}
			r.manual = append(r.manual, member{"man/man1/" + filepath.Base(page), b})
		}
	}
	packages := []archive{{"sqlite-alike.cdx.json", c.bom("sqlite-alike")}, r.jar(found), r.npmLoader(), r.rustLoader(), r.datasettePlugin(), r.sqliteUtilsPlugin()}
	for _, t := range found {
		packages = append(packages, r.tarball(t), r.wheel(t), r.npmLibrary(t), r.gem(t), r.rustLibrary(t))
		if t.command != nil {
			packages = append(packages, r.program(t))
		}
	}
	for _, p := range packages {
		if err := os.WriteFile(filepath.Join(out, p.name), p.bytes, 0o644); err != nil {
			return err
		}
		log.Printf("%s: %d bytes", p.name, len(p.bytes))
	}
	return nil
}

// workerParts writes the worker's list of parts, and their licences.
func workerParts(out, worker string) error {
	c, err := readContents(worker)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "pgworker-licences.txt"), c.notices(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "pgworker.cdx.json"), c.bom("pgworker"), 0o644)
}

// checksums writes the file that sha256sum -c reads, of all files in the folder.
func checksums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		if e.IsDir() || e.Name() == "SHA256SUMS" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(b), e.Name())
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
