// Package doctest holds the test that runs the project's Markdown pages: what
// a page shows is what a reader gets.
//
// The convention, the same on every page:
//
//   - A block marked sql is typed into the sqlite3 shell, with the extension
//     loaded and columns as output mode. The blocks of a page are one session
//     with one new database. A block that prints anything must be followed by
//     its output.
//   - A block marked sh is run by bash -euo pipefail in the checkout, and must
//     succeed. Files that it makes belong in build/. $DB is the page's database.
//   - The next block, when it is marked text, is the output of the one before,
//     errors included. In it … stands for any text within the line, and on a
//     line of its own for any number of lines: times, versions, lengths.
//   - With postgres as the second word on a fence the page has a PostgreSQL
//     database too: such an sql block is typed into psql, and $DATABASE_URL is
//     its address for sh blocks.
//   - With norun as the second word a block is shown and not run: commands that
//     install things or run for ever. No other block is exempt.
//
// One page alone:
//
//	go test ./examples/internal/doctest -run 'TestPages/sqlext/README.md'
//
// With -update, outputs that differ are written into the page; blocks that
// match, with their …, stay as they are.
package doctest
