package sketch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// The sketch of every shingle says what the texts say, under every preset, as a set, as
// a bag and weighted.
func TestExactProfile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	document := func() []byte {
		words := make([]string, random.IntN(30))
		for i := range words {
			words[i] = []string{"a", "rose", "is", "12", "<p>", "die", "Straße", "日本語", "{x}", "\n", "\xff"}[random.IntN(11)]
		}
		return []byte(strings.Join(words, " "))
	}
	var settings []string
	for _, preset := range sketch.Presets() {
		settings = append(settings, preset.Name, preset.Name+" bag", preset.Name+" w=1")
	}
	settings = append(settings, "weighted", "words bins", "words bottom=8", "words mod=4", "words scaled", "words classic bits=8")
	compared := 0
	for _, setting := range settings {
		p, err := sketch.ParseProfile(setting)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sketch.NewSketcher(p.Exact())
		if err != nil {
			t.Fatalf("%s: %v", setting, err)
		}
		all := func(doc []byte) []byte {
			if s.Document(doc); s.Empty() {
				return nil
			}
			return s.AppendSketch(nil)
		}
		for range 40 {
			a, b := document(), document()
			want, ok, err := sketch.ExactResemblance(p, a, b)
			if err != nil {
				t.Fatal(err)
			}
			x, y := all(a), all(b)
			if ok != (x != nil && y != nil) {
				t.Fatalf("%s: %q and %q: sketches %v and %v, comparable %v", setting, a, b, x != nil, y != nil, ok)
			}
			if !ok {
				continue
			}
			compared++
			if got, err := sketch.Resemblance(x, y); err != nil || got != want {
				t.Errorf("%s: %q and %q: %v, %v, want %v", setting, a, b, got, err, want)
			}
		}
	}
	if compared < 1000 {
		t.Fatal(fmt.Sprint("only ", compared, " pairs were compared"))
	}
}
