module github.com/alike-sql/alike

go 1.26.0

require (
	github.com/gabriel-vasile/mimetype v1.4.16
	github.com/mattn/go-sqlite3 v1.14.52
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.43.0
)
