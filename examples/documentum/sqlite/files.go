// Package sqlite carries the SQL files of the repository for SQLite.
package sqlite

import "embed"

// Files holds repository.sql, versions.sql and aspect.sql, which make a
// repository in this order, and backfill.sql.
//
//go:embed *.sql
var Files embed.FS
