package main

import (
	"bytes"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

//go:embed collection
var files embed.FS

// licence is the licence in the first comment of the source file, from
// Debian's package base-files.
const licence = "/usr/share/common-licenses/BSD"

// fill makes the table: the books and chapters of the King James Version, a few
// files, and passages to measure errors on.
func fill(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec("create table document (id integer primary key, kind text, name text, book text, body text)"); err != nil {
		return err
	}
	add := func(kind, name, book, body string) {
		if err == nil {
			_, err = tx.Exec("insert into document (kind, name, book, body) values (?, ?, ?, ?)", kind, name, book, body)
		}
	}

	books, chapters, err := bible()
	if err != nil {
		return err
	}
	byName := map[string]string{}
	for _, b := range books {
		byName[b.book] = b.text
		add("book", b.book, b.book, b.text)
	}
	for _, c := range chapters {
		add("chapter", c.name, c.book, c.text)
	}

	text, readErr := os.ReadFile(licence)
	if readErr != nil {
		return fmt.Errorf("%w; Debian has it in the package base-files", readErr)
	}
	add("file", "BSD", "", string(text))
	for _, name := range []string{"quicksort.c", "mail.txt", "reply.txt", "answer.txt"} {
		text, readErr := files.ReadFile("collection/" + name)
		if readErr != nil {
			return readErr
		}
		add("file", name, "", string(text))
	}

	psalms, acts := strings.Fields(byName["Psa"]), strings.Fields(byName["Acts"])
	random := rand.New(rand.NewPCG(1997, 0))
	for words := 50; words <= 6400; words *= 2 {
		for range 100 {
			body := append(cut(random, psalms, words/2), cut(random, acts, words/2)...)
			add("passage", fmt.Sprint(words), "Psa", strings.Join(body, " "))
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// cut takes n words in a row from anywhere.
func cut(random *rand.Rand, words []string, n int) []string {
	at := random.IntN(len(words) - n + 1)
	return words[at : at+n : at+n]
}

// A part of the Bible is a book or a chapter.
type part struct{ book, name, text string }

var verse = regexp.MustCompile(`(?m)^(\d?[A-Za-z]+)(\d+):\d+ (.*\n)`)

// bible reads the King James Version, one verse a line.
func bible() (books, chapters []part, err error) {
	var out, complaint bytes.Buffer
	command := exec.Command("bible", "-f", "Gen1:1-Rev22:21")
	command.Stdout, command.Stderr = &out, &complaint
	if err := command.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = errors.New("no such command; Debian has it in the package bible-kjv")
		}
		return nil, nil, fmt.Errorf("bible: %w%s", err, complaint.Bytes())
	}
	for _, v := range verse.FindAllStringSubmatch(out.String(), -1) {
		book, chapter, text := v[1], v[1]+" "+v[2], v[3]
		if len(books) == 0 || books[len(books)-1].name != book {
			books = append(books, part{book: book, name: book})
		}
		if len(chapters) == 0 || chapters[len(chapters)-1].name != chapter {
			chapters = append(chapters, part{book: book, name: chapter})
		}
		books[len(books)-1].text += text
		chapters[len(chapters)-1].text += text
	}
	return books, chapters, nil
}
