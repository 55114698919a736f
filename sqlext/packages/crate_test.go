package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

const rustHost = `use rusqlite::{types::Value, Connection};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let db = Connection::open_in_memory()?;
    let alike = sqlite_alike::unpack()?;
    let path = alike.path().to_owned();
    unsafe {
        db.load_extension_enable()?;
        db.load_extension(&path, None)?;
    }
    drop(alike);
    assert!(!path.exists() && !path.parent().unwrap().exists());
    for sql in std::fs::read_to_string(std::env::args().nth(1).unwrap())?.split(";\n").filter(|s| !s.trim().is_empty()) {
        let mut statement = db.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match row.get::<_, Value>(0)? {
                Value::Integer(i) => println!("{}", i),
                Value::Text(s) => println!("{}", s),
                other => panic!("{:?}", other),
            }
        }
    }
    Ok(())
}
`

// checkCrate builds a program with the crates as a registry would give them out, and with the versions of other crates that
// examples/languages names.
func checkCrate(t *testing.T, out string) {
	folder := t.TempDir()
	patches := ""
	for _, target := range targets {
		name := "sqlite-alike-" + target.name
		if _, err := os.Stat(filepath.Join(out, name+"-"+sketch.Version+".crate")); err != nil {
			// The loader names every platform; cargo wants to know each, and builds one.
			write(t, filepath.Join(folder, name+"-"+sketch.Version, "Cargo.toml"), "[package]\nname = \""+name+"\"\nversion = \""+sketch.Version+"\"\n")
			write(t, filepath.Join(folder, name+"-"+sketch.Version, "src", "lib.rs"), "")
		} else {
			output(t, "tar", "-xzf", filepath.Join(out, name+"-"+sketch.Version+".crate"), "-C", folder)
		}
		patches += name + " = { path = \"" + name + "-" + sketch.Version + "\" }\n"
	}
	output(t, "tar", "-xzf", filepath.Join(out, "sqlite-alike-"+sketch.Version+".crate"), "-C", folder)
	write(t, filepath.Join(folder, "Cargo.toml"), `[package]
name = "asks"
version = "0.0.0"
edition = "2021"

[dependencies]
rusqlite = { version = "=0.29.0", features = ["bundled", "load_extension"] }
sqlite-alike = { path = "sqlite-alike-`+sketch.Version+`" }

[patch.crates-io]
`+patches)
	write(t, filepath.Join(folder, "Cargo.lock"), strings.ReplaceAll(string(read(t, "examples/languages/rust/Cargo.lock")), `name = "notes"`, `name = "asks"`))
	write(t, filepath.Join(folder, "src", "main.rs"), rustHost)
	check(t, output(t, "cargo", "run", "-q", "--manifest-path", filepath.Join(folder, "Cargo.toml"), "--target-dir", filepath.Join(filepath.Dir(tool(t, "jars")), "rust"), "--", first))
}
