package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		if _, err := os.Stat(filepath.Join(out, name+"-"+version+".crate")); err != nil {
			// The loader names every platform; cargo wants to know each, and builds one.
			write(t, filepath.Join(folder, name+"-"+version, "Cargo.toml"), "[package]\nname = \""+name+"\"\nversion = \""+version+"\"\n")
			write(t, filepath.Join(folder, name+"-"+version, "src", "lib.rs"), "")
		} else {
			output(t, "tar", "-xzf", filepath.Join(out, name+"-"+version+".crate"), "-C", folder)
		}
		patches += name + " = { path = \"" + name + "-" + version + "\" }\n"
	}
	output(t, "tar", "-xzf", filepath.Join(out, "sqlite-alike-"+version+".crate"), "-C", folder)
	write(t, filepath.Join(folder, "Cargo.toml"), `[package]
name = "asks"
version = "0.0.0"
edition = "2021"

[dependencies]
rusqlite = { version = "=0.29.0", features = ["bundled", "load_extension"] }
sqlite-alike = { path = "sqlite-alike-`+version+`" }

[patch.crates-io]
`+patches)
	write(t, filepath.Join(folder, "Cargo.lock"), strings.ReplaceAll(string(read(t, "examples/languages/rust/Cargo.lock")), `name = "notes"`, `name = "asks"`))
	write(t, filepath.Join(folder, "src", "main.rs"), rustHost)
	check(t, output(t, "cargo", "run", "-q", "--manifest-path", filepath.Join(folder, "Cargo.toml"), "--target-dir", filepath.Join(filepath.Dir(tool(t, "jars")), "rust"), "--", first))
}
