package sketch

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// A set in JSON has the sketch of its elements added one by one.
func TestSetsInJSON(t *testing.T) {
	for _, settings := range []string{"elements", "elements bag", "elements weighted", "elements scaled"} {
		whole, parts := mustSketcher(t, settings), mustSketcher(t, settings)
		compare := func(doc []byte) {
			t.Helper()
			if err := whole.DocumentUntil(doc, nil); err != nil {
				t.Fatalf("%s: %.200s: %v", settings, doc, err)
			}
			if got, want := whole.AppendSketch(nil), parts.AppendSketch(nil); !bytes.Equal(got, want) || whole.Shingles() != parts.Shingles() {
				t.Errorf("%s: %.200s: the sketch is not that of its elements; %d shingles, want %d", settings, doc, whole.Shingles(), parts.Shingles())
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 60 {
			elements, weights := []any{}, map[string]float64{}
			parts.Reset()
			for range n {
				e := strconv.Itoa(random.IntN(2 * n))
				if random.IntN(2) == 0 {
					elements = append(elements, json.Number(e))
				} else {
					elements = append(elements, e)
				}
				weights[e] = float64(random.IntN(5))
				parts.AddElement([]byte(e))
			}
			doc, err := json.Marshal(elements)
			if err != nil {
				t.Fatal(err)
			}
			compare(doc)
			parts.Reset()
			for e, weight := range weights {
				if err := parts.AddWeighted([]byte(e), weight); err != nil {
					t.Fatal(err)
				}
			}
			if doc, err = json.Marshal(weights); err != nil {
				t.Fatal(err)
			}
			compare(doc)
		}
	}
}

func TestNumbersOfSets(t *testing.T) {
	for number, want := range map[string]string{
		"0": "0", "-0": "0", "-0.0e9": "0", "1e2": "100", "100.0": "100", "1.50": "1.5", "-12.50": "-12.5", "1E-3": "0.001", "0.10e1": "1",
		"9223372036854775808": "9223372036854775808", "0.1e+1": "1", "1e999": "1" + strings.Repeat("0", 999), "120e-1": "12", "0e99999999999999999999": "0",
	} {
		if got, err := decimal(number); err != nil || got != want {
			t.Errorf("%s is the element %.60q, %v, want %.60q", number, got, err, want)
		}
	}
	for _, number := range []string{"1e1000", "1e-1001", "1e99999999999999999999", "1e-99999999999999999999"} {
		if got, err := decimal(number); err == nil {
			t.Errorf("%s is the element %.60q, want an error", number, got)
		}
	}
}

// What is no set is refused by a sentence, and leaves nothing.
func TestNoSets(t *testing.T) {
	s := mustSketcher(t, "elements")
	for doc, want := range map[string]string{
		"":                        "array or an object of JSON",
		"harbour":                 "array or an object of JSON",
		`["a", ]`:                 "array or an object of JSON",
		`["a"] ["b"]`:             "there is text after the value",
		`"a"`:                     "this is a string",
		`null`:                    "this is null",
		`12`:                      "this is a number",
		`["a", ["b"]]`:            "element 2 of the set is an array",
		`["a", {"b": 1}]`:         "element 2 of the set is an object",
		`[true]`:                  "element 1 of the set is true",
		`[1e5000]`:                "element 1 of the set is 1e5000, which has more than 1000 digits",
		`{"a": "3"}`:              `the weight of the element "a" is a string`,
		`{"a": -1}`:               `the weight of the element "a" is -1`,
		`{"a": 1e999}`:            `the weight of the element "a" is 1e999`,
		`{"a": 1, "b": 0.5}`:      `want a whole number; the family weighted takes fractions (the element "b")`,
		`{"a": 1000001}`:          "want at most 1000000",
		strings.Repeat("[", 1e5):  "array or an object of JSON",
		`["a"` + "\x00" + `]`:     "array or an object of JSON",
		"\xef\xbb\xbf" + `["a"]`:  "array or an object of JSON",
		`{"a": 1, "b": {"c": 1}}`: `the weight of the element "b" is an object`,
	} {
		err := s.DocumentUntil([]byte(doc), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %q in it", doc, err, want)
		}
		if !s.Empty() || len(s.AppendSketch(nil)) > 0 {
			t.Errorf("%.60q leaves a sketch", doc)
		}
		if _, _, err := ExactResemblance(s.Profile(), []byte(doc), []byte(doc)); err == nil && !strings.Contains(want, "weight") && !strings.Contains(want, "1000000") {
			t.Errorf("%.60q: ExactResemblance gives no error", doc)
		}
		if got := CheckDocument(mustProfile(t, "words"), []byte(doc)); got != nil {
			t.Errorf("%.60q: no text: %v", doc, got)
		}
	}
	stop := errors.New("stop")
	doc := "[1" + strings.Repeat(",1", 2*stopElements) + "]"
	if err := s.DocumentUntil([]byte(doc), func() error { return stop }); err != stop || !s.Empty() {
		t.Errorf("a long set that is stopped: %v, empty %v", err, s.Empty())
	}
}

// The exact ratios of sets are those of their weights, and estimates are near them.
func TestExactRatiosOfSets(t *testing.T) {
	for _, c := range []struct {
		settings, a, b string
		resemblance    float64
		containment    float64
	}{
		{"elements", `["a","b","c","a"]`, `["b","c","d"]`, 2. / 4, 2. / 3},
		{"elements bag", `["a","b","c","a"]`, `["b","c","d","a"]`, 3. / 5, 3. / 4},
		{"elements w=4", `[1,2,3]`, `["3","2.0",4.0]`, 1. / 5, 1. / 3},
		{"elements", `{"a":3,"b":1}`, `{"a":1,"b":1}`, 2. / 4, 2. / 4},
		{"elements", `{"a":3,"b":1}`, `["a","b"]`, 2. / 4, 2. / 4},
		{"elements weighted", `{"a":0.5,"b":1.5}`, `{"a":0.25,"c":3}`, .25 / 5, .125},
	} {
		p := mustProfile(t, c.settings)
		r, ok, err := ExactResemblance(p, []byte(c.a), []byte(c.b))
		if err != nil || !ok || math.Abs(r-c.resemblance) > 1e-15 {
			t.Errorf("%s: %s resembles %s %v, %v, %v, want %v", c.settings, c.a, c.b, r, ok, err, c.resemblance)
		}
		in, ok, err := ExactContainment(p, []byte(c.a), []byte(c.b))
		if err != nil || !ok || math.Abs(in-c.containment) > 1e-15 {
			t.Errorf("%s: %s is in %s %v, %v, %v, want %v", c.settings, c.a, c.b, in, ok, err, c.containment)
		}
		if p.Family == Weighted {
			continue
		}
		exact, err := NewSketcher(p.Exact())
		if err != nil {
			t.Fatal(err)
		}
		exact.Document([]byte(c.a))
		first := exact.AppendSketch(nil)
		exact.Document([]byte(c.b))
		if got, err := Resemblance(first, exact.AppendSketch(nil)); err != nil || math.Abs(got-c.resemblance) > 1e-15 {
			t.Errorf("%s: the sketches of all shingles of %s and %s resemble %v, %v, want %v", c.settings, c.a, c.b, got, err, c.resemblance)
		}
	}
	if _, ok, err := ExactResemblance(mustProfile(t, "elements"), []byte(`[]`), []byte(`["a"]`)); ok || err != nil {
		t.Errorf("the empty set resembles: %v, %v", ok, err)
	}
}

func FuzzSets(f *testing.F) {
	for _, doc := range []string{`["a", 1e2, null]`, `{"a": 1.5, "b": 2}`, `[[]]`, `{"a":1e400}`, `[-0.0e-1000]`, "[\"\xff\\ud800\"]"} {
		f.Add([]byte(doc))
	}
	s := mustSketcher(f, "elements weighted")
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := s.DocumentUntil(doc, nil)
		if (err == nil) != (CheckDocument(s.Profile(), doc) == nil) {
			t.Fatalf("the sketcher says %v, CheckDocument %v", err, CheckDocument(s.Profile(), doc))
		}
		if b := s.AppendSketch(nil); len(b) > 0 {
			if err := Check(b); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An element of weight 0 is not in a set.
func TestSetsLeaveOutWeightsOfZero(t *testing.T) {
	for _, settings := range []string{"elements", "elements bag", "elements weighted", "elements mod=1"} {
		s, err := NewSketcher(mustProfile(t, settings))
		if err != nil {
			t.Fatal(err)
		}
		of := func(doc string) []byte {
			if err := s.DocumentUntil([]byte(doc), nil); err != nil {
				t.Fatal(err)
			}
			return s.AppendSketch(nil)
		}
		want := of(`{"a": 2}`)
		shingles := s.Shingles()
		if got := of(`{"a": 2, "b": 0}`); !bytes.Equal(got, want) || len(got) == 0 || s.Shingles() != shingles {
			t.Errorf("%s: an element of weight 0 changes the sketch", settings)
		}
		if got := of(`{"b": 0}`); len(got) > 0 {
			t.Errorf("%s: a set of one element of weight 0 has a sketch", settings)
		}
	}
}
