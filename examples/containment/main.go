// Command containment finds which documents swallow which: chapters that are
// told in two books, a licence inside a source file, replies that quote a mail.
// It measures how far the estimates are off when a short document is sought in
// a long one (Broder 1997, section 3).
//
//	go run ./examples/containment [-database FILE]
package main

import (
	"embed"

	"github.com/alike-sql/alike/examples/internal/steps"
)

//go:embed *.sql
var statements embed.FS

var example = steps.Example{
	Name:  "containment",
	Files: statements,
	Fill:  fill,
	Do:    []string{"sketch.sql"},
	Show: [][2]string{
		{"The collection, and the bytes of its sketches", "collection.sql"},
		{"Files in other files", "swallowed.sql"},
		{"Chapters in their own books", "own.sql"},
		{"Chapters that are told in another book too", "told-twice.sql"},
		{"Passages, half of each from the Psalms (42,000 words)", "error.sql"},
	},
}

func main() { example.Main() }
