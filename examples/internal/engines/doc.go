// Package engines holds SQLite and PostgreSQL against each other: the same
// documents are attached in both, checked in, changed and asked about, and every
// stored byte and every answer is the same.
//
//	go test ./examples/internal/engines
package engines
