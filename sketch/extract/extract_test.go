package extract

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, c Config) *Extractor {
	t.Helper()
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// convert makes a document of a format from Markdown, with the pandoc that the
// package needs anyway.
func convert(t *testing.T, format, text string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "document."+format)
	cmd := exec.Command("pandoc", "--from", "markdown", "--to", format, "--output", file)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pandoc: %v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pdf is a smallest PDF with one line of text; readers repair its missing table.
func pdf(line string) []byte {
	content := "BT /F1 12 Tf 72 700 Td (" + line + ") Tj ET"
	return []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" +
		"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n" +
		"4 0 obj<</Length " + itoa(len(content)) + ">>stream\n" + content + "\nendstream endobj\n" +
		"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestText(t *testing.T) {
	e := must(t, Config{})
	const want = "Four score and seven years ago"
	page := []byte("<!DOCTYPE html><title>x</title><style>p{}</style><script>var seven=7</script><p>Fo<b>ur</b> score and&#32;seven<br/>years<!-- no --> ago<template>seven</template>")
	for name, c := range map[string]struct {
		doc   []byte
		media string
	}{
		"plain":               {[]byte(want), "plain"},
		"plain, detected":     {[]byte(want), ""},
		"charset":             {[]byte(want), "text/plain; charset=utf-8"},
		"markdown":            {[]byte(want), "text/markdown"},
		"html":                {page, "text/html"},
		"html, detected":      {page, "auto"},
		"pdf":                 {pdf(want), "application/pdf"},
		"pdf, short name":     {pdf(want), "pdf"},
		"pdf, detected":       {pdf(want), ""},
		"docx":                {convert(t, "docx", want), "docx"},
		"docx, detected":      {convert(t, "docx", want), "auto"},
		"odt":                 {convert(t, "odt", want), "application/vnd.oasis.opendocument.text"},
		"text of a dash file": {[]byte("-rf --help " + want), ""},
	} {
		got, err := e.Text(context.Background(), c.doc, c.media)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := strings.Join(strings.Fields(string(got)), " "); !strings.Contains(text, want) || strings.Contains(text, "var") {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
}

func TestUnknownTypes(t *testing.T) {
	e := must(t, Config{})
	for media, doc := range map[string]string{"application/zip": "PK", "image/png": "", "": "\x89PNG\r\n\x1a\n\x00"} {
		if _, err := e.Text(context.Background(), []byte(doc), media); !errors.Is(err, ErrUnknownType) {
			t.Errorf("%q: %v, want ErrUnknownType", media, err)
		}
	}
	if err := e.Known("nonsense/"); err == nil {
		t.Error("a malformed media type is known")
	}
	if err := e.Known("pdf"); err != nil {
		t.Error(err)
	}
}

func TestConfigErrors(t *testing.T) {
	for want, c := range map[string]Config{
		"media type":   {Commands: map[string][]string{"//": {"cat"}}},
		"no command":   {Commands: map[string][]string{"application/pdf": {}}},
		"not be negat": {Timeout: -1},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	const media = "application/x-test"
	shell := func(script string) map[string][]string { return map[string][]string{media: {"sh", "-c", script}} }
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"time":           {Config{Commands: shell("sleep 36000"), Timeout: 200 * time.Millisecond}, "longer than 200ms"},
		"time, children": {Config{Commands: shell("sleep 36000 & sleep 36000"), Timeout: 200 * time.Millisecond}, "longer than 200ms"},
		"output":         {Config{Commands: shell("yes"), Output: 1000}, "more than 1000 bytes"},
		"memory":         {Config{Commands: shell("cat >/dev/null; head -c 400000000 /dev/zero | tail -n 1"), Memory: 100 << 20}, "extract: sh"},
		"failure":        {Config{Commands: shell("echo broken file >&2; exit 3")}, "exit status 3: broken file"},
		"missing":        {Config{Commands: map[string][]string{media: {"no-such-command-of-ours"}}}, "no-such-command-of-ours"},
	} {
		_, err := must(t, c.config).Text(context.Background(), bytes.Repeat([]byte("x"), 1<<20), media)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// A document reaches a command by its standard input alone: not by an
// argument, a file's name or the environment.
func TestDocumentIsNoArgument(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const media = "application/x-test"
	e := must(t, Config{Commands: map[string][]string{media: {"sh", "-c", `echo "$#:$*"; env; ls -A; pwd`}}})
	hostile := "--help; $(touch injected) `touch injected`\x00../../etc/passwd"
	got, err := e.Text(context.Background(), []byte(hostile), media)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(got), "0:\n") || strings.Contains(string(got), "injected") {
		t.Errorf("the command saw %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "alike-extract-*")); len(left) > 0 {
		t.Errorf("folders left behind: %v", left)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := must(t, Config{}).Text(ctx, pdf("x"), "pdf"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
