package plot

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	c := Chart{Title: "Queries & more", X: "documents", Y: "seconds", LogX: true, LogY: true, Lines: []Line{
		{"one", [][2]float64{{1000, 0.001}, {10000, 0.002}}},
		{"nothing", nil},
		{"two", [][2]float64{{1000, 0.1}, {10000, 1}, {100000, 10}}},
	}}
	var b bytes.Buffer
	if err := Lines(&b, c); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"Queries &amp; more", "seconds by documents of one, two", ">two<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if strings.Contains(b.String(), "nothing") {
		t.Error("a line without points is named")
	}
	c.Lines[0].Points[0][1] = 0
	if err := Lines(io.Discard, c); err == nil {
		t.Error("0 is drawn on a logarithmic axis")
	}
	if err := Lines(io.Discard, Chart{Title: "empty"}); err == nil {
		t.Error("an empty chart is drawn")
	}
}
