// Package postgres carries the SQL files of the repository for PostgreSQL.
package postgres

import "embed"

// Files are repository.sql, versions.sql and aspect.sql, which make a repository
// in this order, and what an administrator does with it in admin.
//
//go:embed *.sql admin
var Files embed.FS
