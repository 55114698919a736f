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
	"words", "web", "bing", "words fast", "words bins t=128", "words lean", "words lean-zeros", "words lean-biased", "words weighted", "words bottom=100", "words bottom=100 mod=4",
	"words mod=8", "words scaled", "words bits=8", "words fast bits=2", "words bins t=128 bits=2", "words bits=1",
	"words bag", "chars", "words t=100 bits=4",
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
		{"", "words w=2 set fast t=168 k=23 s=4 r=2"},
		{"prose", "words w=2 set fast t=168 k=23 s=4 r=2"},
		{"words", "words w=2 set fast t=168 k=23 s=4 r=2"},
		{"web", "html w=6 set fast t=84 k=6 s=14 r=2"},
		{"bing", "words w=4 set fast t=30 k=6 s=5 r=4"},
		{"code", "code w=2 set fast t=168 k=34 s=4 r=2"},
		{"chars", "chars w=3 set fast t=168 k=23 s=4 r=2"},
		{"lines", "lines w=1 set fast t=168 k=23 s=4 r=2"},
		{"words w=6 bag", "words w=6 bag fast t=168 k=23 s=4 r=2"},
		{"words case stop bits=8", "words case stop w=2 set fast t=168 k=23 s=4 r=2 bits=8"},
		{"code fold", "code fold w=2 set fast t=168 k=34 s=4 r=2"},
		{"code case", "code w=2 set fast t=168 k=34 s=4 r=2"},
		{"short bits=4", "chars w=3 set fast t=168 k=23 s=4 r=2 bits=4"},
		{"words bottom=100 mod=25", "words w=2 set bottom=100 mod=25 t=168 k=23 s=4 r=2"},
		{"words mod=25", "words w=2 set mod=25 t=168 k=23 s=4 r=2"},
		{"words mod=25 classic", "words w=2 set classic t=168 k=23 s=4 r=2"},
		{"words k=20 s=10", "words w=2 set fast t=200 k=20 s=10 r=2"},
		{"PROSE W=3", "words w=3 set fast t=168 k=23 s=4 r=2"},
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
	want := map[string]float64{"prose": 0.55, "paragraphs": 0.55, "short": 0.55, "names": 0.51, "unsegmented": 0.45, "sequences": 0.45, "pages": 0.6, "code": 0.5, "logs": 0.6, "records": 0.58, "web": 0.91, "bing": 0.79}
	for _, preset := range Presets() {
		p := mustProfile(t, preset.Settings)
		if preset.AtLeast != want[preset.Name] {
			t.Errorf("%s: at least %v, want %v", preset.Name, preset.AtLeast, want[preset.Name])
		}
		delete(want, preset.Name)
		for _, bits := range []int{1, 8, 64} {
			if p.Bits = bits; p.AtLeast() != preset.AtLeast {
				t.Errorf("%s in %d bits: at least %v, want %v", preset.Name, bits, p.AtLeast(), preset.AtLeast)
			}
		}
		if preset.Background == 0 {
			continue
		}
		choice, err := ThresholdFilter(preset.AtLeast, FilterRecall, preset.Background)
		if err != nil || choice.K != p.K || choice.S != p.S {
			t.Errorf("%s at %v has k=%d s=%d; %+v, %v", preset.Name, preset.AtLeast, p.K, p.S, choice, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no presets %v", want)
	}
}

func TestStoredBits(t *testing.T) {
	for _, c := range []struct {
		settings string
		want     int
	}{{"prose", 4}, {"bing", 8}, {"words t=128", 8}, {"words t=129", 4}, {"short", 4}} {
		if got := mustProfile(t, c.settings).StoredBits(); got != c.want {
			t.Errorf("%s: %d bits, want %d", c.settings, got, c.want)
		}
	}
}

func TestProfileErrors(t *testing.T) {
	for settings, want := range map[string]string{
		"proses":              `"proses" is not a setting or a preset; did you mean prose?`,
		"porse w=3":           `"porse" is not a setting or a preset; did you mean prose?`,
		"wob":                 `"wob" is not a setting or a preset; did you mean web?`,
		"word w=3":            `"word" is not a setting or a preset; did you mean words?`,
		"words fsat":          `"fsat" is not a setting or a preset; did you mean fast?`,
		"prose bit=8":         `"bit=8" is not a setting or a preset; did you mean bits?`,
		"words w":             `"w": want w=NUMBER`,
		"words w=x":           `"w=x": want w=NUMBER`,
		"words w=0":           "w=0, want 1 to 1024",
		"words r=24":          "r=24, want 1 to 23",
		"words t=40":          "t=40, want at least k·s = 92",
		"words bits=3":        "bits=3, want 1, 2, 4, 8 or 64",
		"words mod=8 bits=8":  "the family mod has no slots to cut",
		"words bottom=100000": "bottom=100000, want 1 to 65535",
		"words mod=0":         "mod=0, want 1 to 2147483647",
		"words k=65":          "k=65, want 1 to 64",
		"w=4 prose":           `"prose" is not a setting or a preset`,
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
	if _, err := Resemblance(sketch("words"), sketch("words w=5")); !errors.Is(err, ErrProfile) ||
		!strings.Contains(err.Error(), "words w=2") || !strings.Contains(err.Error(), "words w=5") {
		t.Errorf("sketches of two profiles: %v, want ErrProfile with both", err)
	}
	if r, err := Resemblance(sketch("words"), sketch("words bits=2")); err != nil || r != 1 {
		t.Errorf("the same sketch with fewer bits: %v, %v, want 1", r, err)
	}
	if _, err := Features(nil, sketch("words bits=8")); err == nil || !strings.Contains(err.Error(), "keeps 8 bits") {
		t.Errorf("features of a cut sketch: %v", err)
	}
	if _, _, err := Containment(sketch("words"), sketch("words")); err == nil || !strings.Contains(err.Error(), "mod or scaled") {
		t.Errorf("containment of classic sketches: %v", err)
	}
	for _, settings := range []string{"words", "words bins", "words bits=4", "words bins bits=1"} {
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
			if c, _, err := Containment(bad, good); err == nil && !(c >= 0 && c <= 1) {
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
