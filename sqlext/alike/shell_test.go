package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra/doc"
)

// make dist names the folder. The generator is in a test, so that the command does not carry its libraries.
var manFolder = flag.String("man", "", "the folder for the man pages")

func TestManPages(t *testing.T) {
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Alike", Manual: "Alike"}, folder); err != nil {
		t.Fatal(err)
	}
	for _, verb := range root.Commands() {
		page, err := os.ReadFile(filepath.Join(folder, "alike-"+verb.Name()+".1"))
		if verb.IsAvailableCommand() && (err != nil || !strings.Contains(string(page), strings.Fields(verb.Short)[0])) {
			t.Errorf("%s has no page: %v", verb.Name(), err)
		}
	}
}

// TestDecide advises, marks, withdraws, and takes the aspect away.
func TestDecide(t *testing.T) {
	file := attached(t)
	run := func(want string, args ...string) {
		t.Helper()
		out, stderr, code := alike(t, append(args, "--json")...)
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("alike %q: exit %d, printed %s, want %s %s", args, code, out, want, stderr)
		}
		for line := range strings.Lines(out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("alike %q printed %q, which is not JSON", args, line)
			}
		}
	}
	run(`"preset":"prose"`, "advise", file, "notes", "body")
	run(`"rows":3`, "attach", file, "notes", "body")
	run(`"key":5,"other":7`, "pairs", file, "notes")
	run(`{"verdict":"distinct"}`, "mark", file, "notes", "7", "5", "distinct", "two parcels")
	if out, _, _ := alike(t, "pairs", file, "notes", "--json"); out != "" {
		t.Errorf("a pair that is called distinct is still there: %s", out)
	}
	run(`{"verdict":"none"}`, "mark", file, "notes", "5", "7", "none")
	run(`"key":5,"other":7`, "pairs", file, "notes")
	run(`{"rows":`, "refresh", file, "notes")
	run("", "common", file, "notes")
	run(`"version":"`, "version")
	if _, stderr, code := alike(t, "mark", file, "notes", "5", "7", "perhaps"); code != exitFailure || !strings.Contains(stderr, "want duplicate, distinct or none") {
		t.Errorf("another verdict: exit %d, %s", code, stderr)
	}
	if _, stderr, code := alike(t, "mark", file, "notes", "5", "7"); code != exitUsage {
		t.Errorf("no verdict: exit %d, %s", code, stderr)
	}
	run(`{"detached":`, "detach", file, "notes")
}

// TestExport reads the files that export writes, and compares them with the table's own numbers.
func TestExport(t *testing.T) {
	file, folder := attached(t), filepath.Join(t.TempDir(), "out")
	if _, stderr, code := alike(t, "attach", file, "notes", "body", "--options", `{"si": ["length", "43B/40"]}`); code != 0 {
		t.Fatal(stderr)
	}
	if _, stderr, code := alike(t, "export", file, "notes"); code != exitUsage || !strings.Contains(stderr, "--parquet") {
		t.Errorf("without a folder: exit %d, %s", code, stderr)
	}
	out, stderr, code := alike(t, "export", file, "notes", "--parquet", folder, "--json")
	if code != 0 {
		t.Fatal(stderr)
	}
	var n struct{ Features, Sketches int }
	if err := json.Unmarshal([]byte(out), &n); err != nil {
		t.Fatal(err)
	}
	type feature struct {
		Key     int64 `parquet:"key"`
		Slot    int32 `parquet:"slot"`
		Feature int64 `parquet:"feature"`
	}
	features, err := parquet.ReadFile[feature](filepath.Join(folder, "features.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Key      int64  `parquet:"key"`
		Profile  string `parquet:"profile"`
		Hash     int64  `parquet:"content_hash"`
		Shingles int64  `parquet:"shingles"`
		Sketch   []byte `parquet:"sketch"`
		Length   *int64 `parquet:"si_length"`
	}
	rows, err := parquet.ReadFile[row](filepath.Join(folder, "sketches.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var want int
	if err := db.QueryRow("select count(*) from notes_alike_feature").Scan(&want); err != nil || want != len(features) || want != n.Features || want == 0 {
		t.Errorf("%d features in the file, %d counted, want %d (%v)", len(features), n.Features, want, err)
	}
	for _, f := range features {
		var there int
		if err := db.QueryRow("select count(*) from notes_alike_feature where id = ? and slot = ? and feature = ?", f.Key, f.Slot, f.Feature).Scan(&there); err != nil || there != 1 {
			t.Errorf("%+v is %d times in the table (%v)", f, there, err)
		}
	}
	if len(rows) != 3 || n.Sketches != 3 {
		t.Fatalf("%d sketches in the file, %d counted, want 3", len(rows), n.Sketches)
	}
	for _, r := range rows {
		var there int
		if err := db.QueryRow("select count(*) from notes_alike a join alike_settings p on p.id = a.profile where a.id = ? and p.profile = ? and content_hash = ? and shingles = ? and sketch = ? and si_length is ?",
			r.Key, r.Profile, r.Hash, r.Shingles, r.Sketch, r.Length).Scan(&there); err != nil || there != 1 {
			t.Errorf("%+v is %d times in the table (%v)", r, there, err)
		}
	}
	// A key that is text, and has a quote in it.
	for _, statement := range []string{`create table "o'dd" (k text, n blob, body text, primary key (k, n))`, `insert into "o'dd" values ('a"', x'00ff', '` + long + `')`, `select alike_attach('"o''dd"', 'body')`} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, code := alike(t, "export", file, "o'dd", "--parquet", folder); code != 0 {
		t.Fatal(stderr)
	}
	type text struct {
		Key string `parquet:"key"`
	}
	keys, err := parquet.ReadFile[text](filepath.Join(folder, "sketches.parquet"))
	if err != nil || len(keys) != 1 || keys[0].Key != `["a\"","\\x00ff"]` {
		t.Errorf("keys %v, error %v", keys, err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestCompletion asks the shells themselves what follows.
func TestCompletion(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "alike")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(folder, "notes.db")
	b, err := os.ReadFile(attached(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := alike(t, "attach", file, "notes", "body"); code != 0 {
		t.Fatal(stderr)
	}
	shell := func(name, script string) []string {
		t.Helper()
		cmd := exec.Command(name, "-c", script)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "HOME="+folder)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s -c %s: %v\n%s", name, script, err, out)
		}
		var words []string
		for line := range strings.Lines(string(out)) {
			if fields := strings.Fields(line); len(fields) > 0 {
				words = append(words, fields[0])
			}
		}
		return words
	}
	bash := func(line string) []string {
		return shell("bash", `. /usr/share/bash-completion/bash_completion; source <(alike completion bash)
			COMP_LINE='`+line+`' COMP_POINT=${#COMP_LINE} COMP_WORDS=(`+line+`) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			[[ $COMP_LINE != *' ' ]] || { COMP_WORDS+=(''); COMP_CWORD=$((COMP_CWORD + 1)); }
			compopt() { :; } # which bash has while a person types alone
			__start_alike; printf '%s\n' "${COMPREPLY[@]}"`)
	}
	fish := func(line string) []string {
		return shell("fish", `alike completion fish | source; complete -C '`+line+`'`)
	}
	// The script that zsh is given asks the command itself, whose answer is the same for all shells.
	shell("zsh", `autoload -U compinit; compinit -D; source <(alike completion zsh); [[ $_comps[alike] = _alike ]]`)
	for name, complete := range map[string]func(string) []string{"bash": bash, "fish": fish} {
		for line, want := range map[string]string{"alike ke": "keep", "alike rows notes.db ": "notes", "alike rows notes.db no": "notes",
			"alike mark notes.db notes 5 7 du": "duplicate", "alike keep notes.db notes --ru": "--rule"} {
			if got := complete(line); !slices.Contains(got, want) {
				t.Errorf("%s completes %q with %q, want %s", name, line, got, want)
			}
		}
	}
}
