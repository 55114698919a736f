// Package extract turns the bytes of a document into its text by media type:
// plain text and HTML by itself, anything else by a command of the machine,
// which gets the document on its standard input and nothing else of it.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/alike-sql/alike/sketch"
)

// Config says which commands run, and within which limits. The commands are
// the worker's own setting: nothing that is stored in a database chooses one.
type Config struct {
	// Commands maps a media type to a command that reads the document from its
	// standard input and writes UTF-8 text. The command is run as it is, without
	// a shell. Defaults to Defaults().
	Commands map[string][]string
	// Timeout bounds the time of a command. Defaults to 30 seconds.
	Timeout time.Duration
	// Memory bounds the data of a command in bytes, on Linux. Defaults to 1 GiB.
	Memory int64
	// Output bounds the text, in bytes. Defaults to 256 MiB.
	Output int64
}

const (
	typePlain = "text/plain"
	typeHTML  = "text/html"
	typePDF   = "application/pdf"
	typeDOCX  = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

// Defaults returns the commands for PDF and for what pandoc reads, those of
// Debian's packages poppler-utils and pandoc.
func Defaults() map[string][]string {
	pandoc := func(format string) []string {
		return []string{"pandoc", "--sandbox", "--from", format, "--to", "plain", "--wrap=none"}
	}
	return map[string][]string{
		typePDF:  {"pdftotext", "-enc", "UTF-8", "-", "-"},
		typeDOCX: pandoc("docx"),
		"application/vnd.oasis.opendocument.text": pandoc("odt"),
		"application/epub+zip":                    pandoc("epub"),
		"text/rtf":                                pandoc("rtf"),
	}
}

// Timeout returns how long a command may run.
func (e *Extractor) Timeout() time.Duration { return e.config.Timeout }

// An Extractor extracts text. It may be used by many goroutines at once.
type Extractor struct{ config Config }

// ErrUnknownType is the error of a document whose media type has no command.
var ErrUnknownType = errors.New("no way to extract text")

// New returns an Extractor, or an error that names the setting that is wrong.
func New(c Config) (*Extractor, error) {
	if c.Commands == nil {
		c.Commands = Defaults()
	}
	commands := map[string][]string{}
	for media, command := range c.Commands {
		base, _, err := mime.ParseMediaType(media)
		if err != nil {
			return nil, fmt.Errorf("extract: media type %q: %w", media, err)
		}
		if len(command) == 0 || command[0] == "" {
			return nil, fmt.Errorf("extract: no command for %s", base)
		}
		commands[base] = slices.Clone(command)
	}
	c.Commands = commands
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Memory == 0 {
		c.Memory = 1 << 30
	}
	if c.Output == 0 {
		c.Output = 256 << 20
	}
	if c.Timeout < 0 || c.Memory < 0 || c.Output < 0 {
		return nil, fmt.Errorf("extract: timeout %s, memory %d and output %d must not be negative", c.Timeout, c.Memory, c.Output)
	}
	return &Extractor{c}, nil
}

// Known reports whether Text accepts a name of a media type: "plain", "html",
// "auto", or a type that is built in or has a command.
func (e *Extractor) Known(media string) error {
	_, err := e.resolve(media)
	return err
}

// resolve returns the media type that a name stands for, or "" for auto.
func (e *Extractor) resolve(media string) (string, error) {
	switch media {
	case "", "auto":
		return "", nil
	case "plain":
		return typePlain, nil
	case "html":
		return typeHTML, nil
	case "pdf":
		media = typePDF
	case "docx":
		media = typeDOCX
	}
	base, _, err := mime.ParseMediaType(media)
	if err != nil {
		return "", fmt.Errorf("extract: media type %.100q: %w", media, err)
	}
	if base == "application/xhtml+xml" {
		return typeHTML, nil
	}
	if _, ok := e.config.Commands[base]; !ok && base != typePlain && base != typeHTML {
		if strings.HasPrefix(base, "text/") {
			return typePlain, nil
		}
		return "", fmt.Errorf("extract: %w from %s", ErrUnknownType, base)
	}
	return base, nil
}

// RunsCommand reports whether Text would run a command for a document.
func (e *Extractor) RunsCommand(doc []byte, media string) bool {
	base, err := e.typeOf(doc, media)
	return err == nil && e.config.Commands[base] != nil
}

// typeOf returns the media type of a document that is said to be of one.
func (e *Extractor) typeOf(doc []byte, media string) (string, error) {
	base, err := e.resolve(media)
	if err == nil && base == "" {
		base, err = e.resolve(detect(doc))
	}
	return base, err
}

// Text returns the text of a document. media is its media type or a short name
// ("plain", "html", "pdf", "docx"); when it is empty or "auto" the bytes tell.
func (e *Extractor) Text(ctx context.Context, doc []byte, media string) ([]byte, error) {
	base, err := e.typeOf(doc, media)
	if err != nil {
		return nil, err
	}
	command, ok := e.config.Commands[base]
	switch {
	case ok:
		return e.run(ctx, command, doc)
	case base == typeHTML:
		return sketch.AppendHTMLText(nil, doc), nil
	}
	return doc, nil
}

// detect names the media type of bytes: text when they are UTF-8 without a
// zero byte and nothing better is known.
func detect(doc []byte) string {
	found := mimetype.Detect(doc)
	for m := found; m != nil; m = m.Parent() {
		base, _, _ := mime.ParseMediaType(m.String())
		if base == typePlain || base == typeHTML || base == typePDF || base == typeDOCX {
			return base
		}
	}
	if utf8.Valid(doc) && bytes.IndexByte(doc, 0) < 0 {
		return typePlain
	}
	return found.String()
}
