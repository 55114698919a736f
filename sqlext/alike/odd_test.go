package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOddInputs reads what programs and people write, and what is broken.
func TestOddInputs(t *testing.T) {
	utf16 := "\xff\xfeb\x00o\x00d\x00y\x00\n\x00"
	for _, c := range []struct {
		name, file, in string
		args           []string
		code           int
		want, says     string // of the outputs; a prefix of want stands for records that are as they were
	}{
		{"semicolons", "a.csv", "id;body\r\n1;" + long + ", he said\r\n2;" + edited + ", she said\r\n", nil, 0, "id;body\r\n1;" + long + ", he said\r\n", ""},
		{"commas without quotes", "a.csv", "id,body\n1,the same, " + long + "\n2,the same, " + another + "\n", nil, 0, "id,body\n1,the same, " + long + "\n2,the same, " + another + "\n", ""},
		{"two columns of one name", "a.csv", "body,body\na,b\n", []string{"--column", "body"}, exitUsage, "", `two columns are called "body"`},
		{"an open quote", "a.csv", "body\na\n\"" + long + "\n" + edited + "\n", nil, exitFailure, "", "a quote of the record in line 3 is not closed"},
		{"an open quote at the end", "a.csv", "body\na\n\"", nil, exitFailure, "", "a quote of the record in line 3 is not closed"},
		{"a closed quote at the end", "a.csv", "body\n\"a\nb\"", nil, 0, "body\n\"a\nb\"\n", "1 record, 1 kept"},
		{"a quote within", "a.csv", "body\n5\" nails\n6\" nails", nil, 0, "body\n5\" nails\n6\" nails\n", ""},
		{"an open quote in the header", "a.csv", "\"body\na\n", nil, exitFailure, "", "a quote of the record in line 1 is not closed"},
		{"UTF-16 without a mark", "a.csv", utf16[2:], nil, exitFailure, "", "iconv -f UTF-16LE"},
		{"UTF-16", "a.csv", utf16, nil, exitFailure, "", "iconv -f UTF-16"},
		{"UTF-16 the other way", "a.txt", "\xfe\xff\x00a\x00b", nil, exitFailure, "", "iconv -f UTF-16"},
		{"Latin-1", "a.txt", "caf\xe9 " + long + "\ncaf\xe9 " + another + "\n", nil, 0, "caf\xe9 " + long + "\ncaf\xe9 " + another + "\n", "2 of the first 2 documents are not UTF-8"},
		{"zero bytes", "a.txt", "a\x00b " + long + "\na\x00b " + edited + "\n", nil, 0, "a\x00b " + long + "\n", ""},
		{"damaged gzip", "a.txt.gz", "\x1f\x8b\x08\x00\x00", nil, exitFailure, "", "EOF"},
		{"an array", "a.jsonl", `[{"text": "a"}]`, nil, exitFailure, "", "jq -c"},
		{"an array called json", "a.json", `[{"text": "a"}]`, nil, exitUsage, "", "jq -c"},
		{"other members", "a.jsonl", `{"id":7}` + "\n" + `{"id":7}` + "\n" + `{"id":1,"text":"` + long + `"}` + "\n", nil, 0, `{"id":7}` + "\n" + `{"id":7}` + "\n" + `{"id":1,"text":"` + long + `"}` + "\n", ""},
		{"a member that is missing", "a.jsonl", `{"id":7}` + "\n" + `{"id":7}` + "\n", []string{"--column", "text"}, 0, `{"id":7}` + "\n" + `{"id":7}` + "\n", ""},
		{"a header alone", "a.tsv", "body", nil, 0, "body\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := filepath.Join(t.TempDir(), c.file)
			write(t, in, c.in)
			got, stderr, code := alike(t, append([]string{"dedup", in}, c.args...)...)
			if code != c.code || got != c.want || !strings.Contains(stderr, c.says) {
				t.Errorf("exit %d, printed %q, said %q; want %d, %q, %q", code, got, stderr, c.code, c.want, c.says)
			}
		})
	}
}

// TestDocuments extracts the text of what office programs write. What cannot be read is kept, and said.
func TestDocuments(t *testing.T) {
	folder := t.TempDir()
	docx := exec.Command("pandoc", "--from", "markdown", "--to", "docx", "--output", filepath.Join(folder, "b.docx"))
	docx.Stdin = strings.NewReader(edited)
	if out, err := docx.CombinedOutput(); err != nil {
		t.Fatalf("pandoc: %v: %s", err, out)
	}
	content := "BT /F1 4 Tf 10 700 Td (" + long + ") Tj ET"
	write(t, filepath.Join(folder, "c.pdf"), fmt.Sprintf("%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"+
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n4 0 obj<</Length %d>>stream\n%s\nendstream endobj\n"+
		"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF\n", len(content), content))
	write(t, filepath.Join(folder, "a.txt"), long)
	write(t, filepath.Join(folder, "d.html"), "<p>"+another+"</p>")
	for _, name := range []string{"e.png", "f.png"} {
		write(t, filepath.Join(folder, name), "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR the same picture")
	}
	write(t, filepath.Join(folder, "g.pdf"), "%PDF-1.4\nbroken\x1b[31m")
	write(t, filepath.Join(folder, "h\ni.txt"), another)
	for name, target := range map[string]string{"loop": folder, "link.txt": filepath.Join(folder, "a.txt"), "nowhere": "/nonexistent"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, stderr, code := alike(t, "dedup", folder, "-0")
	var names []string
	for path := range strings.SplitSeq(strings.TrimSuffix(got, "\x00"), "\x00") {
		names = append(names, filepath.Base(path))
	}
	if want := []string{"a.txt", "d.html", "e.png", "f.png", "g.pdf"}; code != 0 || !slices.Equal(names, want) {
		t.Errorf("exit %d, kept %q, want %q\n%s", code, names, want, stderr)
	}
	for _, want := range []string{"e.png", "f.png", "g.pdf", "8 records, 5 kept, 3 left out"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not said: %s", want, stderr)
		}
	}
	if strings.Contains(stderr, "\x1b") {
		t.Errorf("a document's bytes are printed: %q", stderr)
	}
	// A link to the folder is the folder.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	if got, stderr, code := alike(t, "dedup", link, "-q"); code != 0 || strings.Count(got, link+"/") != 5 {
		t.Errorf("through a link: exit %d, %q %s", code, got, stderr)
	}
	// check and diff read them too.
	if got, stderr, code := alike(t, "diff", filepath.Join(folder, "a.txt"), filepath.Join(folder, "b.docx")); code != exitFound || !strings.Contains(got, "[-full-]{+march") {
		t.Errorf("diff: exit %d, %q %s", code, got, stderr)
	}
}

func TestKeepByTime(t *testing.T) {
	folder := t.TempDir()
	for i, name := range []string{"b.txt", "c.txt", "a.txt"} {
		file := filepath.Join(folder, name)
		write(t, file, long)
		if at := time.Unix(int64(1e9+i), 0); os.Chtimes(file, at, at) != nil {
			t.Fatal("no times")
		}
	}
	for rule, want := range map[string]string{"oldest": "b.txt", "newest": "a.txt", "first": "a.txt", "last": "c.txt"} {
		if got, stderr, code := alike(t, "dedup", folder, "--keep", rule); code != 0 || got != filepath.Join(folder, want)+"\n" {
			t.Errorf("%s: exit %d, kept %q, want %s\n%s", rule, code, got, want, stderr)
		}
	}
}

// TestSeveralInputs makes one output of files of one kind.
func TestSeveralInputs(t *testing.T) {
	folder := t.TempDir()
	in := func(name, text string) string {
		file := filepath.Join(folder, name)
		write(t, file, text)
		return file
	}
	a, b, c := in("a.csv", "id,body\n1,"+long+"\n"), in("b.csv", "id,body\r\n2,"+another+"\r\n3,"+edited+"\r\n"), in("c.csv", "id,note,body\n")
	why := filepath.Join(folder, "why.csv")
	got, stderr, code := alike(t, "dedup", a, b, "--why", why)
	if want := "id,body\n1," + long + "\n2," + another + "\r\n"; code != 0 || got != want {
		t.Errorf("exit %d, printed %q, want %q\n%s", code, got, want, stderr)
	}
	if got := string(read(t, why)); !strings.Contains(got, "\n"+b+":2,"+a+":1,0.") {
		t.Errorf("why: %s", got)
	}
	lines := in("d.txt", long+"\n")
	for want, args := range map[string][]string{"has other columns than": {a, c}, "inputs have to be of one kind": {a, lines}, "the only input": {a, attached(t), "--table", "notes"}} {
		if _, stderr, code := alike(t, append([]string{"dedup"}, args...)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d, said %q, want %q", args, code, stderr, want)
		}
	}
}

// TestOutputs writes to names that exist, and to what is no file.
func TestOutputs(t *testing.T) {
	folder := t.TempDir()
	in, link := filepath.Join(folder, "in.txt"), filepath.Join(folder, "link.txt")
	write(t, in, long+"\n"+edited+"\n")
	if err := errors.Join(os.Chmod(in, 0o600), os.Symlink(in, link)); err != nil {
		t.Fatal(err)
	}
	// In place, through a link, the rights stay.
	if _, stderr, code := alike(t, "dedup", in, "-o", link); code != 0 {
		t.Fatal(stderr)
	}
	if info, err := os.Lstat(in); err != nil || info.Mode() != 0o600 || string(read(t, in)) != long+"\n" {
		t.Errorf("%v, %v, %q", info.Mode(), err, read(t, in))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	for _, why := range []string{"in.csv", "./in.csv"} {
		table := filepath.Join(folder, "in.csv")
		write(t, table, "body\n"+long+"\n")
		if _, stderr, code := alike(t, "dedup", table, "--why", filepath.Join(folder, why)); code != exitUsage || !strings.Contains(stderr, "which the records are in") || string(read(t, table)) != "body\n"+long+"\n" {
			t.Errorf("--why over the input: exit %d, %s", code, stderr)
		}
	}
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	go func() {
		b, err := os.ReadFile(pipe)
		said <- fmt.Sprint(string(b), err)
	}()
	if _, stderr, code := alike(t, "dedup", in, "-o", pipe); code != 0 {
		t.Fatal(stderr)
	}
	if got := <-said; got != long+"\n<nil>" {
		t.Errorf("the pipe gave %q", got)
	}
	// A full disk leaves no part of a file.
	if _, stderr, code := alike(t, "dedup", in, "-o", "/dev/full"); code != exitFailure || !strings.Contains(stderr, "no space left") {
		t.Errorf("/dev/full: exit %d, %s", code, stderr)
	}
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("/dev/full is %v, %v", info.Mode(), err)
	}
}

// TestOddTables copies generated columns, a column called rowid, and values as they are.
func TestOddTables(t *testing.T) {
	file, out := filepath.Join(t.TempDir(), "in.db"), filepath.Join(t.TempDir(), "out.db")
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{`create table "no""tes" (rowid text, body text, size int generated always as (length(body)) stored, v int as (1))`,
		`insert into "no""tes" values ('x', '` + long + `'), ('x', '` + another + `'), ('x', '` + edited + `'), ('x', null), ('x', null)`,
		`create table keys (k text primary key, body text) without rowid`} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, code := alike(t, "dedup", file, "--table", `no"tes`, "-o", out); code != 0 {
		t.Fatal(stderr)
	}
	kept, err := sql.Open("sqlite3", out)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	var n, sizes int
	if err := kept.QueryRow(`select count(*), sum(size) from "no""tes" where rowid = 'x'`).Scan(&n, &sizes); err != nil || n != 4 || sizes != len(long)+len(another) {
		t.Errorf("%d rows of %d characters, error %v; want 4 of %d", n, sizes, err, len(long)+len(another))
	}
	if _, stderr, code := alike(t, "dedup", file, "--table", "keys", "-o", out+"2"); code != exitFailure || !strings.Contains(stderr, "integer primary key") {
		t.Errorf("without rowid: exit %d, %s", code, stderr)
	}
}

// TestInterrupted ends a run in its middle: nothing appears, nothing is left.
func TestInterrupted(t *testing.T) {
	folder, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	in, out := filepath.Join(folder, "in.txt"), filepath.Join(folder, "out.txt")
	write(t, in, strings.Repeat(long+"\n"+another+"\n", 20000))
	for name, wait := range map[string]time.Duration{"at once": 0, "soon": 20 * time.Millisecond, "later": 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		root := newRoot()
		root.SetArgs([]string{"dedup", in, "-o", out})
		root.SetOut(&bytes.Buffer{})
		root.SetErr(&bytes.Buffer{})
		if err := root.ExecuteContext(ctx); err == nil {
			t.Errorf("%s: no error", name)
		}
		cancel()
	}
	// A reader that waits for its input stops too.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	root := newRoot()
	root.SetArgs([]string{"dedup", "-", "--format", "lines"})
	if err := root.ExecuteContext(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	for _, where := range []string{folder, temporary} {
		left, err := os.ReadDir(where)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.Name() != "in.txt" {
				t.Errorf("%s is left", e.Name())
			}
		}
	}
}

// TestChanges notices an input that changes between the two readings.
func TestChanges(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.txt")
	write(t, in, long+"\n"+edited+"\n")
	f, done, err := openFormat(t.Context(), in, options{})
	defer done()
	if err != nil {
		t.Fatal(err)
	}
	d := &dedup{instead: []int32{-1, 0}}
	write(t, in, long+"\n"+edited+"\n"+another+"\n")
	if err := d.copyRaw(t.Context(), f, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("the error is %v", err)
	}
	file := attached(t)
	if f, _, err = openFormat(t.Context(), file, options{table: "notes"}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+escapeURI(file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("delete from notes where id = 5"); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.db")
	if err := f.copy(t.Context(), out, d.kept); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("left: %v (error %v)", left, err)
	}
}
