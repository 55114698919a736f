package simindex

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

func mustVariant(t testing.TB, name string) Variant {
	t.Helper()
	v, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustSketcher(t testing.TB, settings string) *sketch.Sketcher {
	t.Helper()
	p, err := sketch.ParseProfile(settings)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func textOf(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// golden.tsv is what reference.py writes, which shares nothing with this package.
func TestReference(t *testing.T) {
	var complaint bytes.Buffer
	program := exec.Command("python3", "-B", "reference.py")
	program.Dir, program.Stderr = "testdata", &complaint
	got, err := program.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.Bytes())
	}
	if want := textOf(t, "golden.tsv"); !bytes.Equal(got, want) {
		t.Errorf("reference.py writes %d bytes that are not the %d of golden.tsv", len(got), len(want))
	}
}

func TestIndexGolden(t *testing.T) {
	golden := strings.TrimSpace(string(textOf(t, "golden.tsv")))
	tried := map[string]int{}
	for line := range strings.SplitSeq(golden, "\n") {
		fields := strings.Split(line, "\t")
		want, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := mustVariant(t, fields[1]).Index(textOf(t, fields[0]))
		if got != want || ok != (want != 0) {
			t.Errorf("%s of %s: got %d, %t, want %d", fields[1], fields[0], got, ok, want)
		}
		tried[fields[0]]++
	}
	for _, name := range []string{"gettysburg.txt", "mixed.txt"} {
		if tried[name] != 656 {
			t.Errorf("%s: %d combinations, want 656", name, tried[name])
		}
	}
}

func TestIndexOfGettysburgAddress(t *testing.T) {
	text := textOf(t, "gettysburg.txt")
	for name, want := range map[string]int64{
		"43B/4": 2884449050, "43B/8": 799674125, "43B/16": -2401276100, "43B/40": -1404834525,
		"3B/16": 5034058400, "3B/40": 1623599475, "21B/40": 21812876178, "1B/4": 2376321375,
		"5B/4/5": 727080885, "7B/4": 1252765382, "9B/4": 1379360234, "23B/4": 3056859075, "41B/4": 10527900230,
	} {
		if got, _ := mustVariant(t, name).Index(text); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}

func TestIndexByHand(t *testing.T) {
	for _, test := range []struct {
		variant, text string
		want          int64
	}{
		// Numbers are sums of what java.lang.String.hashCode gives.
		{"1A/4", "Four", 3149094}, // "four", the first k-gram of Figure 1
		{"1A/4", "Four s", 3149094 + 3422887},
		{"2A/4", "four", 3149094},
		{"21A/2", "four score", -461542632},
		{"21A/4", "four score", -461542632}, // fewer than k
		{"1C/40", "Aeiou, four", 3276},      // "fr"
		{"1D/40", "we are our own FOUR", 3276},
		{"21A/1", "don't", 3089297},                // "dont"
		{"21B/1", "don't four’s", 97622029},        // "fours"
		{"1A/2", "𐐀", 0xd801*31 + 0xdc28},          // two UTF-16 units, in lower case
		{"1A/2", "\U00010000", 0xd800*31 + 0xdc00}, // the smallest of two units, as a character and as a word
		{"21A/1", "\U00010000", 0xd800*31 + 0xdc00},
		{"21A/1", "\uffdc", 0xffdc}, // the last letter of one
		{"1A/4", "𝄞", 0},
		{"41A/1", "Pfister", 2432965},           // "P236"
		{"41A/1", "Robert Rupert", 2 * 2491676}, // "R163"
		{"41C/1", "Robert Rupert", 2491676},
		{"53A/1", "Robert Rupert", 2491676},
		{"33A/1", "four four FOUR", 3149094},
		{"41A/1", "7 8 9", 0}, // no letter, no code
		{"41A/1", "Привет", 0},
		{"1A/4", "", 0},
		{"43B/40", "the and of", 0},
		{"4A/1", "a", 0}, // 97 is not divisible by 25
		{"3A/1", "da", 100},
	} {
		got, ok := mustVariant(t, test.variant).Index([]byte(test.text))
		if got != test.want || ok != (test.want != 0) {
			t.Errorf("%s of %q: got %d, %t, want %d", test.variant, test.text, got, ok, test.want)
		}
	}
}

// rothZones are the collections of Roth 2011, Tables 6 to 8.
var rothZones = [][]string{
	{"Proverbs.txt", "Proverbs1-16.txt", "Proverbs1-24.txt", "Proverbs25-31.txt"},
	{"usConstitution(copy).txt", "usConstitution-BillofRights.txt", "usConstitution-noPreamble.txt", "usConstitution.txt"},
	{"usDOI-1.txt", "usDOI-Grievances.txt", "usDOI.txt"},
}

// Four of his tables come back on the public texts. The texts are not part of
// the repository; the golden values above stand in where they are missing.
func TestIndexReproducesRothTables(t *testing.T) {
	corpus := filepath.Join("..", "..", "shared", "corpus", "roth")
	if _, err := os.Stat(corpus); err != nil {
		return
	}
	for _, table := range []struct {
		number, zone  int
		variant, want string
	}{
		{11, 1, "43B/40/100", "1111 1111 1111 1111"},
		{14, 1, "47C/40/100", "1111 1101 1111 1111"},
		{18, 2, "43B/4/5", "101 010 101"},
		{21, 2, "3B/16/25", "101 010 101"},
	} {
		v := mustVariant(t, table.variant)
		var indexes []int64
		for _, name := range rothZones[table.zone] {
			text, err := os.ReadFile(filepath.Join(corpus, name))
			if err != nil {
				t.Fatal(err)
			}
			si, _ := v.Index(text)
			indexes = append(indexes, si)
		}
		var rows []string
		for _, a := range indexes {
			row := ""
			for _, b := range indexes {
				if Low(a, Fraction) < b && b < High(a, Fraction) {
					row += "1"
				} else {
					row += "0"
				}
			}
			rows = append(rows, row)
		}
		if got := strings.Join(rows, " "); got != table.want {
			t.Errorf("table %d, %s: got %s, want %s", table.number, v, got, table.want)
		}
	}
}

func TestVariants(t *testing.T) {
	all := Variants()
	if len(all) != 656 {
		t.Fatalf("%d variants, want 656", len(all))
	}
	seen := map[string]bool{}
	for _, v := range all {
		name := v.String()
		if seen[name] {
			t.Errorf("%s twice", name)
		}
		seen[name] = true
		if back, err := Parse(name); err != nil || back != v {
			t.Errorf("%s parses to %v, %v", name, back, err)
		}
	}
}

func TestParseVariant(t *testing.T) {
	for in, want := range map[string]string{
		"43B/40":       "43B/40",
		"43b/040":      "43B/40",
		"43B/40/100":   "43B/40",
		"45B/40/100":   "45B/40/100",
		"1D/1":         "1D/1",
		"54A/10000":    "54A/10000",
		"6C/3/1":       "6C/3/1",
		"33D/12345678": "",
		"43B":          "",
		"43B/":         "",
		"43/40":        "",
		"B/40":         "",
		"":             "",
		"43E/40":       "",
		"43B/0":        "",
		"43B/-4":       "",
		"43B/40/":      "",
		"43B/40/0":     "",
		"43B/4/5/6":    "",
		"45B/40":       "",
		"13B/40":       "",
		"15B/40":       "",
		"20B/40":       "",
		"0B/40":        "",
		"61B/40":       "",
		"256B/40":      "",
		"+3B/4":        "",
		"forest/3":     "forest/3",
		"FOREST/03":    "forest/3",
		"forest":       "",
		"forest/":      "",
		"forest/-1":    "",
		"forest/1/2":   "",
		"length":       "length",
		"Length":       "length",
		"length/":      "",
		"length/4":     "",
	} {
		v, err := Parse(in)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q parses to %s, want an error", in, v)
		case want == "" && !strings.Contains(err.Error(), strconv.Quote(in)):
			t.Errorf("%q: the error does not name it: %v", in, err)
		case want != "" && (err != nil || v.String() != want):
			t.Errorf("%q: got %s, %v, want %s", in, v, err, want)
		}
	}
}

func TestIndexForest(t *testing.T) {
	text := textOf(t, "gettysburg.txt")
	s := mustSketcher(t, "")
	s.Document(text)
	for i := range 10 {
		v := mustVariant(t, "forest/"+strconv.Itoa(i))
		want, _ := s.Forest(i)
		got, ok := v.Index(text)
		of, okOf := v.IndexOf(s, text)
		if !ok || got != want || !okOf || of != want || v.Check(s.Profile()) != nil {
			t.Errorf("%s: got %d, %t and %d, %t, want %d; %v", v, got, ok, of, okOf, want, v.Check(s.Profile()))
		}
		if _, ok := v.Index([]byte("...")); ok {
			t.Errorf("%s of no token is a number", v)
		}
	}
	beyond := mustVariant(t, "forest/21")
	if _, ok := beyond.Index(text); ok {
		t.Errorf("%s under 168 minima is a number", beyond)
	}
	if err := beyond.Check(s.Profile()); err == nil || !strings.Contains(err.Error(), "forest/20") {
		t.Errorf("%s under 168 minima: %v", beyond, err)
	}
	if got, _ := mustVariant(t, "43B/40").IndexOf(s, text); got != -1404834525 {
		t.Errorf("43B/40: got %d, want -1404834525", got)
	}
}

func TestIndexLength(t *testing.T) {
	v := mustVariant(t, "length")
	rose := "a rose is a rose is a rose"
	for _, test := range []struct {
		profile, text string
		want          int64
	}{
		{"words w=4", rose, 3}, // Broder 1997, section 2: five shingles, of which two come twice
		{"words w=4 bag", rose, 5},
		{"words w=4", rose + " " + rose, 6},
		{"words w=4 fast", rose, 3},
		{"words w=4 bits=8", rose, 3},
		{"words w=4 scaled", rose, 3},
		{"words w=4 mod=25", rose, 3},
		{"words w=1", rose, 3},
		{"words w=4", "a rose", 1},
		{"words w=4", "", 0},
	} {
		s := mustSketcher(t, test.profile)
		for range 2 {
			s.Document([]byte(test.text))
			got, ok := v.IndexOf(s, []byte(test.text))
			if got != test.want || ok != (test.want > 0) {
				t.Errorf("length of %q under %s: got %d, %t, want %d", test.text, test.profile, got, ok, test.want)
			}
		}
	}
	if got, ok := v.Index([]byte(rose)); got != 3 || !ok {
		t.Errorf("length of %q: got %d, %t, want 3", rose, got, ok)
	}
}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		si        int64
		fraction  float64
		low, high int64
	}{
		{1000, 0.3, 700, 1300},
		{-1000, 0.3, -1300, -700},
		{-1000, 0, -1000, -1000},
		{-2401276100, 0.25, -3001595125, -1800957075},
		{-6404095512, 0.3, -8325324166, -4482866858},
		{7, 0.3, 4, 10},
		{math.MaxInt64, 0.5, 1 << 62, math.MaxInt64},
		{math.MinInt64, 0.5, math.MinInt64, -1 << 62},
		{5, 1e308, math.MinInt64, math.MaxInt64},
		{0, math.Inf(1), 0, 0},
		{0, 0.3, 0, 0},
	} {
		if low, high := Low(test.si, test.fraction), High(test.si, test.fraction); low != test.low || high != test.high {
			t.Errorf("%d by %v: got %v to %v, want %v to %v", test.si, test.fraction, low, high, test.low, test.high)
		}
	}
	// The whole numbers between the bounds are those that Roth's own bounds, 0.7 and
	// 1.3 times the index, have between them.
	for si := int64(-40); si <= 40; si++ {
		for other := int64(-60); other <= 60; other++ {
			x, a, b := 10*other, 7*si, 13*si
			if want := min(a, b) < x && x < max(a, b); (Low(si, 0.3) < other && other < High(si, 0.3)) != want {
				t.Errorf("whether %d is in the range of %d: want %v", other, si, want)
			}
		}
	}
}

func TestWinnow(t *testing.T) {
	random := rand.New(rand.NewPCG(2003, 1))
	for range 2000 {
		prints := make([]int32, 1+random.IntN(60))
		for i := range prints {
			prints[i] = random.Int32N(8) - 4
		}
		w := 1 + random.IntN(20)
		var want []int32
		position := -1
		for end := min(w, len(prints)); end <= len(prints); end++ {
			minimum := max(0, end-w)
			for i := minimum; i < end; i++ {
				if prints[i] <= prints[minimum] {
					minimum = i
				}
			}
			if minimum != position {
				want = append(want, prints[minimum])
			}
			position = minimum
		}
		if got := winnow(nil, prints, w); !slices.Equal(got, want) {
			t.Fatalf("winnow(%v, %d): got %v, want %v", prints, w, got, want)
		}
	}
}

func TestLowest(t *testing.T) {
	random := rand.New(rand.NewPCG(2003, 2))
	for range 300 {
		prints := make([]int32, random.IntN(5000))
		for i := range prints {
			prints[i] = int32(random.Uint32()) >> random.IntN(30)
		}
		prints = append(prints, math.MinInt32, math.MaxInt32)
		sorted := slices.Sorted(slices.Values(prints))
		n := 1 + random.IntN(500)
		if got, want := lowest(nil, prints, n, 0), sorted[:min(n, len(sorted))]; !slices.Equal(got, want) {
			t.Fatalf("%d lowest of %d: got %v, want %v", n, len(prints), got, want)
		}
		got := lowest(nil, prints, n, -1)
		slices.Reverse(got)
		if want := sorted[max(0, len(sorted)-n):]; !slices.Equal(got, want) {
			t.Fatalf("%d highest of %d: got %v, want %v", n, len(prints), got, want)
		}
	}
}

// An index depends on the document alone, not on what was computed before or is
// being computed beside it.
func TestIndexConcurrently(t *testing.T) {
	texts := [][]byte{
		textOf(t, "gettysburg.txt"),
		textOf(t, "mixed.txt"),
		bytes.Repeat(textOf(t, "mixed.txt"), 100),
		[]byte("four score"),
		manyWords(40000), // outgrows what is kept between documents
	}
	variants := []string{"43B/40", "3D/4", "5B/4/5", "47C/40", "33A/4", "53D/4", "54A/8", "30B/4", "1A/40"}
	want := map[string]int64{}
	for i, text := range texts {
		for _, name := range variants {
			want[name+strconv.Itoa(i)], _ = mustVariant(t, name).Index(text)
		}
	}
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i, text := range texts {
				for _, name := range variants {
					v, _ := Parse(name)
					if got, _ := v.Index(text); got != want[name+strconv.Itoa(i)] {
						t.Errorf("%s of text %d: got %d, want %d", name, i, got, want[name+strconv.Itoa(i)])
					}
				}
			}
		}()
	}
	group.Wait()
}

func manyWords(n int) []byte {
	var text []byte
	for i := range n {
		text = strconv.AppendInt(append(text, 'w'), int64(i), 36)
		text = append(text, ' ')
	}
	return text
}

func FuzzIndex(f *testing.F) {
	f.Add("43B/40", []byte("Four score and seven years ago"))
	f.Add("1C/4", []byte("it’s \xff\xc3 a 𝄞'𝄞"))
	f.Add("46D/2/3", []byte("don't 'quote' me''"))
	f.Add("14A/1", []byte("aaaaaaaa"))
	f.Fuzz(func(t *testing.T, name string, doc []byte) {
		v, err := Parse(name)
		if err != nil {
			return
		}
		if back, err := Parse(v.String()); err != nil || back != v {
			t.Fatalf("%q: %s parses to %v, %v", name, v, back, err)
		}
		before := bytes.Clone(doc)
		a, ok := v.Index(doc)
		if ok != (a != 0) || !bytes.Equal(doc, before) {
			t.Fatalf("%s: %d, %t, document changed: %t", v, a, ok, !bytes.Equal(doc, before))
		}
		// White space around a document changes nothing.
		spaced := append(append([]byte(" \n"), doc...), " \t"...)
		if b, _ := v.Index(spaced); a != b {
			t.Fatalf("%s: %d, and %d with white space around", v, a, b)
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	text := bytes.Repeat(textOf(b, "gettysburg.txt"), 2)[:2600]
	for _, name := range []string{"43B/40", "3B/16", "21B/40", "47C/40", "45B/40/100", "53B/4", "54B/4", "2A/4"} {
		b.Run("variant="+strings.ReplaceAll(name, "/", "-"), func(b *testing.B) {
			v := mustVariant(b, name)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				v.Index(text)
			}
		})
	}
}
