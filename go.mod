module github.com/alike-sql/alike

go 1.26.0

require (
	github.com/mattn/go-sqlite3 v1.14.52
	golang.org/x/text v0.43.0
)
