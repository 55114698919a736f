package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/report"
)

// The report leaves out a row whose sketch is damaged, and says so.
func TestReportOfDamagedSketches(t *testing.T) {
	_, conn := filled(t)
	must(t, "run", "--once", "--allow-superuser")
	for _, damage := range []string{`''`, `'\x01'`, `null`, `substr(sketch, 1, 30)`, `set_byte(sketch, 4, 5)`} {
		if tag, err := conn.Exec(t.Context(), "update documents_alike set sketch = "+damage+" where id = (select min(id) from documents_alike)"); err != nil || tag.RowsAffected() != 1 {
			t.Fatal(tag, err)
		}
		var r report.Report
		if err := json.Unmarshal([]byte(must(t, "report", "--json")), &r); err != nil {
			t.Fatal(err)
		}
		if a := r.Attachments[0]; len(a.Problems) != 1 || !strings.Contains(a.Problems[0], "some sketches are damaged") || a.Clusters.Count != 0 {
			t.Errorf("after %s: the problems are %q, and there are %d clusters", damage, a.Problems, a.Clusters.Count)
		}
		if _, err := conn.Exec(t.Context(), "select alike.refresh('documents')"); err != nil {
			t.Fatal(err)
		}
		must(t, "run", "--once", "--allow-superuser")
	}
}
