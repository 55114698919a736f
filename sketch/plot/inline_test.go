package plot

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestInline(t *testing.T) {
	in := Inline{ID: "x", Class: "wide", Width: 560, Height: 330}
	for name, write := range map[string]func(io.Writer) error{
		"found": func(w io.Writer) error {
			return Found{Title: "A <filter>", Description: "finds & so on", K: 12, S: 7, AtLeast: 0.75,
				Points: []MeasuredShare{{0.5, 0.1, 0.05, 0.2}}}.Write(w, in)
		},
		"ratio": func(w io.Writer) error {
			return Histogram{Title: "A <filter>", Description: "finds & so on", X: "x", Y: "y", Counts: []int64{1, 0, 5000, 3}, Ratio: true, Mark: 0.5, MarkName: "here"}.Write(w, in)
		},
		"sizes": func(w io.Writer) error {
			return Histogram{Title: "A <filter>", Description: "finds & so on", X: "x", Y: "y", Counts: []int64{17, 3}, Labels: []string{"2", "3"}}.Write(w, Inline{ID: "x", Class: "narrow", Width: 310, Height: 270})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if count := elements(t, bytes.ReplaceAll(b.Bytes(), []byte("aria-labelledby="), []byte(`aria-label="" was=`))); count["path"] == 0 || count["text"] < 3 {
				t.Errorf("the elements are %v, want a path and three texts or more", count)
			}
			for _, bad := range []string{"style=", "#0969da", "font-family", "A <filter>", "finds & so"} {
				if strings.Contains(b.String(), bad) {
					t.Errorf("the drawing contains %s", bad)
				}
			}
			for _, want := range []string{`aria-labelledby="x-title x-desc"`, "A &lt;filter&gt;", `class="ink-`, "c1-"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("the drawing lacks %s", want)
				}
			}
			if name == "ratio" && !strings.Contains(b.String(), "logarithmic") {
				t.Error("the axis does not say that it is logarithmic")
			}
		})
	}
	if err := (Histogram{Counts: []int64{0}}).Write(io.Discard, in); err == nil {
		t.Error("nothing is drawn")
	}
	if err := (Found{K: 0, S: 7}).Write(io.Discard, in); err == nil {
		t.Error("a filter without features is drawn")
	}
	light, dark := Colors()
	for _, tint := range tints {
		if !strings.Contains(light, "--"+tint.class+":"+tint.light) || !strings.Contains(dark, "--"+tint.class+":"+tint.dark) || !strings.Contains(Classes(), "."+tint.class+"-f{") {
			t.Errorf("the colour %s is missing", tint.class)
		}
	}
}
