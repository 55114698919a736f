package steps

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestSteps(t *testing.T) {
	files := fstest.MapFS{
		"make.sql":   {Data: []byte("create table t (a, b); insert into t values (1, 'ä'), (22222, null);")},
		"show.sql":   {Data: []byte("-- A comment.\nselect a as \"the a\", b, alike_version() is not null as v from t order by a;\n")},
		"broken.sql": {Data: []byte("select nonsense")},
	}
	file := filepath.Join(t.TempDir(), "new", "steps.db")
	for range 2 { // the second time in place of the first database
		db, err := Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Do(db, files, "make.sql"); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Show(&out, db, files, "Title", "show.sql"); err != nil {
			t.Fatal(err)
		}
		if want := "Title\n\nthe a  b  v\n1      ä  1\n22222     1\n\n"; out.String() != want {
			t.Errorf("got\n%swant\n%s", out.String(), want)
		}
		for name, err := range map[string]error{
			"broken.sql":  Show(&out, db, files, "", "broken.sql"),
			"broken.sql:": Do(db, files, "broken.sql"),
			"missing":     Show(&out, db, files, "", "missing"),
			"missing.sql": Do(db, files, "missing.sql"),
		} {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(file, "below a file")); err == nil {
		t.Error("a folder that is a file gives no error")
	}
}
