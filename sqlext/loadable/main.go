// Command loadable is the SQLite extension as a library that any SQLite loads:
//
//	go build -buildmode=c-shared -o build/alike.so ./sqlext/loadable
//
// The file keeps the name alike, from which SQLite derives the entry point.
package main

import _ "github.com/alike-sql/alike/sqlext"

func main() {}
