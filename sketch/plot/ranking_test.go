package plot

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestRank(t *testing.T) {
	var b bytes.Buffer
	r := Ranking{Title: "Speed & more", X: "MB/s", Bars: []Bar{{"slow", 1.5, false}, {"quick", 830, true}, {"middling", 66, false}}}
	if err := Rank(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>Speed &amp; more</title>", "<desc>MB/s: quick 830, middling 66, slow 1.5</desc>", ">middling<", `class="c2-f"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	top := map[string]float64{}
	for _, text := range texts(t, b.Bytes()) {
		top[text.text] = text.top
	}
	if !(top["quick"] < top["middling"] && top["middling"] < top["slow"]) {
		t.Errorf("the names are at %v, want the greatest on top", top)
	}
	if err := Rank(io.Discard, Ranking{Title: "empty"}); err == nil {
		t.Error("an empty ranking is drawn")
	}
}
