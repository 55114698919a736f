// Package sqlite carries the SQL files of the repository for SQLite.
package sqlite

import "embed"

// Files are repository.sql, versions.sql and aspect.sql, which make a repository
// in this order, and what an administrator does with it in admin.
//
//go:embed *.sql admin
var Files embed.FS
