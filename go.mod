module github.com/alike-sql/alike

go 1.24
