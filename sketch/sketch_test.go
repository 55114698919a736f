package sketch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// everyFamily is a profile of each family, and of each that can be cut.
var everyFamily = []string{
	"text", "web", "bing", "text fast", "text bins t=128", "text lean", "text lean-zeros", "text lean-biased", "text weighted", "text bottom=100", "text bottom=100 mod=4",
	"text mod=8", "text scaled", "text bits=8", "text fast bits=2", "text bins t=128 bits=2", "text bits=1",
	"text bag", "chars", "text t=100 bits=4",
}

func mustProfile(t testing.TB, settings string) Profile {
	t.Helper()
	p, err := ParseProfile(settings)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustSketcher(t testing.TB, settings string) *Sketcher {
	t.Helper()
	s, err := NewSketcher(mustProfile(t, settings))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func numberedWords(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.Bytes()
}

func TestProfileSpelling(t *testing.T) {
	for _, c := range []struct{ settings, want string }{
		{"", "words w=4 set fast t=84 k=12 s=7 r=2"},
		{"text", "words w=4 set fast t=84 k=12 s=7 r=2"},
		{"web", "html w=6 set fast t=84 k=6 s=14 r=2"},
		{"bing", "words w=4 set fast t=30 k=6 s=5 r=4"},
		{"code", "code w=2 set fast t=168 k=34 s=4 r=2"},
		{"chars", "chars w=3 set fast t=84 k=12 s=7 r=2"},
		{"lines", "lines w=1 set fast t=84 k=12 s=7 r=2"},
		{"text w=6 bag", "words w=6 bag fast t=84 k=12 s=7 r=2"},
		{"text case stop bits=8", "words case stop w=4 set fast t=84 k=12 s=7 r=2 bits=8"},
		{"code fold", "code fold w=2 set fast t=168 k=34 s=4 r=2"},
		{"code case", "code w=2 set fast t=168 k=34 s=4 r=2"},
		{"short bits=4", "chars w=3 set fast t=168 k=34 s=4 r=2 bits=4"},
		{"text bottom=100 mod=25", "words w=4 set bottom=100 mod=25 t=84 k=12 s=7 r=2"},
		{"text mod=25", "words w=4 set mod=25 t=84 k=12 s=7 r=2"},
		{"text mod=25 classic", "words w=4 set classic t=84 k=12 s=7 r=2"},
		{"text k=20 s=10", "words w=4 set fast t=200 k=20 s=10 r=2"},
		{"TEXT W=3", "words w=3 set fast t=84 k=12 s=7 r=2"},
	} {
		p := mustProfile(t, c.settings)
		if got := p.String(); got != c.want {
			t.Errorf("%q is spelled %q, want %q", c.settings, got, c.want)
		}
		if again := mustProfile(t, p.String()); again != p {
			t.Errorf("%q reads back as %q", p, again)
		}
	}
}

// The presets that are not of papers have the filter that their thresholds ask for.
func TestPresetsFollowTheirThresholds(t *testing.T) {
	planned := 0
	for _, preset := range Presets() {
		p := mustProfile(t, preset.Settings)
		for _, bits := range []int{1, 8, 64} {
			if p.Bits = bits; p.AtLeast() != preset.AtLeast {
				t.Errorf("%s in %d bits: at least %v, want %v", preset.Name, bits, p.AtLeast(), preset.AtLeast)
			}
		}
		if preset.Background == 0 {
			if half := HalfPoint(p.K, p.S, p.R); preset.AtLeast != half {
				t.Errorf("%s: at least %v, want %v", preset.Name, preset.AtLeast, half)
			}
			continue
		}
		planned++
		choice, err := ThresholdFilter(preset.AtLeast, 0.95, preset.Background)
		if err != nil || choice.K != p.K || choice.S != p.S {
			t.Errorf("%s at %v has k=%d s=%d; %+v, %v", preset.Name, preset.AtLeast, p.K, p.S, choice, err)
		}
		if p.K++; p.AtLeast() != HalfPoint(p.K, p.S, p.R) {
			t.Errorf("%s with one group more: at least %v", preset.Name, p.AtLeast())
		}
	}
	if planned != 7 {
		t.Errorf("%d presets with a threshold of their own, want 7", planned)
	}
}

func TestStoredBits(t *testing.T) {
	for _, c := range []struct {
		settings string
		want     int
	}{{"text", 8}, {"bing", 8}, {"text t=128", 8}, {"text t=129", 4}, {"short", 4}} {
		if got := mustProfile(t, c.settings).StoredBits(); got != c.want {
			t.Errorf("%s: %d bits, want %d", c.settings, got, c.want)
		}
	}
}

func TestProfileErrors(t *testing.T) {
	for settings, want := range map[string]string{
		"texts":              `"texts" is not a setting or a preset; did you mean text?`,
		"txet w=3":           `"txet" is not a setting or a preset; did you mean text?`,
		"wob":                `"wob" is not a setting or a preset; did you mean web?`,
		"text w":             `"w": want w=NUMBER`,
		"text w=x":           `"w=x": want w=NUMBER`,
		"text w=0":           "w=0, want 1 to 1024",
		"text r=13":          "r=13, want 1 to 12",
		"text t=40":          "t=40, want at least k·s = 84",
		"text bits=3":        "bits=3, want 1, 2, 4, 8 or 64",
		"text mod=8 bits=8":  "the family mod has no slots to cut",
		"text bottom=100000": "bottom=100000, want 1 to 65535",
		"text mod=0":         "mod=0, want 1 to 2147483647",
		"text k=65":          "k=65, want 1 to 64",
		"w=4 text":           `"text" is not a setting or a preset`,
	} {
		if _, err := ParseProfile(settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", settings, err, want)
		}
	}
}

func TestStoredFormRoundTrip(t *testing.T) {
	for _, settings := range everyFamily {
		for _, n := range []int{1, 3, 5, 50, 2000} {
			s := mustSketcher(t, settings)
			s.Document(numberedWords(0, n))
			b := s.AppendSketch(nil)
			if err := Check(b); err != nil {
				t.Errorf("%s, %d words: %v", settings, n, err)
			}
			if p, err := ProfileOf(b); err != nil || p != s.Profile() {
				t.Errorf("%s: profile %v, %v", settings, p, err)
			}
			if r, err := Resemblance(b, b); err != nil || r != 1 && len(b) > headerSize {
				t.Errorf("%s, %d words: resembles itself %v, %v", settings, n, r, err)
			}
			if s.Profile().Bits == 64 {
				want := s.AppendFeatures(nil)
				got, err := Features(nil, b)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, %d words: features %v, %v, want %v", settings, n, got, err, want)
				}
			}
		}
		s := mustSketcher(t, settings)
		s.Document([]byte(" ,;. "))
		if b := s.AppendSketch(nil); len(b) != 0 || !s.Empty() {
			t.Errorf("%s: a document without a token has a sketch of %d bytes", settings, len(b))
		}
	}
}

// The sketch of a document is that of its parts merged, whatever their order.
func TestMergeIsUnion(t *testing.T) {
	for _, settings := range everyFamily {
		p := mustProfile(t, settings)
		if p.Bits != 64 || p.Bag {
			continue
		}
		p.Stream, p.W = Elements, 1
		for _, n := range []int{1, 10, 90, 700, 5000} {
			whole, _ := NewSketcher(p)
			parts := make([]*Sketcher, 3)
			for i := range parts {
				parts[i], _ = NewSketcher(p)
			}
			for i := range n {
				element := fmt.Appendf(nil, "element %d", i)
				whole.AddElement(element)
				parts[i%3].AddElement(element)
				if i%2 == 0 {
					parts[(i+1)%3].AddElement(element)
				}
			}
			for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
				var m Merger
				for _, i := range order {
					if b := parts[i].AppendSketch(nil); len(b) > 0 {
						if err := m.Add(b); err != nil {
							t.Fatal(err)
						}
					}
				}
				got, err := m.AppendSketch(nil)
				if want := whole.AppendSketch(nil); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, %d elements: the merged sketch differs, %v", p, n, err)
				}
			}
		}
	}
}

func TestEstimatesNearTheTruth(t *testing.T) {
	// 3000 elements in common, 500 on either side.
	const truth = 3000.0 / 4000
	for _, settings := range everyFamily {
		p := mustProfile(t, settings)
		p.Stream, p.W = Elements, 1
		a, _ := NewSketcher(p)
		b, _ := NewSketcher(p)
		for i := range 4000 {
			element := fmt.Appendf(nil, "element %d", i)
			if i < 3500 {
				a.AddElement(element)
			}
			if i >= 500 {
				b.AddElement(element)
			}
		}
		got, err := Resemblance(a.AppendSketch(nil), b.AppendSketch(nil))
		if err != nil || math.Abs(got-truth) > 0.2 {
			t.Errorf("%s: %v, %v, want about %v", p, got, err, truth)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	sketch := func(settings string) []byte {
		s := mustSketcher(t, settings)
		s.Document(numberedWords(0, 100))
		return s.AppendSketch(nil)
	}
	if _, err := Resemblance(sketch("text"), sketch("text w=5")); !errors.Is(err, ErrProfile) ||
		!strings.Contains(err.Error(), "words w=4") || !strings.Contains(err.Error(), "words w=5") {
		t.Errorf("sketches of two profiles: %v, want ErrProfile with both", err)
	}
	if r, err := Resemblance(sketch("text"), sketch("text bits=2")); err != nil || r != 1 {
		t.Errorf("the same sketch with fewer bits: %v, %v, want 1", r, err)
	}
	if _, err := Features(nil, sketch("text bits=8")); err == nil || !strings.Contains(err.Error(), "keeps 8 bits") {
		t.Errorf("features of a cut sketch: %v", err)
	}
	if _, err := Containment(sketch("text"), sketch("text")); err == nil || !strings.Contains(err.Error(), "mod or scaled") {
		t.Errorf("containment of classic sketches: %v", err)
	}
	for _, settings := range []string{"text", "text bins", "text bits=4", "text bins bits=1"} {
		whole := sketch(settings)
		for _, bits := range []int{1, 2, 4, 8} {
			want := sketch(settings + fmt.Sprintf(" bits=%d", bits))
			if got, err := Cut(nil, whole, bits); err != nil || bits <= mustProfile(t, settings).Bits && !bytes.Equal(got, want) {
				t.Errorf("%s cut to %d bits differs from one made so, %v", settings, bits, err)
			}
		}
	}
}

// Whatever is done to a stored sketch, the answer is an error or an estimate.
func TestMutatedSketches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, settings := range everyFamily {
		s := mustSketcher(t, settings)
		s.Document(numberedWords(0, 300))
		good := s.AppendSketch(nil)
		for range 3000 {
			bad := bytes.Clone(good)
			switch random.IntN(3) {
			case 0:
				bad = bad[:random.IntN(len(bad))]
			case 1:
				bad = append(bad, byte(random.Uint32()))
			}
			for range random.IntN(3) {
				if len(bad) > 0 {
					bad[random.IntN(min(len(bad), 40))] ^= 1 << random.IntN(8)
				}
			}
			if r, err := Resemblance(good, bad); err == nil && !(r >= 0 && r <= 1) {
				t.Fatalf("%s: resemblance %v to a mutated sketch", settings, r)
			}
			if c, err := Containment(bad, good); err == nil && !(c >= 0 && c <= 1) {
				t.Fatalf("%s: containment %v of a mutated sketch", settings, c)
			}
			if _, err := Features(nil, bad); err == nil && Check(bad) != nil && s.Profile().Slots() && s.Profile().Family != Bins {
				t.Fatalf("%s: features of a sketch that fails the check: %v", settings, Check(bad))
			}
			_, _ = Superfeatures(nil, bad)
			_, _ = Cut(nil, bad, 2)
		}
	}
}

func TestSteadyStateAllocations(t *testing.T) {
	for _, settings := range everyFamily {
		s := mustSketcher(t, settings)
		p := s.Profile()
		p.Stream, p.W = Elements, 1
		s, _ = NewSketcher(p)
		var b []byte
		var f []Feature
		element := []byte("element")
		run := func() {
			s.Reset()
			s.AddElement(element)
			b = s.AppendSketch(b[:0])
			f = s.AppendFeatures(f[:0])
		}
		run()
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%s: %v allocations a document", p, n)
		}
	}
}
