"use strict";

const names = { linux: "alike.so", win32: "alike.dll", darwin: "alike.dylib" };

// Returns the path of the extension, as loadExtension takes it.
function getLoadablePath() {
  const name = `sqlite-alike-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/${names[process.platform]}`);
  } catch {
    throw new Error(`sqlite-alike: the package ${name} is not installed; npm leaves it out with --omit=optional, and there is none for some platforms`);
  }
}

// Loads the extension into a database of better-sqlite3 or of node:sqlite (opened with allowExtension: true).
function load(db) {
  db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
