package main

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

const (
	summary  = "Near-duplicate detection in SQL: a loadable extension of SQLite"
	homepage = "https://github.com/alike-sql/alike"
	license  = "Apache-2.0"
)

//go:embed files
var files embed.FS

// file reads a file of this folder, with the version in its place.
func (r release) file(name string) []byte {
	b, err := files.ReadFile("files/" + name)
	must(err)
	return []byte(strings.ReplaceAll(string(b), "VERSION", sketch.Version))
}

// release holds the data that the packages of one version share.
type release struct {
	notices []byte   // the licences of what is compiled into the library
	manual  []member // pages of the command alike
}

// licenses returns the licence files that go with a library.
func (r release) licenses() []member {
	return []member{{"LICENSE", r.file("LICENSE")}, {"LICENSES-OF-PARTS", r.notices}}
}

// within puts members into a folder.
func within(folder string, members []member) []member {
	for i := range members {
		members[i].name = folder + members[i].name
	}
	return members
}

// tarball holds the library alone, because rqlite loads every file of an archive.
func (r release) tarball(t target) archive {
	return archive{fmt.Sprintf("sqlite-alike-%s-loadable-%s.tar.gz", sketch.Version, t.name), gzipped(tarred([]member{{t.file, t.extension}}))}
}

// program holds the command alike.
func (r release) program(t target) archive {
	name := filepath.Base(t.commandPath(""))
	members := append(append([]member{{name, t.command}}, r.licenses()...), r.manual...)
	if t.os == "windows" {
		return archive{fmt.Sprintf("alike-%s-%s.zip", sketch.Version, t.name), zipped(members)}
	}
	return archive{fmt.Sprintf("alike-%s-%s.tar.gz", sketch.Version, t.name), gzipped(tarred(members))}
}

// wheel follows the binary distribution format of PyPA.
func (r release) wheel(t target) archive {
	return r.python("sqlite-alike", "py3-none-"+t.wheel, summary, "", []member{
		{"sqlite_alike/__init__.py", r.file("sqlite_alike.py")},
		{"sqlite_alike/__main__.py", r.file("main.py")},
		{"sqlite_alike/" + t.file, t.extension},
	})
}

func (r release) datasettePlugin() archive {
	return r.python("datasette-sqlite-alike", "py3-none-any", "Loads sqlite-alike into every database of Datasette",
		"[datasette]\nsqlite_alike = datasette_sqlite_alike\n",
		[]member{{"datasette_sqlite_alike.py", r.file("datasette_sqlite_alike.py")}}, "datasette", "sqlite-alike=="+sketch.Version)
}

func (r release) sqliteUtilsPlugin() archive {
	return r.python("sqlite-utils-sqlite-alike", "py3-none-any", "Loads sqlite-alike into every database of sqlite-utils",
		"[sqlite_utils]\nsqlite_alike = sqlite_utils_sqlite_alike\n",
		[]member{{"sqlite_utils_sqlite_alike.py", r.file("sqlite_utils_sqlite_alike.py")}}, "sqlite-utils", "sqlite-alike=="+sketch.Version)
}

func (r release) python(name, tags, summary, entryPoints string, members []member, requires ...string) archive {
	module := strings.ReplaceAll(name, "-", "_")
	info := fmt.Sprintf("%s-%s.dist-info/", module, sketch.Version)
	metadata := fmt.Sprintf("Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\nProject-URL: Homepage, %s\nLicense-Expression: %s\nLicense-File: LICENSE\nLicense-File: LICENSES-OF-PARTS\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n",
		name, sketch.Version, summary, homepage, license)
	for _, other := range requires {
		metadata += "Requires-Dist: " + other + "\n"
	}
	metadata += "\n" + string(r.file("README.md"))
	description := "Wheel-Version: 1.0\nGenerator: alike\nRoot-Is-Purelib: " + map[bool]string{true: "true", false: "false"}[strings.HasSuffix(tags, "-any")] + "\n"
	interpreter, platforms := tags[:strings.LastIndex(tags, "-")+1], tags[strings.LastIndex(tags, "-")+1:]
	for p := range strings.SplitSeq(platforms, ".") {
		description += "Tag: " + interpreter + p + "\n"
	}
	members = append(members, member{info + "METADATA", []byte(metadata)}, member{info + "WHEEL", []byte(description)})
	members = append(members, within(info+"licenses/", r.licenses())...)
	if entryPoints != "" {
		members = append(members, member{info + "entry_points.txt", []byte(entryPoints)})
	}
	var record strings.Builder
	for _, m := range members {
		sum := sha256.Sum256(m.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", m.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(m.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	members = append(members, member{info + "RECORD", []byte(record.String())})
	return archive{fmt.Sprintf("%s-%s-%s.whl", module, sketch.Version, tags), zipped(members)}
}

// npmLibrary is the package of one platform. npm installs the one whose os and cpu fit.
func (r release) npmLibrary(t target) archive {
	name := fmt.Sprintf("sqlite-alike-%s-%s", t.npm[0], t.npm[1])
	return r.npm(name, []member{
		{"package.json", fmt.Appendf(nil, `{
  "name": %q,
  "version": %q,
  "description": "The library of sqlite-alike for this platform",
  "license": %q,
  "homepage": %q,
  "repository": {"type": "git", "url": "git+%[4]s.git"},
  "os": [%q],
  "cpu": [%q]%s
}
`, name, sketch.Version, license, homepage, t.npm[0], t.npm[1], map[bool]string{true: ",\n  \"libc\": [\"glibc\"]"}[t.os == "linux"])},
		{t.file, t.extension},
	})
}

// npmLoader is the package that people install.
func (r release) npmLoader() archive {
	var optional []string
	for _, t := range targets {
		optional = append(optional, fmt.Sprintf("    \"sqlite-alike-%s-%s\": %q", t.npm[0], t.npm[1], sketch.Version))
	}
	return r.npm("sqlite-alike", []member{
		{"package.json", fmt.Appendf(nil, `{
  "name": "sqlite-alike",
  "version": %q,
  "description": %q,
  "license": %q,
  "homepage": %q,
  "repository": {"type": "git", "url": "git+%[4]s.git"},
  "main": "./index.cjs",
  "types": "./index.d.ts",
  "exports": {".": {"types": "./index.d.ts", "import": "./index.mjs", "require": "./index.cjs"}},
  "optionalDependencies": {
%s
  }
}
`, sketch.Version, summary, license, homepage, strings.Join(optional, ",\n"))},
		{"index.cjs", r.file("index.cjs")},
		{"index.mjs", r.file("index.mjs")},
		{"index.d.ts", r.file("index.d.ts")},
		{"README.md", r.file("README.md")},
	})
}

func (r release) npm(name string, members []member) archive {
	return archive{fmt.Sprintf("%s-%s.tgz", name, sketch.Version), gzipped(tarred(within("package/", append(members, r.licenses()...))))}
}

// gem is a tar file of a compressed specification, the compressed files and their checksums.
func (r release) gem(t target) archive {
	data := gzipped(tarred(append(r.licenses(),
		member{"lib/" + t.file, t.extension},
		member{"lib/sqlite_alike.rb", r.file("sqlite_alike.rb")},
	)))
	metadata := gzipped(fmt.Appendf(nil, `--- !ruby/object:Gem::Specification
name: sqlite-alike
version: !ruby/object:Gem::Version
  version: %s
platform: %s
authors:
- The authors of Alike
bindir: bin
cert_chain: []
date: 1980-01-02 00:00:00.000000000 Z
dependencies: []
description: %q
email:
executables: []
extensions: []
extra_rdoc_files: []
files:
- LICENSE
- LICENSES-OF-PARTS
- lib/%s
- lib/sqlite_alike.rb
homepage: %s
licenses:
- %s
metadata: {}
rdoc_options: []
require_paths:
- lib
required_ruby_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '2.7'
required_rubygems_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '0'
requirements: []
rubygems_version: 3.3.15
signing_key:
specification_version: 4
summary: %q
test_files: []
`, sketch.Version, t.gem, summary, t.file, homepage, license, summary))
	sums := fmt.Sprintf("---\nSHA256:\n  metadata.gz: %x\n  data.tar.gz: %x\n", sha256.Sum256(metadata), sha256.Sum256(data))
	return archive{fmt.Sprintf("sqlite-alike-%s-%s.gem", sketch.Version, t.gem), tarred([]member{
		{"metadata.gz", metadata}, {"data.tar.gz", data}, {"checksums.yaml.gz", gzipped([]byte(sums))},
	})}
}

// rustLibrary is the crate of one platform, since crates.io takes no crate that holds them all.
func (r release) rustLibrary(t target) archive {
	name := "sqlite-alike-" + t.name
	return r.crate(name, "", []member{
		{"src/lib.rs", fmt.Appendf(nil, "//! The library of sqlite-alike for this platform.\n\npub const FILE: &str = %q;\npub const LIBRARY: &[u8] = include_bytes!(%[1]q);\n", t.file)},
		{"src/" + t.file, t.extension},
	})
}

// rustLoader is the crate that people add.
func (r release) rustLoader() archive {
	var dependencies, uses, conditions strings.Builder
	for _, t := range targets {
		fmt.Fprintf(&dependencies, "\n[target.'cfg(%s)'.dependencies]\nsqlite-alike-%s = \"=%s\"\n", t.cfg, t.name, sketch.Version)
		fmt.Fprintf(&uses, "#[cfg(%s)]\nuse sqlite_alike_%s::{FILE, LIBRARY};\n", t.cfg, strings.ReplaceAll(t.name, "-", "_"))
		fmt.Fprintf(&conditions, "\n    %s,", t.cfg)
	}
	fmt.Fprintf(&uses, "#[cfg(not(any(%s\n)))]\nconst FILE: &str = \"\";\n#[cfg(not(any(%[1]s\n)))]\nconst LIBRARY: &[u8] = &[];", conditions.String())
	return r.crate("sqlite-alike", dependencies.String(), []member{
		{"src/lib.rs", []byte(strings.Replace(string(r.file("lib.rs")), "LIBRARY\n", uses.String()+"\n", 1))},
		{"README.md", r.file("README.md")},
	})
}

// crate is a folder that cargo publish takes, in the form that crates.io serves it.
func (r release) crate(name, dependencies string, members []member) archive {
	manifest := fmt.Appendf(nil, "[package]\nname = %q\nversion = %q\nedition = \"2021\"\nrust-version = \"1.65\"\ndescription = %q\nhomepage = %q\nrepository = %[4]q\nlicense = %[5]q\n%s",
		name, sketch.Version, summary, homepage, license, dependencies)
	folder := fmt.Sprintf("%s-%s", name, sketch.Version)
	return archive{folder + ".crate", gzipped(tarred(within(folder+"/", append(append([]member{{"Cargo.toml", manifest}}, members...), r.licenses()...))))}
}

// jar holds every library, as resources that sqlite-jdbc's users copy to a file.
func (r release) jar(found []target) archive {
	members := append([]member{
		{"META-INF/MANIFEST.MF", []byte("Manifest-Version: 1.0\r\nImplementation-Title: sqlite-alike\r\nImplementation-Version: " + sketch.Version + "\r\n\r\n")},
	}, within("META-INF/", r.licenses())...)
	for _, t := range found {
		members = append(members, member{"sqlite-alike/" + t.name + "/" + t.file, t.extension})
	}
	return archive{"sqlite-alike-" + sketch.Version + ".jar", zipped(members)}
}
