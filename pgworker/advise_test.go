package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A table that is not attached, small, large and of bytes; JSON has what is left out of
// the columns.
func TestAdvise(t *testing.T) {
	_, conn := filled(t)
	for _, sql := range []string{
		`create table "Some titles" (id bigint primary key, "The title" text)`,
		`insert into "Some titles" select g, 'title number ' || g % 1000 || ' of the table in a series of ' || g % 7 from generate_series(1, 6000) g`,
		`analyze "Some titles"`,
		`create table pages (page bytea)`,
		`insert into pages select convert_to('<p>page ' || g || '</p><p>of this site</p>', 'UTF8') from generate_series(1, 50) g`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	picture := filepath.Join(t.TempDir(), "advice.svg")
	out := must(t, "advise", `"Some titles"`, "The title", "--svg", picture)
	drawing, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "23 × 4: prose, paragraphs, short", "27 × 5: ", "short, measured"} {
		if !strings.Contains(string(drawing), want) {
			t.Errorf("the picture has no %q:\n%.2000s", want, drawing)
		}
	}
	for _, want := range []string{"preset ", "short is chosen: the median length of ", "short answers and ", "% of their characters are equal"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	for table, chosen := range map[string]string{"documents body": "short", "pages page": "pages"} {
		args := append([]string{"advise", "--json"}, strings.Fields(table)...)
		found := ""
		for line := range strings.Lines(must(t, args...)) {
			var a struct {
				Preset   string
				Chosen   bool
				Settings string
				Curve    []struct{ Resemblance, Expected, Measured float64 }
			}
			if err := json.Unmarshal([]byte(line), &a); err != nil || a.Settings == "" || len(a.Curve) != 5 || a.Curve[4].Expected < 0.9 {
				t.Fatalf("%v: %s", err, line)
			}
			if a.Chosen {
				found = a.Preset
			}
		}
		if found != chosen {
			t.Errorf("%s: %s is chosen, want %s", table, found, chosen)
		}
	}
	for _, v := range [][]string{{"nothing", "body", "there is no table nothing"}, {"documents", "text", "documents has no column text"}, {"documents; drop table documents", "body", "there is no table"}, {"documents", "body --svg=/no/such/folder/a.svg", "no such file"}} {
		if out, err := pgworker(t, append([]string{"advise", v[0]}, strings.Fields(v[1])...)...); err == nil || !strings.Contains(err.Error(), v[2]) {
			t.Errorf("advise %s %s: %v, want %q\n%s", v[0], v[1], err, v[2], out)
		}
	}
}
