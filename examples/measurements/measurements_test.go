package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// The whole example: what a user sees.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := example.Run([]string{"-database", filepath.Join(t.TempDir(), "new", "measurements.db")}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1         81     0.60     0.60   0.58",
		"4         81     0.00     0.01   0.01",
		"the same file     10       10          1.00          1.00        0.00    0.11       1.00",
		"a live recording  10       10          0.28          0.26        0.04    0.11       0.04",
		"1 and 2  0.50               0.45        0.79             0.77         0.79",
		"4 and 5  0.71               0.67        0.55             0.52         0.54",
		"0.0 to 0.2   162    +0.002",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestErrors(t *testing.T) {
	if err := example.Run([]string{"-database", t.TempDir() + "/x/\x00"}, &bytes.Buffer{}); err == nil {
		t.Error("a database that cannot be written gives no error")
	}
	if err := example.Run([]string{"-nonsense"}, &bytes.Buffer{}); err == nil {
		t.Error("an unknown flag gives no error")
	}
}
